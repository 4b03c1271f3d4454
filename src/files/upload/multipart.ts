import { GatewayError } from "../../errors/errors.ts"
import { concat } from "../../support/bytes.ts"

/** One file of a `multipart/form-data` body as a stream. `fields`: the other fields by name, once the file is read. */
export type FilePart = {
  filename: string
  content: AsyncIterable<Uint8Array>
  fields: () => Promise<ReadonlyMap<string, string>>
}

const MAX_HEAD_BYTES = 16_384
const MAX_FIELD_BYTES = 1_024
/** Fields before and after the file that are read. */
const MAX_FIELDS = 16
const CR = 13
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function boundaryOf(contentType: string): string | undefined {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? []
  return quoted ?? plain
}

/** The part named `file`; undefined if the body has none. Other files before it are skipped. */
export async function readFilePart(body: ReadableStream<Uint8Array>, boundary: string): Promise<FilePart | undefined> {
  const source = new Source(body)
  // Every boundary but the first follows a line end; an added one makes the first equal.
  source.unread(encoder.encode("\r\n"))
  const delimiter = encoder.encode(`\r\n--${boundary}`)
  const fields = new Map<string, string>()
  for await (const _ of source.until(delimiter));
  for (;;) {
    const head = await readHead(source)
    if (!head) return undefined
    const { name, filename } = head
    if (name === "file" && filename !== undefined) {
      const all = () => readFields(source, delimiter, fields)
      return { filename, content: source.until(delimiter, true), fields: all }
    }
    const isField = name !== undefined && filename === undefined && fields.size < MAX_FIELDS
    const text = isField ? await source.take(delimiter, MAX_FIELD_BYTES) : undefined
    if (isField && text !== undefined) fields.set(name, text)
    else for await (const _ of source.until(delimiter));
  }
}

/** The form with a text field at its end, unless the client sent one of this name. Throws if the form is incomplete. */
export async function* withField(
  body: ReadableStream<Uint8Array>,
  boundary: string,
  { name, value }: { name: string; value: string },
): AsyncGenerator<Uint8Array> {
  const source = new Source(body)
  source.unread(encoder.encode("\r\n"))
  const delimiter = encoder.encode(`\r\n--${boundary}`)
  for await (const _ of source.until(delimiter));
  let hasField = false
  for (;;) {
    if (await source.startsWith("--")) break
    const head = source.isEnded ? undefined : await source.take(encoder.encode("\r\n\r\n"), MAX_HEAD_BYTES)
    if (head === undefined) throw new GatewayError("invalid_request", "file: the form data is incomplete.")
    hasField ||= toPartHead(head).name === name
    yield encoder.encode(`--${boundary}${head}\r\n\r\n`)
    yield* source.until(delimiter, true)
    yield encoder.encode("\r\n")
  }
  const field = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  yield encoder.encode(`${hasField ? "" : field}--${boundary}--\r\n`)
}

type PartHead = { name: string | undefined; filename: string | undefined }

/** The headers of the part after a delimiter; undefined at the end of the form. */
async function readHead(source: Source): Promise<PartHead | undefined> {
  // The closing boundary has no headers.
  if (source.isEnded || (await source.startsWith("--"))) return undefined
  const head = await source.take(encoder.encode("\r\n\r\n"), MAX_HEAD_BYTES)
  return head === undefined ? undefined : toPartHead(head)
}

function toPartHead(head: string): PartHead {
  const disposition = /^content-disposition:[^\r\n]*$/im.exec(head)?.[0] ?? ""
  const [, name] = /[;\s]name="?([^";\r\n]*)"?/i.exec(disposition) ?? []
  return { name, filename: filenameIn(disposition) }
}

/** Adds the fields after the file, where some clients send all of them. */
async function readFields(
  source: Source,
  delimiter: Uint8Array,
  fields: Map<string, string>,
): Promise<ReadonlyMap<string, string>> {
  for (let read = 0; read < MAX_FIELDS; read++) {
    const head = await readHead(source)
    const text = head && (await source.take(delimiter, MAX_FIELD_BYTES))
    if (text === undefined) break
    if (head?.name !== undefined && head.filename === undefined && !fields.has(head.name)) fields.set(head.name, text)
  }
  return fields
}

const FILENAME = /[;\s]filename(?:="((?:[^"\\]|\\.)*)"|=([^\s;"]+))/i
/** RFC 5987. Not allowed in forms, but some clients send it, with or without the plain parameter. */
const EXTENDED = /[;\s]filename\*=UTF-8'[\w-]*'([^\s;"]+)/i

function filenameIn(disposition: string): string | undefined {
  const [, extended] = EXTENDED.exec(disposition) ?? []
  if (extended !== undefined)
    return new URLSearchParams(`name=${extended.replaceAll(/[+&]/g, escape)}`).get("name") ?? ""
  const [, quoted, plain] = FILENAME.exec(disposition) ?? []
  return quoted ?? plain
}

const escape = (char: string) => `%${char.charCodeAt(0).toString(16)}`

class Source {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  #rest: Uint8Array = new Uint8Array()
  isEnded = false

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  unread(bytes: Uint8Array): void {
    this.#rest = concat([bytes, this.#rest])
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#reader.read()
    if (done) {
      this.isEnded = true
      return false
    }
    this.#rest = this.#rest.byteLength === 0 ? value : concat([this.#rest, value])
    return true
  }

  async startsWith(text: string): Promise<boolean> {
    while (this.#rest.byteLength < text.length && (await this.#more()));
    return decoder.decode(this.#rest.subarray(0, text.length)) === text
  }

  /** All bytes up to the delimiter, which is skipped. */
  async *until(delimiter: Uint8Array, mustEnd = false): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = indexOf(this.#rest, delimiter)
      if (at >= 0) {
        if (at > 0) yield this.#rest.subarray(0, at)
        this.#rest = this.#rest.subarray(at + delimiter.byteLength)
        return
      }
      // The last bytes may be the start of a delimiter.
      const sure = this.#rest.byteLength - delimiter.byteLength + 1
      if (sure > 0) {
        yield this.#rest.subarray(0, sure)
        this.#rest = this.#rest.subarray(sure)
      }
      if (await this.#more()) continue
      if (mustEnd) throw new GatewayError("invalid_request", "file: the form data is incomplete.")
      return
    }
  }

  /** The text up to the delimiter, which is skipped; undefined if it is longer than `maxBytes`. */
  async take(delimiter: Uint8Array, maxBytes: number): Promise<string | undefined> {
    for (;;) {
      const at = indexOf(this.#rest, delimiter)
      if (at >= 0) {
        const text = decoder.decode(this.#rest.subarray(0, at))
        this.#rest = this.#rest.subarray(at + delimiter.byteLength)
        return text
      }
      if (this.#rest.byteLength > maxBytes || !(await this.#more())) return undefined
    }
  }
}

/** Delimiters begin with CR, which the native indexOf finds. */
function indexOf(bytes: Uint8Array, delimiter: Uint8Array): number {
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1)) {
    if (at + delimiter.byteLength > bytes.byteLength) return -1
    let matched = 1
    while (matched < delimiter.byteLength && bytes[at + matched] === delimiter[matched]) matched++
    if (matched === delimiter.byteLength) return at
  }
  return -1
}
