import type { GenerationDraft } from "../generations/generation.ts"
import type { Outgoing } from "../providers/compatible.ts"
import type { Provider } from "../providers/provider.ts"
import type { Bounds } from "./admit.ts"
import type { Reading } from "./chat/reading.ts"
import type { Dialect } from "./dialect.ts"
import type { Routable, Target } from "./plan.ts"
import type { Arrival, World } from "./world.ts"

/** What is asked of a provider, whichever takes it. */
export type Question = {
  /** After the provider's base URL. */
  path: string
  streamed: boolean
  bodyFor: (provider: Provider, outgoing: Outgoing) => Record<string, unknown>
  /** Whether a JSON answer of status 200 is one. */
  isAnswer: (result: Record<string, unknown>) => boolean
}

/** A request of any surface, as the road takes it: all that the steps need to know of it. */
export type Intake = {
  apiType: GenerationDraft["apiType"]
  /** What the model must make. */
  output: "text" | "embeddings"
  routing: Routable
  sessionId: string | null
  user: string | null
  bounds: Bounds
  question: Question
  dialectOf: (call: CallState) => Dialect
}

/** What is known of one call under way. */
export type CallState = {
  intake: Intake
  arrival: Arrival
  draft: GenerationDraft
  heldNano: number
  targets: readonly Target[]
  world: World
  /** What has been read of the answer so far. */
  reading: Reading
  /** The target that answers, once one does. */
  answering: Target | undefined
  /** Aborted when the caller leaves before an answer has begun; it ends the asking, not an answer under way. */
  asking: AbortController
}
