import type { ChatRequest } from "../../formats/schemas.ts"
import type { Catalogue } from "../../models/catalogue.ts"
import type { Caller } from "../../policy/call-policy.ts"
import type { Provider } from "../../providers/provider.ts"
import { plan } from "../../routing/plan.ts"
import type { Target } from "../../routing/target.ts"
import type { Deps, RequestMeta } from "../deps.ts"
import { needsPreparation } from "../prepare/needs.ts"

/** By model: its only target, or null if the general plan decides. */
type Targets = {
  catalogue: Catalogue
  providers: ReadonlyMap<string, Provider>
  byModel: Map<string, Target | null>
}

/** A `Caller` object is cached for seconds only, so its targets match its current policy. */
const known = new WeakMap<Caller, Targets>()

/**
 * Result of steps 1 to 3 for a plain chat call, planned once per caller and model: the target of a model with one
 * endpoint, for a caller without rules about models. Undefined if the steps must run.
 */
export function plainTargetOf(
  { model }: Pick<ChatRequest, "model">,
  caller: Caller,
  meta: Pick<RequestMeta, "region">,
  { catalogue, providers }: Pick<Deps, "catalogue" | "providers">,
): Target | undefined {
  if (model === undefined || meta.region !== null) return undefined
  let targets = known.get(caller)
  if (targets?.catalogue !== catalogue || targets.providers !== providers) {
    targets = { catalogue, providers, byModel: new Map() }
    known.set(caller, targets)
  }
  let target = targets.byModel.get(model)
  if (target === undefined) {
    // Only names of existing models, which bounds the map.
    if (!catalogue.models.has(model)) return undefined
    target = hasRules(caller) ? null : planPlain(model, targets)
    targets.byModel.set(model, target)
  }
  return target ?? undefined
}

/** Whether settings outside the request affect the choice of models. */
function hasRules({ guardrails, byok, kind, defaults }: Caller): boolean {
  return guardrails !== null || byok.length > 0 || kind === "free_tier" || defaults.aliases !== null
}

function planPlain(model: string, deps: Omit<Targets, "byModel">): Target | null {
  if (model.includes("@preset/") || needsPreparation({ model }, { ...deps, byok: undefined }, () => false)) return null
  const targets = plannedTargets(model, deps)
  const [target] = targets
  return target && targets.length === 1 && target.provider.format === "openai" ? target : null
}

/** Empty if the plan rejects the model: the general path then returns the error. */
function plannedTargets(model: string, deps: Omit<Targets, "byModel">): readonly Target[] {
  try {
    return plan({ model }, { ...deps, output: "text", isCooling: () => false, chance: () => 1 })
  } catch {
    return []
  }
}
