import { GatewayError, type GuardrailRule } from "../../errors/errors.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import type { GuardrailFinding } from "../../ledger/generation.ts"
import { listOf } from "../../support/text/json.ts"
import { guardrailStages } from "../../guardrails/stages.ts"
import { unroutableFields } from "../../routing/metadata.ts"
import type { Target } from "../../routing/target.ts"
import type { PlannableCall } from "../call.ts"
import { requestedModelOf } from "../draft.ts"

type StagedCall = {
  request: Pick<PlannableCall["request"], "preparation" | "screening">
  caller: PlannableCall["caller"]
}

/** Pipeline stages of a call for its routing metadata. `rejectedBy`: guardrail rules that rejected it. */
export function stagesOf({ request, caller }: StagedCall, rejectedBy: readonly GuardrailRule[] = []): PipelineStage[] {
  const { preparation, screening } = request
  return [...(preparation?.stages ?? []), ...guardrailStages(caller.guardrails, screening?.stages() ?? [], rejectedBy)]
}

/** Adds routing metadata to a rejection before dispatch, if the client requested it. */
export function withRoutingMetadata(rejection: unknown, prepared: PlannableCall, targets: readonly Target[]): unknown {
  const { request, meta } = prepared
  if (!(rejection instanceof GatewayError)) return rejection
  const stages = stagesOf(prepared, rejection.rejectedBy)
  const extraFields =
    meta.wantsMetadata && !rejection.extraFields
      ? unroutableFields(requestedModelOf(request, meta), meta.region, {
          summary: rejection.message,
          pipeline: stages,
          targets,
        })
      : undefined
  return withStages(rejection, stages, extraFields)
}

const stagesByError = new WeakMap<GatewayError, readonly PipelineStage[]>()

/** Adds the stages to a rejection, for the record of the call, and extra fields to its body. */
export function withStages(
  rejection: GatewayError,
  stages: readonly PipelineStage[],
  extraFields: Record<string, unknown> | undefined,
): GatewayError {
  const { code, message, metadata, headers, rejectedBy } = rejection
  const error = extraFields
    ? new GatewayError(code, message, {
        ...(metadata && { metadata }),
        ...(headers && { headers }),
        rejectedBy,
        extraFields,
      })
    : rejection
  stagesByError.set(error, stages)
  return error
}

/** Guardrail findings of a rejected call. */
export function findingsOf(rejection: GatewayError): GuardrailFinding[] {
  return toFindings(stagesByError.get(rejection) ?? [])
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
