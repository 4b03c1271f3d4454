const EMPTY = new Uint8Array(0)
const QUOTE = 0x22
const BACKSLASH = 0x5c
const encoder = new TextEncoder()

/** Collects bytes to write them at once. */
export class ByteBuffer {
  #bytes: Uint8Array = EMPTY
  #size = 0

  get isEmpty(): boolean {
    return this.#size === 0
  }

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

  /** Appends a text as the content of a JSON string. */
  appendJson(text: string): void {
    const size = this.#size + text.length
    if (size > this.#bytes.byteLength) this.#grow(size)
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return this.#appendEncoded(text)
      this.#bytes[this.#size + at] = unit
    }
    this.#size = size
  }

  #appendEncoded(text: string): void {
    const bytes = encoder.encode(JSON.stringify(text).slice(1, -1))
    this.append(bytes, 0, bytes.byteLength)
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
