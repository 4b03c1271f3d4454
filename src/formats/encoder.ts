import type { Json } from "../support/json.ts"
import type { GatewayError } from "../errors/errors.ts"
import type { Attempt } from "./attempt.ts"
import type { Charge } from "./usage.ts"
import type { ResponseReader } from "./readers/reader.ts"

/** The provider that serves a call, and how its response is read. */
export type ServingInfo = {
  /** The provider's display name. */
  provider: string
  model: string
  reader: ResponseReader
  attempts: readonly Attempt[]
  upstreamBody: Json
}

/**
 * Encodes a response in the API format of the client. The relay passes events of the upstream format. One encoder is
 * made for each call, and may keep state.
 */
export type ResponseEncoder = {
  /** `chunk` depends on nothing but the chunk, so that frames of one shape are rewritten in the same way. */
  isStateless: boolean
  /** A complete JSON document. `earlier`: messages of the turns before the result's own. */
  document: (result: Json, answering: ServingInfo, charge: Charge, earlier?: readonly Json[]) => Json
  /** Written before the first chunk. */
  open: (answering: ServingInfo) => Uint8Array[]
  /** Written for a chunk. `frame`: its bytes, if they conform. */
  chunk: (chunk: Json, frame: Uint8Array | undefined) => Uint8Array[]
  /** Heartbeat written after `keepaliveMs` of idle time, before a proxy would close the connection. */
  heartbeat: () => Uint8Array[]
  /**
   * Final frames of a stream that failed. `metadata`: routing metadata, where the client requested it. `charge`: what was
   * delivered is charged; undefined where nothing was.
   */
  failure: (error: GatewayError, metadata: Json, charge?: Charge) => Uint8Array[]
  /** Final frames of a complete stream. */
  end: (charge: Charge) => Uint8Array[]
}
