const EMPTY = new Uint8Array(0)

/** Collects bytes to write them at once. */
export class ByteBuffer {
  #bytes: Uint8Array = EMPTY
  #size = 0

  /** Appends `bytes` from `start` to `end`. */
  append(bytes: Uint8Array, start: number, end: number): void {
    const size = this.#size + end - start
    if (size > this.#bytes.byteLength) this.#grow(size)
    // A native call costs more than copying a few bytes.
    if (end - start < 24)
      for (let at = start, to = this.#size; at < end; at += 1, to += 1) this.#bytes[to] = bytes[at] ?? 0
    else this.#bytes.set(start === 0 && end === bytes.byteLength ? bytes : bytes.subarray(start, end), this.#size)
    this.#size = size
  }

  /** Returns what was appended since the last call. The memory belongs to the caller. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#size)
    this.#bytes = EMPTY
    this.#size = 0
    return bytes
  }

  #grow(size: number): void {
    const larger = new Uint8Array(Math.max(512, size * 2))
    larger.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = larger
  }
}
