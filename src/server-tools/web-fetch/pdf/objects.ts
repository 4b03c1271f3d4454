import { type Dict, PdfError, Reader, Ref, toBytes, toText, type Value } from "./syntax.ts"

/** Decoded bytes of a complete file: object streams, page contents and font tables. */
export const MAX_DECODED_BYTES = 8_000_000
const MAX_OBJECTS = 200_000
const MAX_FILTERS = 3
const MAX_HOPS = 20

type TextPosition = { text: string; at: number }

/**
 * Objects of a file, found by scanning it, because the cross-reference table may be wrong. The last definition of a
 * number wins.
 */
export class PdfObjects {
  readonly #text: string
  readonly #places = new Map<number, TextPosition>()
  readonly #values = new Map<number, Value>()
  readonly #streams = new Map<number, string>()
  readonly #counted = { values: 0, characters: 0 }
  decodedBytes = 0
  root: Value | undefined

  private constructor(text: string) {
    this.#text = text
  }

  static async parse(bytes: Uint8Array): Promise<PdfObjects> {
    const text = toText(bytes)
    if (/\/Encrypt\s*(?:\d+\s+\d+\s+R|<<)/.test(text)) throw new PdfError("encrypted")
    const objects = new PdfObjects(text)
    await objects.#find()
    return objects
  }

  get byteLength(): number {
    return this.#text.length
  }

  get(value: Value | undefined): Value | undefined {
    let found = value
    for (let hop = 0; found instanceof Ref && hop < MAX_HOPS; hop++) found = this.#object(found.id)
    return found instanceof Ref ? undefined : found
  }

  dict(value: Value | undefined): Dict | undefined {
    const found = this.get(value)
    return found instanceof Map ? found : undefined
  }

  number(value: Value | undefined): number {
    const found = this.get(value)
    return typeof found === "string" ? Number(found) : Number.NaN
  }

  #object(id: number): Value | undefined {
    const cached = this.#values.get(id)
    const scope = this.#places.get(id)
    if (cached !== undefined || !scope) return cached
    const value = new Reader(scope.text, scope.at, this.#counted).value()
    this.#values.set(id, value)
    return value
  }

  async #find(): Promise<void> {
    const mark = /(\d{1,9})[\s\0]+\d{1,5}[\s\0]+obj\b|\bstream\r?\n/g
    const text = this.#text
    const packed = new Set<number>()
    let last = -1
    for (let match = mark.exec(text); match; match = mark.exec(text)) {
      if (match[1] !== undefined) {
        last = Number(match[1])
        this.#places.set(last, { text, at: mark.lastIndex })
        if (this.#places.size > MAX_OBJECTS) throw new PdfError("too large")
        continue
      }
      const head = this.#places.get(last)
      if (head && text.slice(head.at, match.index).includes("/ObjStm")) packed.add(last)
      // An object has one stream. Its text is not searched again for another one.
      last = -1
      const end = text.indexOf("endstream", mark.lastIndex)
      if (end === -1) break
      mark.lastIndex = end
    }
    for (const id of packed) await this.#unpack(id)
    this.#findRoot()
  }

  #findRoot(): void {
    const roots = [...this.#text.matchAll(/\/Root[\s\0]+(\d{1,9})[\s\0]+\d{1,5}[\s\0]+R/g)].slice(-20)
    for (const [, id] of roots.toReversed()) {
      const root = this.dict(new Ref(Number(id)))
      if (root?.has("Pages")) {
        this.root = root
        return
      }
    }
    throw new PdfError("broken")
  }

  /** Objects in an object stream. Those with a number that the file itself defines are ignored. */
  async #unpack(id: number): Promise<void> {
    const dict = this.dict(new Ref(id))
    if (dict?.get("Type") !== "/ObjStm") return
    const text = await this.stream(new Ref(id))
    const [count, first] = [this.number(dict.get("N")), this.number(dict.get("First"))]
    if (text === undefined || !(count > 0) || !(first > 0)) return
    const head = text
      .slice(0, first)
      .trim()
      .split(/[\s\0]+/, 2 * Math.min(count, MAX_OBJECTS))
    for (let at = 0; at + 1 < head.length; at += 2) {
      this.#places.set(Number(head[at]), { text, at: first + Number(head[at + 1]) })
      if (this.#places.size > MAX_OBJECTS) throw new PdfError("too large")
    }
  }

  /** Decodes a stream; undefined if the value is none or uses an unsupported filter. */
  async stream(value: Value | undefined): Promise<string | undefined> {
    if (!(value instanceof Ref)) return undefined
    const cached = this.#streams.get(value.id)
    if (cached !== undefined) return cached
    const raw = this.#raw(value.id)
    const dict = this.dict(value)
    if (!raw || !dict) return undefined
    const text = await this.#decode(raw, dict)
    if (text !== undefined) this.#streams.set(value.id, text)
    return text
  }

