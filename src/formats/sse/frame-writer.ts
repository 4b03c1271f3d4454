import { concat } from "../../support/bytes.ts"

/** Maximum of buffered bytes for a slow client. Above it, the provider is not read. */
const MAX_WAITING_BYTES = 256 * 1024

/**
 * Writes frames in order, one write at a time: frames that arrive during a write are combined into the next one. A call
 * into the platform costs more than the frame itself, so under load this saves most of the cost without any delay.
 */
export class FrameWriter {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #onLost: () => void
  readonly #lost = Promise.withResolvers<undefined>()
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #writing: Promise<void> | undefined
  lastWriteAt: number

  /** `onLost` is called once, at a client disconnect. */
  constructor(writable: WritableStream<Uint8Array>, onLost: () => void) {
    this.#writer = writable.getWriter()
    this.#onLost = onLost
    this.lastWriteAt = Date.now()
  }

  /** Resolves at a client disconnect. */
  get lost(): Promise<undefined> {
    return this.#lost.promise
  }

  write(frames: readonly Uint8Array[]): void {
    for (const frame of frames) {
      if (frame.byteLength === 0) continue
      this.#waitingBytes += frame.byteLength
      this.#waiting.push(frame)
    }
    if (this.#waiting.length > 0) this.#writing ??= this.#drain()
  }

  /** Bytes that the client has not read yet. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Whether nothing was written for this long, and nothing waits for a slow client. */
  isSilentFor(ms: number): boolean {
    return this.#waitingBytes === 0 && Date.now() - this.lastWriteAt >= ms
  }

  /** Backpressure: whether the provider must wait until the client has read more. */
  get isFull(): boolean {
    return this.#waitingBytes > MAX_WAITING_BYTES
  }

  /** Resolves when the client has read what was written. */
  async drained(): Promise<void> {
    await this.#writing
  }

  /** Resolves when everything is written or the client disconnected; the stream is then free for another writer. */
  async release(): Promise<void> {
    await this.#writing
    this.#writer.releaseLock()
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const bytes = concat(this.#waiting)
        this.#waiting = []
        await this.#writer.write(bytes)
        this.#waitingBytes -= bytes.byteLength
        this.lastWriteAt = Date.now()
      }
    } catch {
      this.#waiting = []
      this.#waitingBytes = 0
      this.#onLost()
      this.#lost.resolve(undefined)
    } finally {
      this.#writing = undefined
    }
  }
}

/**
 * Writes a heartbeat whenever nothing was written for `ms`, even if the provider sends: what it sends may be held back.
 * Returns a function that ends it.
 */
export function keepAlive(out: FrameWriter, ms: number, heartbeat: () => readonly Uint8Array[]): () => void {
  const id = setInterval(
    () => {
      if (out.isSilentFor(ms)) out.write(heartbeat())
    },
    Math.max(10, ms / 4),
  )
  return () => clearInterval(id)
}
