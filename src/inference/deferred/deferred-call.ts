import { buildUpstreamRequest } from "../upstream/build-request.ts"
import { GatewayError } from "../../errors/errors.ts"
import { batchPricing } from "../../money/batch-price.ts"
import type { Target } from "../../routing/target.ts"
import { holdOrByok } from "../upstream/attempts.ts"
import type { HeldCall, PlannedCall, PreparedCall } from "../call.ts"
import type { Deferral, Submission } from "./deferral.ts"
import type { Deps } from "../deps.ts"
import { placeHold } from "../hold.ts"
import { planTargets } from "../plan.ts"

/** The targets of a call in a batch of a provider: in the second run, the one that the request was submitted to. */
export function planDeferred(prepared: PreparedCall, deps: Deps, deferral: Deferral): PlannedCall {
  if (!("response" in deferral) || !deferral.kept) return withBatchTargets(planTargets(prepared, deps), deferral)
  const { byok, kept, provider: slug } = deferral
  const provider = (byok ? deps.byok?.providers : deps.providers)?.get(slug)
  if (!provider) throw new GatewayError("internal", "The provider of a batch is not configured.")
  return { ...prepared, targets: [{ ...kept.target, provider, ...(byok && { byok }) }] }
}

/** The call with the targets that the provider supports in a batch, at batch prices. */
function withBatchTargets(planned: PlannedCall, deferral: Deferral): PlannedCall {
  const { provider: slug } = deferral
  const ofProvider = planned.targets.filter(({ provider }) => provider.slug === slug)
  const targets = ofProvider.filter((target) => isAccepted(target, deferral)).flatMap(atBatchPrice)
  if (targets.length > 0) return { ...planned, targets }
  const skippedCredentials = "skippedCredentials" in deferral ? deferral.skippedCredentials : new Map<string, string>()
  const [reason] = ofProvider.flatMap(({ byok }) => skippedCredentials.get(byok?.id ?? "") ?? [])
  if (reason !== undefined) throw new GatewayError("provider_failed", reason, { metadata: { retryable: false } })
  const names = [...new Set(planned.targets.map(({ provider }) => provider.slug))].join(", ")
  throw new GatewayError(
    "invalid_request",
    `This request cannot be in a batch of ${slug}. It can go to ${names}: create the batch without provider.`,
  )
}

/** A response is charged to the credential of its request, even if the plan would now choose another. */
function isAccepted({ byok }: Target, deferral: Deferral): boolean {
  if ("response" in deferral) return byok?.id === deferral.byok?.id
  return byok === undefined || !deferral.skippedCredentials.has(byok.id)
}

function atBatchPrice(target: Target): Target[] {
  const { endpoint, provider } = target
  if (!provider.batches) return []
  return [
    { ...target, endpoint: { ...endpoint, pricing: batchPricing(endpoint.pricing, provider.batches.pricePercent) } },
  ]
}

/** A deferred call is held for one target: the one that its request is submitted to. */
export function placeDeferredHold(planned: PlannedCall, deps: Deps): Promise<HeldCall> {
  return holdOrByok(planned.targets, (covered) => placeHold({ ...planned, targets: covered.slice(0, 1) }, deps))
}

/** Replaces dispatch: submits the request of a held call. The hold stays until the response arrives. */
export async function submitLater(call: HeldCall, { submit }: Submission): Promise<Response> {
  const [target] = call.targets
  try {
    if (!target) throw new GatewayError("internal", "A held call has no target.")
    const { path, body, form } = buildUpstreamRequest(call, target, target.provider)
    if (form) throw new GatewayError("invalid_request", "A request with files cannot be in a batch of a provider.")
    const { model, endpoint } = target
    submit({
      path,
      body,
      credential: target.byok?.id ?? null,
      target: { model: { ...model, endpoints: [] }, endpoint },
    })
    return new Response(null, { status: 202 })
  } catch (thrown) {
    await call.deps.ledger.release(call.draft.id)
    throw thrown
  }
}
