import { FrameWriter } from "../../../src/formats/sse/frame-writer.ts"
import { DONE_FRAME, toFrame } from "../../../src/formats/sse/frames.ts"
import type { TurnUsage } from "../../../src/interns/run/acp/acp.ts"
import {
  deltaChunk,
  type Spelling,
  finalChunk,
  finishChunk,
  type Head,
  placeholderModel,
  questionChunk,
} from "../../../src/interns/run/chunks.ts"
import type { Delta, Finish } from "../../../src/interns/run/run.ts"
import type { Timer } from "../../../src/support/time/time.ts"

/** Limit of unread bytes per client. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** Only the second write after a disconnect fails, so a keepalive is written in two parts. */
const KEEPALIVE_PARTS_MS = 300
const encoder = new TextEncoder()
const KEEPALIVE = [encoder.encode(": keepalive\n"), encoder.encode("\n")] as const

export type StreamOptions = {
  spelling: Spelling
  keepaliveMs: number
  timer: Timer
  signal: AbortSignal
  onGone: () => void
}

/** One response to a client: the chunks of a run from its prompt, or from an answer, to its next finish. */
export class InternStream {
  readonly response: Response
  readonly #head: Head
  readonly #out: FrameWriter
  readonly #writable: WritableStream<Uint8Array>
  readonly #options: StreamOptions
  #model: string | null = null
  #isFirst = true
  #isOver = false
  #cancelTimer: () => void = () => undefined

  constructor(id: string, options: StreamOptions) {
    const channel = new IdentityTransformStream()
    this.#options = options
    this.#head = { id, created: Math.floor(Date.now() / 1000) }
    this.#writable = channel.writable
    this.#out = new FrameWriter(channel.writable, () => this.#lose())
    this.response = new Response(channel.readable, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
    })
    options.signal.addEventListener("abort", () => this.#lose(), { once: true })
    // The client may have disconnected while the host connected. Deferred, so that the caller holds the stream before
    // it ends.
    if (options.signal.aborted) queueMicrotask(() => this.#lose())
    this.#waitToKeepAlive()
  }

  write(delta: Delta, model: string | null): void {
    this.#model = model ?? this.#model
    this.#write(deltaChunk(this.#head, this.#modelName(), delta, this.#isFirst))
    if (this.#out.waitingBytes > MAX_WAITING_BYTES) this.#lose()
  }

  /**
   * Writes the last chunks and closes the stream. `session` is null if the run failed before it had one. Pending usage
   * delays only the last chunk.
   */
  finish(finish: Finish, session: string | null, usage: TurnUsage | null | Promise<TurnUsage | null>): void {
    if (this.#isOver) return
    const model = this.#modelName()
    if (finish.reason === "tool_calls") {
      this.#write(
        questionChunk(this.#head, {
          model,
          question: finish.question,
          isFirst: this.#isFirst,
          spelling: this.#options.spelling,
        }),
      )
    }
    this.#write(finishChunk(this.#head, model, finish, this.#isFirst))
    if (usage instanceof Promise) void usage.then((read) => this.#close(model, session, read))
    else this.#close(model, session, finish.reason === "tool_calls" ? null : usage)
  }

  #close(model: string, session: string | null, usage: TurnUsage | null): void {
    if (this.#isOver) return
    this.#write(finalChunk(this.#head, model, session, usage))
    this.#out.write([DONE_FRAME])
    this.#isOver = true
    this.#cancelTimer()
    void this.#out
      .release()
      .then(() => this.#writable.close())
      .catch(() => undefined)
  }

  #modelName(): string {
    return this.#model ?? placeholderModel(this.#options.spelling)
  }

  #write(chunk: unknown): void {
    if (this.#isOver) return
    this.#out.write([toFrame(chunk)])
    this.#isFirst = false
  }

  #waitToKeepAlive(): void {
    const { keepaliveMs, timer } = this.#options
    const silent = Date.now() - this.#out.lastWriteAt
    this.#cancelTimer = timer.after(Math.max(0, keepaliveMs - silent), () => {
      if (this.#isOver) return
      if (Date.now() - this.#out.lastWriteAt < keepaliveMs) return this.#waitToKeepAlive()
      this.#out.write([KEEPALIVE[0]])
      this.#cancelTimer = timer.after(KEEPALIVE_PARTS_MS, () => {
        if (this.#isOver) return
        this.#out.write([KEEPALIVE[1]])
        this.#waitToKeepAlive()
      })
    })
  }

  /** Client disconnect. Closes the stream as well, because an object with an open response is never evicted. */
  #lose(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelTimer()
    void this.#out
      .release()
      .then(() => this.#writable.abort())
      .catch(() => undefined)
    this.#options.onGone()
  }
}
