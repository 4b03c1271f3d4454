import { wait } from "../../support/time.ts"

/** `push` may return fewer bytes than it takes, and `end` returns the rest. */
type ChunkFilter = { push: (chunk: Uint8Array) => Uint8Array; end: () => Uint8Array }

/** Reads within this interval form a burst. During a burst, reads are paced at this interval. */
const PACE_MS = 8
/** Number of consecutive quick reads that form a burst: a few chunks at a time are common in slow streams. */
const BURST_READS = 6
/** Number of consecutive reads that had to wait, after which a burst ends: the stream is slower than the reads. */
const SLOW_READS = 8
/** A pending read holds its buffer, so the buffer size follows the size of the last read. */
const MIN_READ_BYTES = 4 * 1024
const MAX_READ_BYTES = 64 * 1024
/** Each burst adds a tee to the stream, so their number is bounded. */
const MAX_BURSTS = 8
/** A drain keeps its bytes in memory until it is replaced. */
const MAX_DRAINED_BYTES = 256 * 1024

type Chunk = ReadableStreamReadResult<Uint8Array>
type Burst = { reader: ReadableStreamBYOBReader; drain: Drain }

/**
 * Reads a response body chunk by chunk while chunks arrive slowly, and coalesced in a burst, in which a read costs more
 * than its bytes: the platform drains one branch of a tee, so that chunks queue up in the other branch, from which one
 * read every 8 ms takes everything. A slow stream has no delay, and a burst at most 8 ms.
 *
 * A tee has no backpressure. `pause` must be called before the caller stops reading for a slow client.
 */
export class PacedReader {
  #stream: ReadableStream<Uint8Array>
  #reader: ReadableStreamDefaultReader<Uint8Array>
  #burst: Burst | undefined
  #bursts = 0
  #streak = 0
  #isFull = false
  #readBytes = MAX_READ_BYTES
  #lastReadAt = 0
  #unread: Uint8Array | undefined
  readonly #filter: ChunkFilter | undefined
  #hasEnded = false

  /** `filter` changes the chunks that `read` returns. */
  constructor(stream: ReadableStream<Uint8Array>, filter?: ChunkFilter) {
    this.#stream = stream
    this.#filter = filter
    this.#reader = stream.getReader()
  }

  /** Rejects when the connection breaks. One read at a time. */
  async read(): Promise<Chunk> {
    if (this.#unread) {
      const value = this.#unread
      this.#unread = undefined
      return { done: false, value }
    }
    if (this.#hasEnded) return { done: true, value: undefined }
    return this.#burst ? this.#readBurst(this.#burst) : this.#readChunk()
  }

  /** Returns a chunk, which the next `read` returns again. */
  unread(chunk: Uint8Array): void {
    this.#unread = chunk
  }

  /** Stops reading ahead until the next burst. */
  pause(): void {
    if (!this.#burst) return
    this.#burst.reader.releaseLock()
    this.#endBurst()
    this.#reader = this.#stream.getReader()
  }

  /** Closes the connection. */
  cancel(): void {
    this.#burst?.drain.stop()
    const cancelled = this.#burst ? this.#burst.reader.cancel() : this.#reader.cancel()
    void cancelled.catch(() => undefined)
  }

  async #readChunk(): Promise<Chunk> {
    const chunk = await this.#reader.read()
    const now = Date.now()
    this.#streak = now - this.#lastReadAt < PACE_MS ? this.#streak + 1 : 0
    this.#lastReadAt = now
    if (!chunk.done && this.#streak >= BURST_READS && this.#bursts < MAX_BURSTS) this.#startBurst()
    return this.#filtered(chunk)
  }

  async #readBurst({ reader, drain }: Burst): Promise<Chunk> {
    if (drain.hasFailed) {
      this.#bursts = MAX_BURSTS
      this.pause()
      return this.#readChunk()
    }
    const rest = PACE_MS - (Date.now() - this.#lastReadAt)
    if (rest > 0 && !this.#isFull) await wait(rest)
    const startedAt = Date.now()
    const chunk = await reader.read(new Uint8Array(this.#readBytes))
    this.#lastReadAt = Date.now()
    const size = chunk.value?.byteLength ?? 0
    drain.seen(size)
    this.#isFull = size === this.#readBytes
    this.#readBytes = Math.min(MAX_READ_BYTES, Math.max(MIN_READ_BYTES, 4 * size))
    this.#streak = this.#lastReadAt > startedAt ? this.#streak + 1 : 0
    if (chunk.done) this.#endBurst()
    else if (this.#streak >= SLOW_READS) this.pause()
    return this.#filtered(chunk)
  }

  #filtered(chunk: Chunk): Chunk {
    if (!this.#filter) return chunk
    if (!chunk.done) return { done: false, value: this.#filter.push(chunk.value) }
    const value = this.#filter.end()
    if (value.byteLength === 0) return chunk
    this.#hasEnded = true
    return { done: false, value }
  }

  #startBurst(): void {
    this.#reader.releaseLock()
    if (!isByteStream(this.#stream)) {
      this.#reader = this.#stream.getReader()
      this.#bursts = MAX_BURSTS
      return
    }
    const [drained, seen] = this.#stream.tee()
    this.#stream = seen
    this.#readBytes = MAX_READ_BYTES
    this.#burst = { reader: seen.getReader({ mode: "byob" }), drain: new Drain(drained) }
    this.#bursts += 1
    this.#streak = 0
  }

  #endBurst(): void {
    this.#burst?.drain.stop()
    this.#burst = undefined
    this.#streak = 0
  }
}

/**
 * Drains a branch of a tee without running JavaScript for each chunk. The platform has no sink that discards its input,
 * so the bytes are collected as a response body, which is replaced at a limit.
 */
class Drain {
  readonly #branch: ReadableStream<Uint8Array>
  #pipe: AbortController | undefined
  #isStopped = false
  #bytes = 0
  hasFailed = false

  constructor(branch: ReadableStream<Uint8Array>) {
    this.#branch = branch
    void this.#run()
  }

  /** Counts bytes returned by the other branch, which are about as many as were drained. */
  seen(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes >= MAX_DRAINED_BYTES) this.#pipe?.abort()
  }

  stop(): void {
    this.#isStopped = true
    this.#pipe?.abort()
  }

  /** Ends with the branch, or when stopped. A body from a JavaScript transform cannot be piped. */
  async #run(): Promise<void> {
    try {
      while (!this.#isStopped) await this.#collect()
      await this.#branch.cancel()
    } catch {
      this.hasFailed = true
    }
  }

  async #collect(): Promise<void> {
    const { readable, writable } = new IdentityTransformStream()
    new Response(readable).arrayBuffer().catch(() => undefined)
    const pipe = new AbortController()
    this.#pipe = pipe
    this.#bytes = 0
    try {
      await this.#branch.pipeTo(writable, { signal: pipe.signal, preventCancel: true })
      this.#isStopped = true
    } catch (cause) {
      if (!pipe.signal.aborted) throw cause
    }
  }
}

/** Whether a stream supports BYOB reads: response bodies do, streams that JavaScript enqueues to do not. */
function isByteStream(stream: ReadableStream<Uint8Array>): boolean {
  try {
    stream.getReader({ mode: "byob" }).releaseLock()
    return true
  } catch {
    return false
  }
}
