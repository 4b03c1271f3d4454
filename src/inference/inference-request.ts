import type { Attempt, GenerationDraft } from "../ledger/generation.ts"
import type { Outgoing } from "../providers/upstream-request.ts"
import type { GatewayError } from "../errors/errors.ts"
import type { Screening } from "../guardrails/screening.ts"
import type { Provider } from "../providers/provider.ts"
import type { Bounds } from "./cost-bound.ts"
import type { Reading } from "../formats/chat/meter.ts"
import type { Dialect } from "../formats/encoder.ts"
import type { Output, Routable } from "../routing/plan.ts"
import type { Target } from "../routing/target.ts"
import type { Wire } from "../formats/readers/reader.ts"
import type { Arrival, World } from "./deps.ts"

/** What is asked of a provider, whichever takes it. */
export type Question = {
  streamed: boolean
  askOf: (provider: Provider, outgoing: Outgoing) => Asked
  /** Why this provider cannot be asked this; absent where every provider can. */
  refusalOf?: (provider: Provider) => GatewayError | undefined
}

/** One question in the words of one provider. */
export type Asked = {
  /** The wire of the answer, once it is translated. */
  wire: Wire
  /** After the provider's base URL. */
  path: string
  headers?: Readonly<Record<string, string>>
  body: Record<string, unknown>
  /** Sent in place of the body, which then stands for it where it is shown. */
  form?: FormData
  /** The answer is bytes of this kind, and passes as it is. */
  bytes?: RegExp
  /** The kind to tell where the provider says nothing but that it is bytes. */
  bytesType?: string
  /** What the provider has counted so far, where an answer that breaks off would not tell it. */
  counted?: () => unknown
  /** From the words of the provider to those of `wire`, where they differ. */
  translate?: Translation
}

export type Translation = {
  stream: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>
  whole: (result: Record<string, unknown>) => Record<string, unknown>
}

/** A request of any surface, as the road takes it: all that the steps need to know of it. */
export type Intake = {
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
  bounds: Bounds
  question: Question
  /** What is asked, for those who keep it; absent where it is no conversation. */
  messages?: readonly unknown[]
  /** What was done to the request before it got here; absent where nothing was. */
  preparation?: Preparation
  /** Reads the request, which it has, and the answer; absent where no content filter applies. */
  screening?: Screening
  dialectOf: (call: CallState) => Dialect
}

/** What plugins and variants made of a request, for those who ask how it was routed. */
export type Preparation = {
  /** As the caller wrote it. */
  requestedModel: string
  strategy?: string
  stages: readonly Stage[]
}

/** One stage of the pipeline, written by the code that ran. */
export type Stage = {
  type: "guardrail" | "plugin" | "server_tools" | "response_healing" | "context_compression"
  name: string
  summary: string
  guardrail_id?: string
  guardrail_scope?: string
  data?: Record<string, unknown>
  cost_usd?: number
}

/** What is known of one call under way. */
export type CallState = {
  intake: Intake
  arrival: Arrival
  draft: GenerationDraft
  /** Nano-USD that the call may be charged where this target serves it: what is held for it. */
  chargeLimitOf: (target: Target) => number
  /** What it is charged should the isolate die before it is known who answers. */
  estimateNano: number
  targets: readonly Target[]
  world: World
  /** How the call was routed, for whoever asked to be told. */
  metadata: (attempts: readonly Attempt[]) => Record<string, unknown>
  /** What has been read of the answer so far. */
  reading: Reading
  /** The target that answers, once one does. */
  answering: Target | undefined
  /** Aborted when the caller leaves before an answer has begun; it ends the asking, not an answer under way. */
  asking: AbortController
}
