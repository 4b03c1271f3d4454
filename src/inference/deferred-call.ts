import { GatewayError } from "../errors/errors.ts"
import { batchPricing } from "../money/batch-price.ts"
import type { Target } from "../routing/target.ts"
import type { HeldCall, PlannedCall } from "./call.ts"
import type { Deferral } from "./deferral.ts"

/** The call with the one target that can be in a batch of the provider, at the price of its batches. */
export function deferred(planned: PlannedCall, { provider: slug }: Deferral): PlannedCall {
  const target = planned.targets.find(({ provider, byok }) => provider.slug === slug && !byok)
  if (target?.provider.batches) return { ...planned, targets: [atBatchPrice(target, target.provider.batches)] }
  const names = [...new Set(planned.targets.map(({ provider }) => provider.slug))].join(", ")
  throw new GatewayError(
    "invalid_request",
    `This request cannot be in a batch of ${slug} with the gateway's key. It can go to ${names}: create the batch without provider.`,
  )
}

function atBatchPrice(target: Target, { pricePercent }: { pricePercent: number }): Target {
  const { endpoint } = target
  return { ...target, endpoint: { ...endpoint, pricing: batchPricing(endpoint.pricing, pricePercent) } }
}

/** Instead of dispatch: gives out the request of a held call. The hold stays until the response is there. */
export async function submitLater(call: HeldCall, { submit }: Deferral): Promise<Response> {
  const { upstream } = call.request
  const [target] = call.targets
  try {
    if (!target) throw new GatewayError("internal", "A held call has no target.")
    const { path, body, form } = upstream.buildUpstreamRequest(target.provider, {
      upstreamId: target.endpoint.upstreamId,
      maxCompletionTokens: call.completionCapOf(target),
      pseudonym: call.pseudonym,
    })
    if (form) throw new GatewayError("invalid_request", "A request with files cannot be in a batch of a provider.")
    submit({ path, body })
    return new Response(null, { status: 202 })
  } catch (thrown) {
    await call.deps.ledger.release(call.draft.id)
    throw thrown
  }
}
