import type { GenerationDraft } from "../ledger/generation.ts"
import type { Attempt } from "../formats/attempt.ts"
import type { UpstreamRequest, UpstreamFields } from "../formats/upstream.ts"
import type { GatewayError } from "../errors/errors.ts"
import type { Screening } from "../guardrails/screening.ts"
import type { Provider } from "../providers/provider.ts"
import type { CostBounds } from "./cost-bound.ts"
import type { ResponseMeter } from "../formats/chat/meter.ts"
import type { ResponseEncoder } from "../formats/encoder.ts"
import type { Output, Routable } from "../routing/plan.ts"
import type { Target } from "../routing/target.ts"
import type { RequestMeta, Deps } from "./deps.ts"
import type { PreparationReport } from "../formats/pipeline-stage.ts"

/** What is asked of a provider, whichever takes it. */
export type UpstreamPlan = {
  streamed: boolean
  buildUpstreamRequest: (provider: Provider, outgoing: UpstreamFields) => UpstreamRequest
  /** Why this provider cannot be asked this; absent where every provider can. */
  unsupportedReason?: (provider: Provider) => GatewayError | undefined
}

/** A request of any surface, as the road takes it: all that the steps need to know of it. */
export type InferenceRequest = {
  apiType: GenerationDraft["apiType"]
  /** What the model must make. */
  output: Output
  routing: Routable
  sessionId: string | null
  /** What stays the same over a conversation that should stay with its provider; null where any may go on. */
  conversation: string | null
  /** Of the reasoning that the conversation carries, the latest first. */
  signatures: readonly string[]
  user: string | null
  /** What the caller has its observers told; absent where nothing. */
  trace?: Readonly<Record<string, unknown>> | null
  bounds: CostBounds
  upstream: UpstreamPlan
  /** What is asked, for those who keep it; absent where it is no conversation. */
  messages?: readonly unknown[]
  /** What was done to the request before it got here; absent where nothing was. */
  preparation?: PreparationReport
  /** Reads the request, which it has, and the answer; absent where no content filter applies. */
  screening?: Screening
  encoderFor: (call: CallContext) => ResponseEncoder
}

/** What is known of one call under way. */
export type CallContext = {
  request: InferenceRequest
  meta: RequestMeta
  draft: GenerationDraft
  /** Nano-USD that the call may be charged where this target serves it: what is held for it. */
  chargeLimitOf: (target: Target) => number
  /** What it is charged should the isolate die before it is known who answers. */
  estimateNano: number
  targets: readonly Target[]
  deps: Deps
  /** How the call was routed, for whoever asked to be told. */
  metadata: (attempts: readonly Attempt[]) => Record<string, unknown>
  /** What has been read of the answer so far. */
  meter: ResponseMeter
  /** The target that answers, once one does. */
  servingTarget: Target | undefined
  /** Aborted when the caller leaves before an answer has begun; it ends the asking, not an answer under way. */
  dispatchAbort: AbortController
}
