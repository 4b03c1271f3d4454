import { wait } from "../../support/time/time.ts"

/** `push` may return fewer bytes than it takes, and `end` returns the rest. */
type ChunkFilter = { push: (chunk: Uint8Array) => Uint8Array; end: () => Uint8Array }

/** Reads within this interval form a burst. During a burst, reads are paced at this interval. */
const PACE_MS = 8
/** Number of consecutive quick reads that form a burst: a few chunks at a time are common in slow streams. */
const BURST_READS = 6
/** Number of consecutive reads that had to wait, or returned one chunk, after which a burst ends: it saves nothing. */
const SLOW_READS = 8
/** A pending read holds its buffer, so the buffer size follows the size of the last read. */
const MIN_READ_BYTES = 4 * 1024
const MAX_READ_BYTES = 64 * 1024
/** Each burst adds a tee to the stream. 64 nested tees measure like one. */
const MAX_BURSTS = 64
/** A drain keeps its bytes in memory until the burst ends. */
const MAX_DRAINED_BYTES = 1024 * 1024

type Chunk = ReadableStreamReadResult<Uint8Array>

/**
 * Reads a response body chunk by chunk while chunks arrive slowly, and coalesced in a burst, in which a read costs more
 * than its bytes: the platform drains one branch of a tee, so that chunks queue up in the other branch, from which one
 * read every 8 ms takes everything. A slow stream has no delay, and a burst at most 8 ms.
 *
 * A tee has no backpressure, so a burst ends at a size limit, and `pause` must be called before the caller stops reading
 * for a slow client. The bytes that were read ahead are then taken with large reads: each copies the rest.
 */
export class PacedReader {
  #stream: ReadableStream<Uint8Array>
  /** Until the first burst. */
  #chunks: ReadableStreamDefaultReader<Uint8Array> | undefined
  /** From the first burst on: it takes all chunks that have arrived. */
  #bytes: ReadableStreamBYOBReader | undefined
  /** During a burst. */
  #drain: Drain | undefined
  #bursts = 0
  #streak = 0
  #isFull = false
  #readBytes = MAX_READ_BYTES
  /** Size of the last chunk outside a burst. */
  #chunkBytes = 0
  #lastReadAt = 0
  #unread: Uint8Array | undefined
  readonly #filter: ChunkFilter | undefined
  #hasEnded = false

  /** `filter` changes the chunks that `read` returns. */
  constructor(stream: ReadableStream<Uint8Array>, filter?: ChunkFilter) {
    this.#stream = stream
    this.#filter = filter
    this.#chunks = stream.getReader()
  }

  /** Rejects when the connection breaks. One read at a time. */
  async read(): Promise<Chunk> {
    if (this.#unread) {
      const value = this.#unread
      this.#unread = undefined
      return { done: false, value }
    }
    if (this.#hasEnded) return { done: true, value: undefined }
    const chunk = await (this.#drain ? this.#readBurst(this.#drain) : this.#readChunk())
    if (!this.#filter) return chunk
    if (!chunk.done) return { done: false, value: this.#filter.push(chunk.value) }
    this.#hasEnded = true
    const value = this.#filter.end()
    return value.byteLength === 0 ? chunk : { done: false, value }
  }

  /** Returns a chunk, which the next `read` returns again. */
  unread(chunk: Uint8Array): void {
    this.#unread = chunk
  }

  /** Stops reading ahead until the next burst. */
  pause(): void {
    this.#drain?.stop()
    this.#drain = undefined
    this.#streak = 0
  }

  /** Closes the connection. */
  cancel(): void {
    this.#drain?.stop()
    void (this.#chunks ?? this.#bytes)?.cancel().catch(() => undefined)
  }

  async #readChunk(): Promise<Chunk> {
    const chunk = await this.#next()
    const now = Date.now()
    this.#streak = now - this.#lastReadAt < PACE_MS && !this.#isFull ? this.#streak + 1 : 0
    this.#lastReadAt = now
    this.#chunkBytes = chunk.value?.byteLength ?? 0
    if (!chunk.done && this.#streak >= BURST_READS) this.#startBurst()
    return chunk
  }

  async #readBurst(drain: Drain): Promise<Chunk> {
    if (drain.hasFailed) {
      this.#bursts = MAX_BURSTS
      this.pause()
      return this.#readChunk()
    }
    const rest = PACE_MS - (Date.now() - this.#lastReadAt)
    if (rest > 0 && !this.#isFull) await wait(rest)
    const startedAt = Date.now()
    const chunk = await this.#next()
    this.#lastReadAt = Date.now()
    const size = chunk.value?.byteLength ?? 0
    const isOneChunk = size <= this.#chunkBytes
    this.#streak = isOneChunk || this.#lastReadAt > startedAt ? this.#streak + 1 : 0
    drain.bytes += size
    if (!isOneChunk) drain.isUseful = true
    if (chunk.done) this.pause()
    else if (this.#streak >= SLOW_READS) {
      // A source that writes the next chunk when the last was read has nothing to drain.
      if (!drain.isUseful && this.#lastReadAt === startedAt) this.#bursts = MAX_BURSTS
      this.pause()
    } else if (drain.bytes >= MAX_DRAINED_BYTES) {
      this.pause()
      // The bytes that were read ahead come first.
      if (!this.#isFull) this.#startBurst()
    }
    return chunk
  }

  async #next(): Promise<Chunk> {
    if (!this.#bytes) return this.#chunks?.read() ?? { done: true, value: undefined }
    const chunk = await this.#bytes.read(new Uint8Array(this.#readBytes))
    const size = chunk.value?.byteLength ?? 0
    this.#isFull = size === this.#readBytes
    this.#readBytes = Math.min(MAX_READ_BYTES, Math.max(MIN_READ_BYTES, 4 * size))
    return chunk
  }

  #startBurst(): void {
    if (this.#bursts >= MAX_BURSTS) return
    this.#chunks?.releaseLock()
    this.#bytes?.releaseLock()
    if (!isByteStream(this.#stream)) {
      this.#chunks = this.#stream.getReader()
      this.#bursts = MAX_BURSTS
      return
    }
    const [drained, seen] = this.#stream.tee()
    this.#stream = seen
    this.#readBytes = MAX_READ_BYTES
    this.#chunks = undefined
    this.#bytes = seen.getReader({ mode: "byob" })
    this.#drain = new Drain(drained)
    this.#bursts += 1
    this.#streak = 0
  }
}

/**
 * Drains a branch of a tee without running JavaScript for each chunk. The platform has no sink that discards its input,
 * so the bytes are collected as a response body. Once stopped it cannot continue: an aborted pipe breaks its source.
 */
class Drain {
  readonly #pipe = new AbortController()
  /** Bytes read from the other branch, which are about as many as were drained. */
  bytes = 0
  /** True once a read returned several chunks. */
  isUseful = false
  hasFailed = false

  constructor(branch: ReadableStream<Uint8Array>) {
    const { readable, writable } = new IdentityTransformStream()
    new Response(readable).arrayBuffer().catch(() => undefined)
    // A body from a JavaScript transform cannot be piped.
    branch.pipeTo(writable, { signal: this.#pipe.signal }).catch(() => {
      this.hasFailed = !this.#pipe.signal.aborted
    })
  }

  stop(): void {
    this.#pipe.abort()
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