  #raw(id: number): Uint8Array | undefined {
    const scope = this.#places.get(id)
    if (!scope || scope.text !== this.#text) return undefined
    const reader = new Reader(scope.text, scope.at, this.#counted)
    const dict = reader.value()
    if (!(dict instanceof Map)) return undefined
    const start = /[\s\0]*stream\r?\n/y
    start.lastIndex = reader.at
    if (!start.test(this.#text)) return undefined
    const length = this.number(dict.get("Length"))
    const from = start.lastIndex
    const stated = /[\s\0]*endstream/y
    stated.lastIndex = from + length
    const isTrue = length >= 0 && stated.test(this.#text)
    const end = isTrue ? from + length : this.#text.indexOf("endstream", from)
    return end === -1 ? undefined : toBytes(this.#text.slice(from, end))
  }

  async #decode(raw: Uint8Array, dict: Dict): Promise<string | undefined> {
    const filter = this.get(dict.get("Filter") ?? dict.get("F"))
    const filters = filter === undefined ? [] : Array.isArray(filter) ? filter.map((one) => this.get(one)) : [filter]
    if (filters.length > MAX_FILTERS) throw new PdfError("too large")
    // Predictors are for images; text does not use them.
    if (
      dict.has("DecodeParms") &&
      /\/Predictor\s+(?!1\b)/.test(JSON.stringify([...(this.dict(dict.get("DecodeParms")) ?? [])].flat()))
    ) {
      return undefined
    }
    let bytes = raw
    for (const filterName of filters) {
      const decoder = typeof filterName === "string" ? DECODERS[filterName] : undefined
      if (!decoder) return undefined
      bytes = await decoder(bytes, MAX_DECODED_BYTES - this.decodedBytes)
    }
    this.decodedBytes += bytes.length
    if (this.decodedBytes > MAX_DECODED_BYTES) throw new PdfError("too large")
    return toText(bytes)
  }
}

type Decoder = (bytes: Uint8Array, maxBytes: number) => Promise<Uint8Array>

const DECODERS: Readonly<Record<string, Decoder>> = {
  "/FlateDecode": inflate,
  "/Fl": inflate,
  "/ASCIIHexDecode": async (bytes) => fromHex(bytes),
  "/AHx": async (bytes) => fromHex(bytes),
  "/ASCII85Decode": async (bytes, maxBytes) => from85(bytes, maxBytes),
  "/A85": async (bytes, maxBytes) => from85(bytes, maxBytes),
}

/** Data before a fault is kept: many files are truncated. */
async function inflate(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const stream = new DecompressionStream("deflate")
  const writer = stream.writable.getWriter()
  void writer
    .write(bytes as Uint8Array<ArrayBuffer>)
    .then(() => writer.close())
    .catch(() => undefined)
  const reader = stream.readable.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      chunks.push(value)
      length += value.length
      if (length > maxBytes) throw new PdfError("too large")
    }
  } catch (thrown) {
    if (thrown instanceof PdfError) {
      await reader.cancel().catch(() => undefined)
      throw thrown
    }
  }
  const all = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

function fromHex(bytes: Uint8Array): Uint8Array {
  const digits =
    toText(bytes)
      .split(">", 1)[0]
      ?.replaceAll(/[^0-9A-Fa-f]/g, "") ?? ""
  return Uint8Array.from({ length: Math.ceil(digits.length / 2) }, (_, at) =>
    Number.parseInt(digits.slice(at * 2, at * 2 + 2).padEnd(2, "0"), 16),
  )
}

/** One byte of it can stand for four. */
function from85(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const out = new Uint8Array(Math.min(bytes.length * 4, Math.max(0, maxBytes)))
  let length = 0
  let group: number[] = []
  const flush = (size: number) => {
    if (length + size > out.length) throw new PdfError("too large")
    const value = group.reduce((sum, one) => sum * 85 + one, 0)
    for (let byte = 0; byte < size; byte++) out[length++] = Math.floor(value / 256 ** (3 - byte)) & 0xff
    group = []
  }
  for (const code of bytes) {
    if (code === 126) break
    if (code === 122 && group.length === 0) flush(4)
    else if (code >= 33 && code <= 117) {
      group.push(code - 33)
      if (group.length === 5) flush(4)
    }
  }
  const size = group.length - 1
  while (size > 0 && group.length < 5) group.push(84)
  if (size > 0) flush(size)
  return out.slice(0, length)
}
