import { GatewayError } from "../../errors/errors.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import type { HeldCall, PreparedCall } from "../call.ts"
import type { Deps } from "../deps.ts"
import { placeHold } from "../hold.ts"
import { requestedModelOf } from "../draft.ts"
import { planTargets } from "../plan.ts"

/** Reasons of rejections that a cheaper model may avoid. */
const MONEY_REASONS: readonly (string | undefined)[] = [
  "key_limit",
  "schedule_limit",
  "workspace_budget",
  "guardrail_budget",
  "provider_budget",
  "insufficient_credits",
]

/**
 * Repeats steps 3 and 4 for a call that a money limit rejected, with the over-budget models of the key, or those of
 * the workspace if the key has none. Fails with the first rejection if none of them can be held.
 */
export async function holdCheaper(prepared: PreparedCall, rejection: unknown, deps: Deps): Promise<HeldCall> {
  const models = deps.deferral ? [] : modelsFor(prepared)
  if (
    !(rejection instanceof GatewayError) ||
    !MONEY_REASONS.includes(rejection.metadata?.reason) ||
    models.length === 0
  ) {
    throw rejection
  }
  try {
    return await placeHold(planTargets(withModels(prepared, models, rejection), deps), deps)
  } catch (thrown) {
    throw thrown instanceof GatewayError ? rejection : thrown
  }
}

function modelsFor({ request, caller }: PreparedCall): readonly string[] {
  return request.output === "text" ? (caller.overBudgetModels ?? caller.defaults.overBudgetModels) : []
}

function withModels(prepared: PreparedCall, models: readonly string[], rejection: GatewayError): PreparedCall {
  const { request } = prepared
  const stage: PipelineStage = {
    type: "plugin",
    name: "over-budget",
    summary: `${rejection.metadata?.reason ?? ""}: ${models.join(", ")} instead`,
    data: { reason: rejection.metadata?.reason, models },
  }
  const before = request.preparation ?? { requestedModel: requestedModelOf(request, prepared.meta), stages: [] }
  const [model, ...others] = models
  const { aliases } = prepared.meta
  return {
    ...prepared,
    // Permission for an alias does not extend to the models of this list.
    ...(aliases && { meta: { ...prepared.meta, aliases: { ...aliases, coverAllModels: false } } }),
    request: {
      ...request,
      routing: { ...request.routing, model, models: others },
      preparation: { ...before, stages: [...before.stages, stage] },
    },
  }
}
