/** A PDF value: anything but an array, dictionary or reference stays in its source text. */
export type Value = string | Value[] | Dict | Ref
export type Dict = Map<string, Value>
export class Ref {
  readonly id: number
  constructor(id: number) {
    this.id = id
  }
}

/** The file cannot be read or exceeds a limit. */
export class PdfError extends Error {
  override readonly name = "PdfError"
  readonly reason: "broken" | "encrypted" | "too large"
  constructor(reason: "broken" | "encrypted" | "too large") {
    super(reason)
    this.reason = reason
  }
}

const MAX_DEPTH = 50
/** Values in a complete file, counted as they are read. */
const MAX_VALUES = 300_000
/** Characters that are read as values. Those of a value without an end are read again for every value before it. */
const MAX_CHARACTERS = 50_000_000

type Counted = { values: number; characters: number }

export const isWhite = (code: number) =>
  code === 32 || code === 10 || code === 13 || code === 9 || code === 12 || code === 0
export const isDelimiter = (code: number) =>
  // ( ) < > [ ] { } / %
  code === 40 ||
  code === 41 ||
  code === 60 ||
  code === 62 ||
  code === 91 ||
  code === 93 ||
  code === 123 ||
  code === 125 ||
  code === 47 ||
  code === 37

/** Reads values from text in which each character is one byte. */
export class Reader {
  readonly text: string
  readonly #counted: Counted
  at: number

  constructor(text: string, at: number, counted: Counted) {
    this.text = text
    this.at = at
    this.#counted = counted
  }

  value(depth = 0): Value {
    if (depth > MAX_DEPTH || ++this.#counted.values > MAX_VALUES) throw new PdfError("too large")
    this.skip()
    const code = this.text.charCodeAt(this.at)
    if (code === 91) return this.#list(depth)
    if (code === 60 && this.text.charCodeAt(this.at + 1) === 60) return this.#dict(depth)
    const atom = this.#atom()
    if (!/^\d{1,9}$/.test(atom)) return atom
    const reference = /[\s\0]+\d{1,5}[\s\0]+R(?![\w.])/y
    reference.lastIndex = this.at
    const match = reference.exec(this.text)
    if (!match) return atom
    this.at = reference.lastIndex
    return new Ref(Number(atom))
  }

  #list(depth: number): Value[] {
    this.at++
    const list: Value[] = []
    for (;;) {
      this.skip()
      if (this.text.charCodeAt(this.at) === 93) {
        this.at++
        return list
      }
      list.push(this.value(depth + 1))
    }
  }

  #dict(depth: number): Dict {
    this.at += 2
    const dict: Dict = new Map()
    for (;;) {
      this.skip()
      if (this.text.startsWith(">>", this.at)) {
        this.at += 2
        return dict
      }
      const key = this.#atom()
      if (!key.startsWith("/")) throw new PdfError("broken")
      dict.set(key.slice(1), this.value(depth + 1))
    }
  }

  #atom(): string {
    const start = this.at
    this.at = atomEnd(this.text, start)
    this.#count(this.at - start)
    if (this.at <= start) throw new PdfError("broken")
    return this.text.slice(start, this.at)
  }

  /** White space and comments. */
  skip(): void {
    const start = this.at
    this.at = skipWhite(this.text, start)
    this.#count(this.at - start)
    if (this.at >= this.text.length) throw new PdfError("broken")
  }

  #count(characters: number): void {
    this.#counted.characters += characters
    if (this.#counted.characters > MAX_CHARACTERS) throw new PdfError("too large")
  }
}

export function skipWhite(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 37) {
      while (at < text.length && text.charCodeAt(at) !== 10 && text.charCodeAt(at) !== 13) at++
    } else if (!isWhite(code)) break
  }
  return at
}

/** The end of a name, string, number or keyword. */
export function atomEnd(text: string, from: number): number {
  const code = text.charCodeAt(from)
  if (code === 40) return stringEnd(text, from)
  if (code === 60) {
    const end = text.indexOf(">", from)
    return end === -1 ? text.length : end + 1
  }
  let at = code === 47 ? from + 1 : from
  while (at < text.length && !isWhite(text.charCodeAt(at)) && !isDelimiter(text.charCodeAt(at))) at++
  return at
}

function stringEnd(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 92) at++
    else if (code === 40) depth++
    else if (code === 41 && --depth === 0) return at + 1
  }
  return text.length
}

export function write(value: Value): string {
  if (typeof value === "string") return value
  if (value instanceof Ref) return `${value.id} 0 R`
  if (Array.isArray(value)) return `[${value.map(write).join(" ")}]`
  return `<<${[...value].map(([key, inner]) => `/${key} ${write(inner)}`).join(" ")}>>`
}

/** Bytes as text with one character per byte. */
export function toText(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 8_192) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)))
  return parts.join("")
}

export function toBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}
