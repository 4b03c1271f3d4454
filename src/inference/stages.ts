import { GatewayError, type GuardrailRule } from "../errors/errors.ts"
import type { PipelineStage } from "../formats/pipeline-stage.ts"
import type { GuardrailFinding } from "../ledger/generation.ts"
import { listOf } from "../support/json.ts"
import { guardrailStages } from "../guardrails/stages.ts"
import { unroutable } from "../routing/metadata.ts"
import type { Target } from "../routing/target.ts"
import type { PlannableCall } from "./call.ts"
import { requestedModelOf } from "./draft.ts"

type StagedCall = {
  request: Pick<PlannableCall["request"], "preparation" | "screening">
  caller: PlannableCall["caller"]
}

/** Pipeline stages of a call for its routing metadata. `refusedBy`: guardrail rules that rejected it. */
export function stagesOf({ request, caller }: StagedCall, refusedBy: readonly GuardrailRule[] = []): PipelineStage[] {
  const { preparation, screening } = request
  return [...(preparation?.stages ?? []), ...guardrailStages(caller.guardrails, screening?.stages() ?? [], refusedBy)]
}

/** Adds routing metadata to a rejection before dispatch, if the client requested it. */
export function withRoutingMetadata(refusal: unknown, prepared: PlannableCall, targets: readonly Target[]): unknown {
  const { request, meta } = prepared
  if (!(refusal instanceof GatewayError)) return refusal
  const stages = stagesOf(prepared, refusal.refusedBy)
  const extraFields =
    meta.wantsMetadata && !refusal.extraFields
      ? unroutable(requestedModelOf(request, meta), meta.region, {
          summary: refusal.message,
          pipeline: stages,
          targets,
        })
      : undefined
  return withStages(refusal, stages, extraFields)
}

const stagesByRefusal = new WeakMap<GatewayError, readonly PipelineStage[]>()

/** Adds the stages to a rejection, for the record of the call, and extra fields to its body. */
export function withStages(
  refusal: GatewayError,
  stages: readonly PipelineStage[],
  extraFields: Record<string, unknown> | undefined,
): GatewayError {
  const { code, message, metadata, headers, refusedBy } = refusal
  const error = extraFields
    ? new GatewayError(code, message, {
        ...(metadata && { metadata }),
        ...(headers && { headers }),
        refusedBy,
        extraFields,
      })
    : refusal
  stagesByRefusal.set(error, stages)
  return error
}

/** Guardrail findings of a rejected call. */
export function findingsOf(refusal: GatewayError): GuardrailFinding[] {
  return toFindings(stagesByRefusal.get(refusal) ?? [])
}

/** Guardrail findings of a call, for its record. */
export function toFindings(stages: readonly PipelineStage[]): GuardrailFinding[] {
  return stages.flatMap(toFinding)
}

function toFinding({
  name,
  guardrail_id: id = "",
  guardrail_scope: scope = "",
  data,
}: PipelineStage): GuardrailFinding[] {
  if (data?.["detected"] !== true) return []
  const patterns = listOf(data["patterns"]).map(String)
  return [{ id, name, scope, action: String(data["action"]), patterns }]
}
