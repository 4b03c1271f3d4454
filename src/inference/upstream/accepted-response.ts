import type { ResponseReader } from "../../formats/readers/reader.ts"
import type { Provider } from "../../providers/provider.ts"
import type { Target } from "../../routing/target.ts"
import type { Pending } from "./cached-response.ts"
import type { Content } from "./upstream-response.ts"

/** The response of the target that accepted the call: a stream that has shown content, or a complete document. */
export type AcceptedResponse = {
  target: Target
  /** Includes the key that was sent, which is redacted from the provider's messages. */
  provider: Provider
  reader: ResponseReader
  upstreamBody: Record<string, unknown>
  /** Epoch milliseconds. */
  respondedAt: number
  /** Usage counted by the provider so far, for a response that ends early. */
  counted: (() => unknown) | undefined
  /** Absent if the response cache is not used. */
  cache?: "hit" | "miss"
  /** To be stored once complete. */
  pending?: Pending
} & Content
