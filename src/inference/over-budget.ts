import { GatewayError } from "../errors/errors.ts"
import type { PipelineStage } from "../formats/pipeline-stage.ts"
import type { HeldCall, PreparedCall } from "./call.ts"
import type { Deps } from "./deps.ts"
import { placeHold } from "./hold.ts"
import { requestedModelOf } from "./draft.ts"
import { planTargets } from "./plan.ts"

/** Reasons of refusals that a cheaper model may avoid. */
const MONEY_REASONS: readonly (string | undefined)[] = [
  "key_limit",
  "schedule_limit",
  "workspace_budget",
  "guardrail_budget",
  "provider_budget",
  "insufficient_credits",
]

/**
 * Steps 3 and 4 once more, for a call that a limit of money refused: with the models that its key, or else its
 * workspace, names for this. Fails with the first refusal where none of them can be held.
 */
export async function holdCheaper(prepared: PreparedCall, refusal: unknown, deps: Deps): Promise<HeldCall> {
  const models = deps.deferral ? [] : modelsFor(prepared)
  if (!(refusal instanceof GatewayError) || !MONEY_REASONS.includes(refusal.metadata?.reason) || models.length === 0) {
    throw refusal
  }
  try {
    return await placeHold(planTargets(withModels(prepared, models, refusal), deps), deps)
  } catch (thrown) {
    throw thrown instanceof GatewayError ? refusal : thrown
  }
}

function modelsFor({ request, caller }: PreparedCall): readonly string[] {
  return request.output === "text" ? (caller.overBudgetModels ?? caller.defaults.overBudgetModels) : []
}

function withModels(prepared: PreparedCall, models: readonly string[], refusal: GatewayError): PreparedCall {
  const { request } = prepared
  const stage: PipelineStage = {
    type: "plugin",
    name: "over-budget",
    summary: `${refusal.metadata?.reason ?? ""}: ${models.join(", ")} instead`,
    data: { reason: refusal.metadata?.reason, models },
  }
  const before = request.preparation ?? { requestedModel: requestedModelOf(request, prepared.meta), stages: [] }
  const [model, ...others] = models
  const { aliases } = prepared.meta
  return {
    ...prepared,
    // What allows an alias does not allow the models of this list.
    ...(aliases && { meta: { ...prepared.meta, aliases: { ...aliases, standForAll: false } } }),
    request: {
      ...request,
      routing: { ...request.routing, model, models: others },
      preparation: { ...before, stages: [...before.stages, stage] },
    },
  }
}
