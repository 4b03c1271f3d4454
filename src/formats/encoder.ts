import type { Json } from "../support/json.ts"
import type { GatewayError } from "../errors/errors.ts"
import type { Attempt } from "./attempt.ts"
import type { Charge } from "./cost-fields.ts"
import type { ResponseReader } from "./readers/reader.ts"

/** Who answers, in the words of which wire, and after how many attempts. */
export type ServingInfo = {
  /** The provider's display name. */
  provider: string
  model: string
  reader: ResponseReader
  attempts: readonly Attempt[]
  upstreamBody: Json
}

/**
 * How a caller is spoken to. The road carries the events of the wire that answers; a dialect says them in the caller's
 * words. One is made for each call, and may remember what it has said.
 */
export type ResponseEncoder = {
  /** The provider's frames are what the caller wants to hear, so they may pass as they are. */
  passesNative: boolean
  /** An answer in one document. `earlier`: messages that came before the result's own, one for each turn. */
  document: (result: Json, answering: ServingInfo, charge: Charge, earlier?: readonly Json[]) => Json
  /** Said before the first chunk. */
  open: (answering: ServingInfo) => Uint8Array[]
  /** Said for a chunk; `frame` holds its bytes if they are as the contract has them. */
  chunk: (chunk: Json, frame: Uint8Array | undefined) => Uint8Array[]
  /** Said into a silence that has lasted long enough to be cut. */
  heartbeat: () => Uint8Array[]
  /** The last words of an answer that failed after it had begun; `metadata`: how it was routed, where that was asked. */
  failure: (error: GatewayError, metadata: Json) => Uint8Array[]
  /** The last words of an answer that is whole. */
  end: (charge: Charge) => Uint8Array[]
}
