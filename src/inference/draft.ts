import type { GenerationDraft } from "../ledger/generation.ts"
import { exportContextOf, type ExportContext } from "../observability/context.ts"
import { type Caller, otherKeysOf } from "../policy/call-policy.ts"
import { newGenerationId } from "../support/ids.ts"
import type { RequestMeta } from "./deps.ts"
import type { InferenceRequest } from "./inference-request.ts"

export type DraftFields = Pick<
  GenerationDraft,
  "apiType" | "requestedModel" | "streamed" | "sessionId" | "promptEstimate" | "router"
> &
  Partial<Omit<ExportContext, "parentId" | "toolRuns">>

/** The first id that is not empty: clients send an empty id where a variable of theirs is not set. */
export function sessionIdOf(...ids: readonly (string | null | undefined)[]): string | null {
  return ids.find((id) => id != null && id !== "") ?? null
}

/** The end user that a request names. */
export function endUserOf(request: {
  user?: string | null | undefined
  safety_identifier?: string | null | undefined
}): string | null {
  return request.user ?? request.safety_identifier ?? null
}

/** Fields of the generation that are known before the call is sent. */
export function newDraft(fields: DraftFields, meta: RequestMeta, caller: Caller): GenerationDraft {
  const { user = null, trace: traceFields, hasMessages = false, exported, isToolRun = false, ...rest } = fields
  const { turn } = caller
  const trace = traceFields ?? (turn && { trace_id: turn.traceId, parent_span_id: turn.spanId })
  const facts = { ...rest, sessionId: sessionIdOf(rest.sessionId, turn?.sessionId) }
  const id = meta.generationId ?? newGenerationId()
  const { keyHash } = caller
  const otherKeys = otherKeysOf(caller)
  const call = { id, keyHash, sessionId: facts.sessionId, region: meta.region }
  const externalUser = user ?? caller.externalUser
  const context = { user, trace, hasMessages, exported, isToolRun, ...meta.round }
  const broadcast = caller.destinations.length > 0 ? exportContextOf(caller.destinations, call, context) : undefined
  return {
    id,
    organizationId: caller.organizationId,
    workspaceId: caller.workspaceId,
    keyHash,
    createdAt: Date.now(),
    requestId: meta.requestId,
    appUrl: meta.appUrl,
    appTitle: meta.appTitle,
    userAgent: meta.userAgent,
    ...facts,
    ...(broadcast && { broadcast }),
    ...(meta.presetId !== undefined && { presetId: meta.presetId }),
    ...(externalUser !== null && { externalUser }),
    ...(otherKeys.length > 0 && { ancestorKeys: otherKeys }),
  }
}

/** The model as the client named it. */
export function requestedModelOf(
  { preparation, routing }: Pick<InferenceRequest, "preparation" | "routing">,
  { alias }: RequestMeta,
): string {
  return alias ?? preparation?.requestedModel ?? routing.model ?? routing.models?.[0] ?? ""
}
