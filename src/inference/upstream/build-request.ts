import type { UpstreamRequest } from "../../formats/upstream.ts"
import type { Provider } from "../../providers/provider.ts"
import { withDefaultFields } from "../../providers/upstream-request.ts"
import type { Target } from "../../routing/target.ts"
import type { HeldCall } from "../call.ts"

/** The request of a held call to a target. `provider`: the target's, adapted to what it rejected. */
export function buildUpstreamRequest(call: HeldCall, target: Target, provider: Provider): UpstreamRequest {
  const request = call.request.upstream.buildUpstreamRequest(provider, {
    upstreamId: target.endpoint.upstreamId,
    maxCompletionTokens: call.completionCapOf(target),
    pseudonym: call.pseudonym,
  })
  return withDefaultFields(request, provider)
}
