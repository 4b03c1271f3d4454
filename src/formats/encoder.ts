import type { Json } from "../support/text/json.ts"
import type { GatewayError } from "../errors/errors.ts"
import type { Attempt } from "./attempt.ts"
import type { Charge } from "./usage.ts"
import type { ResponseReader } from "./readers/reader.ts"

/** The provider that serves a call, and the reader for its response. */
export type ServingInfo = {
  /** The provider's display name. */
  provider: string
  model: string
  reader: ResponseReader
  attempts: readonly Attempt[]
  upstreamBody: Json
}

/**
 * Encodes a response in the API format of the client, from events of the upstream format. Each call has its own
 * encoder, which may keep state.
 */
export type ResponseEncoder = {
  /** `chunk` depends only on its argument, so that frames of one shape are rewritten in the same way. */
  isStateless: boolean
  /** Clients of the format take a comment for a broken event. */
  rejectsComments?: true
  /** Content type of a stream; server-sent events if absent. */
  contentType?: string
  /** A complete JSON document. `earlier`: messages of the turns before the result. */
  document: (result: Json, info: ServingInfo, charge: Charge, earlier?: readonly Json[]) => Json
  /** Written before the first chunk. */
  open: (info: ServingInfo) => Uint8Array[]
  /** Written for a chunk. `frame`: its bytes, if they conform. */
  chunk: (chunk: Json, frame: Uint8Array | undefined) => Uint8Array[]
  /** Heartbeat written after `keepaliveMs` of idle time, before a proxy would close the connection. */
  heartbeat: () => Uint8Array[]
  /**
   * Final frames of a stream that failed. `metadata`: routing metadata, if the client requested it. `charge`: for the
   * delivered part; undefined if nothing was delivered.
   */
  failure: (error: GatewayError, metadata: Json, charge?: Charge) => Uint8Array[]
  /** Final frames of a complete stream. */
  end: (charge: Charge) => Uint8Array[]
}
