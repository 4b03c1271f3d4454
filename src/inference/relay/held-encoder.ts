import type { ResponseEncoder, ServingInfo } from "../../formats/encoder.ts"
import type { Json } from "../../support/text/json.ts"

/** An isolate has 128 MB for all its calls. */
const MAX_HELD_BYTES = 16 * 1024 * 1024

/**
 * Keeps the chunks of a response until the checks of the guardrails passed all of it. They are encoded only then: an
 * encoder may repeat earlier text in its final frames.
 */
export class HeldEncoder implements ResponseEncoder {
  readonly isStateless = false
  readonly #encoder: ResponseEncoder
  readonly #chunks: { chunk: Json; frame: Uint8Array | undefined }[] = []
  #servingInfo: ServingInfo | undefined
  #bytes = 0

  constructor(encoder: ResponseEncoder) {
    this.#encoder = encoder
  }

  /** Counts bytes of the upstream response. */
  count({ byteLength }: Uint8Array): void {
    this.#bytes += byteLength
  }

  get isFull(): boolean {
    return this.#bytes > MAX_HELD_BYTES
  }

  /** The frames of all chunks. */
  release(): Uint8Array[] {
    const encoder = this.#encoder
    const opening = this.#servingInfo ? encoder.open(this.#servingInfo) : []
    return [...opening, ...this.#chunks.flatMap(({ chunk, frame }) => encoder.chunk(chunk, frame))]
  }

  open(servingInfo: ServingInfo): Uint8Array[] {
    this.#servingInfo = servingInfo
    return []
  }

  chunk(chunk: Json, frame: Uint8Array | undefined): Uint8Array[] {
    this.#chunks.push({ chunk, frame })
    return []
  }

  readonly document: ResponseEncoder["document"] = (...one) => this.#encoder.document(...one)
  readonly heartbeat: ResponseEncoder["heartbeat"] = () => this.#encoder.heartbeat()
  readonly failure: ResponseEncoder["failure"] = (...one) => this.#encoder.failure(...one)
  readonly end: ResponseEncoder["end"] = (...one) => this.#encoder.end(...one)
}
