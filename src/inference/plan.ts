import { GatewayError } from "../errors/errors.ts"
import { plan, type PlanInput, seededRandom } from "../routing/plan.ts"
import type { Target } from "../routing/target.ts"
import type { PlannableCall } from "./call.ts"
import { requireTier } from "./accounting/cost-bound.ts"
import type { Deps } from "./deps.ts"
import { sessionIdOf } from "./draft.ts"
import type { PlannableRequest } from "./inference-request.ts"
import { withRoutingMetadata } from "./screening/stages.ts"

type PlanDeps = Pick<Deps, "catalogue" | "providers" | "byok" | "health" | "sharesProviderStorage" | "unpricedTools">

/** Step 3: the targets of a call in failover order. Fails if no endpoint can serve the call. */
export function planTargets<Call extends PlannableCall>(prepared: Call, deps: PlanDeps): Call & { targets: Target[] } {
  const { request, caller } = prepared
  const owned = storageTargets(routableTargets(prepared, deps), request, deps)
  const allowed = pricedTargets(owned, request, deps)
  const targets = sufficientContextFirst(supportedTargets(allowed, request), request)
  return { ...prepared, targets: requireTier(caller, targets, request.bounds) }
}

function routableTargets(prepared: PlannableCall, deps: PlanDeps): Target[] {
  try {
    return plan(prepared.request.routing, planInputOf(prepared, deps))
  } catch (thrown) {
    throw withRoutingMetadata(thrown, prepared, [])
  }
}

/** Calls of one session or conversation of a key go to one provider, to use its prompt cache. */
function planInputOf({ request, meta, caller }: PlannableCall, deps: PlanDeps): PlanInput {
  const { output, sessionId, conversation, signatures } = request
  const { catalogue, providers, byok, health } = deps
  const session = sessionIdOf(sessionId, meta.sessionId)
  let chance: PlanInput["chance"] | undefined
  const newChance = () => {
    if (session !== null) return seededRandom(session)
    if (!conversation) return () => 1 - Math.random()
    // Equal requests of all keys go to the provider whose response is stored.
    return seededRandom(meta.cache ? conversation() : `${caller.keyHash} ${conversation()}`)
  }
  const now = Date.now()
  return {
    output,
    catalogue,
    providers,
    byok,
    region: meta.region,
    aliases: meta.aliases,
    defaultSort: caller.defaults.providerSort ?? undefined,
    guardrails: caller.guardrails?.routeFilters() ?? [],
    isCooling: (target) => health.isCooling(target, now),
    statisticsOf: (target) => health.statisticsOf(target, now),
    pinnedTo: signatures.map((signature) => health.signerOf(signature)).find((signer) => signer !== undefined),
    chance: (target) => (chance ??= newChance())(target),
  }
}

/** Moves endpoints whose context is shorter than the estimated prompt to the end. */
function sufficientContextFirst(targets: readonly Target[], { bounds }: PlannableRequest): readonly Target[] {
  const isLongEnough = ({ endpoint: { contextLength } }: Target) =>
    contextLength === 0 || bounds.promptLimit === "none" || contextLength > bounds.promptEstimate
  if (targets.every(isLongEnough)) return targets
  return [...targets.filter(isLongEnough), ...targets.filter((target) => !isLongEnough(target))]
}

/**
 * Only targets with a BYOK credential for a request that names something stored at a provider: all workspaces share the
 * gateway's accounts, and ids of other workspaces are valid in them.
 */
function storageTargets(
  targets: readonly Target[],
  { providerStorage }: PlannableRequest,
  { sharesProviderStorage }: PlanDeps,
): readonly Target[] {
  const path = sharesProviderStorage ? undefined : providerStorage()
  if (path === undefined) return targets
  const owned = targets.filter(({ byok }) => byok !== undefined)
  if (owned.length > 0) return owned
  throw new GatewayError(
    "invalid_request",
    `${path}: names something stored in an account at a provider, which needs a BYOK credential of the workspace. Send the data itself, or a file of POST /files; PROVIDER_STORAGE of the deployment allows the gateway's accounts.`,
  )
}

/** Only targets that charge the provider's tools: by a price, or to the workspace's own account. */
function pricedTargets(
  targets: readonly Target[],
  { paidTools }: PlannableRequest,
  { unpricedTools }: PlanDeps,
): readonly Target[] {
  const paid = paidTools?.().filter(({ type }) => !unpricedTools.has(type)) ?? []
  if (paid.length === 0) return targets
  const isPriced = ({ endpoint }: Target) =>
    paid.every(({ price }) => price !== undefined && endpoint.pricing[price] !== undefined)
  const allowed = targets.filter((target) => target.byok !== undefined || isPriced(target))
  if (allowed.length > 0) return allowed
  const [first] = paid
  const advice = first?.price === undefined ? "" : `a price of the endpoint (${first.price}), or `
  throw new GatewayError(
    "invalid_request",
    `${first?.path}: the provider charges ${first?.type} besides tokens, which needs ${advice}a BYOK credential of the workspace. UNPRICED_TOOLS of the deployment allows it without a charge.`,
  )
}

/** Drops targets that do not support this request. If none remains, fails with the reason of the first. */
function supportedTargets(targets: readonly Target[], { upstream }: PlannableRequest): readonly Target[] {
  const { unsupportedReason } = upstream
  if (!unsupportedReason) return targets
  const reasons = targets.map(({ provider }) => unsupportedReason(provider))
  const supported = targets.filter((_, at) => reasons[at] === undefined)
  if (supported.length === 0 && reasons[0]) throw reasons[0]
  return supported
}
