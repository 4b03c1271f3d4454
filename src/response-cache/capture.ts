import { concat } from "../support/bytes.ts"

/** A longer response is not stored. */
const MAX_BYTES = 1_048_576

/** Copies a response on its way to the client, until it is known how it ended. */
export class Capture {
  readonly response: Response
  readonly contentType: string
  /** The complete body; undefined if it was too long or incomplete. */
  readonly bytes: Promise<Uint8Array | undefined>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>

  constructor(response: Response, body: ReadableStream<Uint8Array>) {
    const [relayed, copied] = body.tee()
    this.response = new Response(relayed, response)
    this.contentType = response.headers.get("content-type") ?? "application/json"
    this.#reader = copied.getReader()
    this.bytes = this.#read().catch(() => undefined)
  }

  /** Stops copying, so that the upstream ends when the client disconnects. */
  drop(): void {
    this.#reader.cancel().catch(() => undefined)
  }

  async #read(): Promise<Uint8Array | undefined> {
    const chunks: Uint8Array[] = []
    let size = 0
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) return concat(chunks)
      size += value.byteLength
      if (size > MAX_BYTES) {
        this.drop()
        return undefined
      }
      chunks.push(value)
    }
  }
}
