import type { GenerationDraft } from "../ledger/generation.ts"
import type { ExportedRequest } from "../observability/context.ts"
import type { Attempt } from "../formats/attempt.ts"
import type { UpstreamRequest, UpstreamFields } from "../formats/upstream.ts"
import type { GatewayError } from "../errors/errors.ts"
import type { Screening } from "../guardrails/screening.ts"
import type { Provider } from "../providers/provider.ts"
import type { PaidTool } from "./upstream/provider-tools.ts"
import type { CostBounds } from "./accounting/cost-bound.ts"
import type { DispatchAbort } from "./upstream/dispatch-abort.ts"
import type { ResponseMeter } from "../formats/chat/meter.ts"
import type { ResponseEncoder } from "../formats/encoder.ts"
import type { Output, Routable } from "../routing/plan.ts"
import type { Target } from "../routing/target.ts"
import type { RequestMeta, Deps } from "./deps.ts"
import type { PipelineStage, PreparationReport } from "../formats/pipeline-stage.ts"

/** How to build the upstream request for a provider. */
export type UpstreamPlan = {
  streamed: boolean
  buildUpstreamRequest: (provider: Provider, outgoing: UpstreamFields) => UpstreamRequest
  /** Why a provider cannot serve the request; absent if every provider can. */
  unsupportedReason?: (provider: Provider) => GatewayError | undefined
}

/** A normalized request, independent of the API format it arrived in. */
export type InferenceRequest = {
  apiType: GenerationDraft["apiType"]
  /** The output modality that the model must have. */
  output: Output
  routing: Routable
  sessionId: string | null
  /**
   * Identifies a conversation whose turns should go to one provider (session affinity); null if any provider may serve
   * it. Called only if several targets remain.
   */
  conversation: (() => string) | null
  /** Signatures of the reasoning in the conversation, the latest first. */
  signatures: readonly string[]
  user: string | null
  /** The `trace` field, for destinations. */
  trace?: Readonly<Record<string, unknown>> | null
  bounds: CostBounds
  /** Path of a field that names something stored in an account at a provider. */
  providerStorage: () => string | undefined
  /** Tools that a provider charges besides tokens; absent if the format has none. */
  paidTools?: () => readonly PaidTool[]
  upstream: UpstreamPlan
  /** The messages or the prompt, for content logging and destinations; absent if the request has no text. */
  messages?: readonly unknown[]
  /** Parameters and tools, for destinations. Called only if the workspace has one. */
  exported?: () => ExportedRequest
  /** Changes by plugins and variants; absent if there were none. */
  preparation?: PreparationReport
  /** The content guardrails of the call; absent where none apply. */
  screening?: Screening
  encoderFor: (call: CallContext) => ResponseEncoder
}

/** The part of a request that planning reads. */
export type PlannableRequest = Pick<
  InferenceRequest,
  | "output"
  | "routing"
  | "sessionId"
  | "conversation"
  | "signatures"
  | "bounds"
  | "providerStorage"
  | "paidTools"
  | "preparation"
  | "screening"
> & { upstream: Pick<UpstreamPlan, "unsupportedReason"> }

/** State of a running call. */
export type CallContext = {
  request: InferenceRequest
  meta: RequestMeta
  draft: GenerationDraft
  /** Nano-USD that the call may be charged if this target serves it. */
  chargeLimitOf: (target: Target) => number
  /** Nano-USD to charge if the isolate dies before a target has responded. */
  estimateNano: number
  targets: readonly Target[]
  deps: Deps
  /** Effects of guardrails and plugins, for the routing metadata. */
  stages: () => readonly PipelineStage[]
  /** Routing metadata, for clients that request it. */
  metadata: (attempts: readonly Attempt[]) => Record<string, unknown>
  /** Content and usage of the response so far. */
  meter: ResponseMeter
  /** The target that responded; undefined until one does. */
  servingTarget: Target | undefined
  /** Aborted when the client disconnects before the response starts. Cancels dispatch, not a running relay. */
  dispatchAbort: DispatchAbort
}
