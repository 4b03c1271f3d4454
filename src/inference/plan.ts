import { GatewayError } from "../errors/errors.ts"
import { unroutable } from "../routing/metadata.ts"
import { plan, type PlanInput, seededRandom } from "../routing/plan.ts"
import type { Target } from "../routing/target.ts"
import type { PlannedCall, PreparedCall } from "./call.ts"
import { requireTier } from "./cost-bound.ts"
import type { Deps } from "./deps.ts"
import type { InferenceRequest } from "./inference-request.ts"

/** Step 3: the targets of a call, in the order of failover. Fails where no endpoint can take the call. */
export function planTargets(prepared: PreparedCall, deps: Deps): PlannedCall {
  const { request, caller } = prepared
  const targets = supportedTargets(routableTargets(prepared, deps), request)
  return { ...prepared, targets: requireTier(caller, targets, request.bounds) }
}

/** Where the client requested routing metadata, the error has it as well. */
function routableTargets(prepared: PreparedCall, deps: Deps): Target[] {
  const { request, meta } = prepared
  try {
    return plan(request.routing, planInputOf(prepared, deps))
  } catch (refusal) {
    if (!(refusal instanceof GatewayError) || !meta.wantsMetadata) throw refusal
    const { code, message, metadata } = refusal
    const stages = [...(request.preparation?.stages ?? []), ...(request.screening?.stages() ?? [])]
    const extraFields = unroutable(requestedModelOf(request), meta.region, message, stages)
    throw new GatewayError(code, message, { ...(metadata && { metadata }), extraFields })
  }
}

/** Calls of one session, and of a conversation with signed reasoning, go to one provider; others are spread. */
function planInputOf({ request, meta, caller }: PreparedCall, deps: Deps): PlanInput {
  const { output, sessionId, conversation, signatures } = request
  const { catalogue, providers, byok, health } = deps
  const affinity = sessionId ?? meta.sessionId ?? conversation
  const now = Date.now()
  return {
    output,
    catalogue,
    providers,
    byok,
    region: meta.region,
    defaultSort: caller.defaults.providerSort ?? undefined,
    guardrails: caller.guardrails?.routeFilters() ?? [],
    isCooling: (target) => health.isCooling(target, now),
    statisticsOf: (target) => health.statisticsOf(target, now),
    pinnedTo: signatures.map((signature) => health.signerOf(signature)).find((signer) => signer !== undefined),
    chance: affinity === null ? () => 1 - Math.random() : seededRandom(affinity),
  }
}

/** Drops the targets that cannot take this request. If none is left, fails with the reason of the first. */
function supportedTargets(targets: readonly Target[], { upstream }: InferenceRequest): readonly Target[] {
  const { unsupportedReason } = upstream
  if (!unsupportedReason) return targets
  const reasons = targets.map(({ provider }) => unsupportedReason(provider))
  const left = targets.filter((_, at) => reasons[at] === undefined)
  if (left.length === 0 && reasons[0]) throw reasons[0]
  return left
}

/** The model as the client named it. */
export function requestedModelOf({ preparation, routing }: InferenceRequest): string {
  return preparation?.requestedModel ?? routing.model ?? routing.models?.[0] ?? ""
}
