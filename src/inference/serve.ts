import type { Caller } from "../policy/call-policy.ts"
import { completionCap, requireTier, wantedFor } from "./cost-bound.ts"
import { GatewayError } from "../errors/errors.ts"
import type { GenerationDraft } from "../ledger/generation.ts"
import { logError } from "../support/log.ts"
import { unroutable } from "../routing/metadata.ts"
import { dispatch, type DispatchResult } from "./dispatch.ts"
import { logFieldsOf, newCall } from "./call.ts"
import { grantFor, hold, holdFor, newDraft } from "./hold.ts"
import type { InferenceRequest } from "./inference-request.ts"
import { seededRandom, plan, type PlanInput } from "../routing/plan.ts"
import { type Target, targetKey } from "../routing/target.ts"
import { streamResponse } from "./relay/stream-response.ts"
import { jsonResponse } from "./relay/json-response.ts"
import type { RequestMeta, Deps } from "./deps.ts"

/**
 * One inference call, from request to receipt: plan → hold → ask → pass on → settle. Read this file first.
 *
 * Before `ask` a hold reserves the most that the call can cost; after it, whatever happens, the hold is settled once:
 * here, or by the ledger's alarm if this isolate dies.
 */
export async function callUpstream(
  normalized: InferenceRequest,
  meta: RequestMeta,
  caller: Caller,
  deps: Deps,
): Promise<Response> {
  const { bounds, upstream: question, user } = normalized
  const open = requireTier(caller, supportedTargets(planTargets(normalized, meta, caller, deps), question), bounds)

  const pseudonym = user === null ? undefined : await deps.pseudonymOf(`${caller.organizationId}:${user}`)
  const plain = newDraft(draftFieldsOf(normalized, meta), meta, caller)
  let estimateNano = 0
  const { heldNano, targets, isByok } = await holdFor(open, async (covered, isByok) => {
    const { estimateNano: estimated, ...wanted } = wantedFor(covered, bounds, (target) =>
      deps.health.expectedCompletion(targetKey(target)),
    )
    estimateNano = estimated
    const isFree = covered[0] !== undefined && !covered[0].byok && isFreeVariant(covered[0], plain.requestedModel)
    if (isFree) await deps.throttleFreeModels()
    const freeLimits = isFree ? deps.freeLimits() : undefined
    return hold(draftFor(plain, isByok), wanted, estimateNano, caller, deps, freeLimits)
  })
  const draft = draftFor(plain, isByok)

  const chargeLimitOf = (target: Target) => grantFor(target, heldNano, caller)
  const call = newCall({ request: normalized, meta, draft, chargeLimitOf, estimateNano, targets, deps })
  const capFor = (target: Target) => completionCap(target, bounds, chargeLimitOf(target))
  const outcome = dispatch(
    { question, targets, pseudonym, capFor },
    {
      send: deps.send,
      openKey: deps.openKey,
      health: deps.health,
      firstFrameMs: deps.timers.firstFrameMs,
      now: Date.now,
      signal: call.dispatchAbort.signal,
    },
  ).catch((cause): DispatchResult => {
    logError("asking failed", logFieldsOf(draft), cause)
    return { ok: false, rejections: [], attempts: [], wasReached: false }
  })
  return question.streamed ? streamResponse(call, outcome) : jsonResponse(call, outcome)
}

function draftFor(draft: GenerationDraft, isByok: boolean): GenerationDraft {
  return isByok ? { ...draft, isByok } : draft
}

/** Where the call may go. A caller who wants to know how it was routed is told also that it could not be. */
function planTargets(normalized: InferenceRequest, meta: RequestMeta, caller: Caller, deps: Deps): Target[] {
  try {
    return plan(normalized.routing, planInputOf(normalized, meta, caller, deps))
  } catch (refusal) {
    if (!(refusal instanceof GatewayError) || !meta.wantsMetadata) throw refusal
    const { code, message, metadata } = refusal
    const stages = [...(normalized.preparation?.stages ?? []), ...(normalized.screening?.stages() ?? [])]
    const beside = unroutable(draftFieldsOf(normalized, meta).requestedModel, meta.region, message, stages)
    throw new GatewayError(code, message, { ...(metadata && { metadata }), extraFields: beside })
  }
}

/** A model that is free by its name; that of a provider which asks nothing is the operator's own affair. */
function isFreeVariant({ model }: Target, requested: string): boolean {
  return model.id.endsWith(":free") || requested.endsWith(":free")
}

/** A session, or else a conversation that must stay together, goes to one provider; all others are spread. */
function planInputOf(
  { output, sessionId, conversation, signatures }: InferenceRequest,
  meta: RequestMeta,
  { defaults, guardrails }: Caller,
  deps: Deps,
): PlanInput {
  const { catalogue, providers, byok: own, health } = deps
  const belongsTo = sessionId ?? meta.sessionId ?? conversation
  const now = Date.now()
  return {
    output,
    catalogue,
    providers,
    byok: own,
    region: meta.region,
    defaultSort: defaults.providerSort ?? undefined,
    guardrails: guardrails?.routeFilters() ?? [],
    isCooling: (target) => health.isCooling(target, now),
    statisticsOf: (target) => health.statisticsOf(target, now),
    pinnedTo: signatures.map((signature) => health.signerOf(signature)).find((signer) => signer !== undefined),
    chance: belongsTo === null ? () => 1 - Math.random() : seededRandom(belongsTo),
  }
}

/** Without the targets that cannot be asked this. If none is left, the first of them says why. */
function supportedTargets(
  targets: readonly Target[],
  { unsupportedReason: refusalOf }: InferenceRequest["upstream"],
): readonly Target[] {
  if (!refusalOf) return targets
  const refusals = targets.map(({ provider }) => refusalOf(provider))
  const left = targets.filter((_, at) => refusals[at] === undefined)
  if (left.length === 0 && refusals[0]) throw refusals[0]
  return left
}

function draftFieldsOf(normalized: InferenceRequest, meta: RequestMeta) {
  const {
    routing,
    bounds,
    preparation,
    apiType,
    upstream: question,
    sessionId,
    user,
    trace = null,
    messages,
  } = normalized
  return {
    apiType,
    ...(preparation?.strategy === "auto" && { router: preparation.requestedModel }),
    requestedModel: preparation?.requestedModel ?? routing.model ?? routing.models?.[0] ?? "",
    streamed: question.streamed,
    sessionId: sessionId ?? meta.sessionId,
    promptEstimate: bounds.promptEstimate,
    user,
    trace,
    hasMessages: messages !== undefined,
  }
}
