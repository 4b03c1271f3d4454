import { Buffer } from "node:buffer"
import { concat } from "../support/bytes.ts"
import { DividedKey, KeySearch } from "./divided-keys.ts"
import { encodedForms, sampleTestFor } from "./encoded-forms.ts"
import { furtherSecrets, type Provider } from "./provider.ts"

/** Shorter keys, as of local servers, also occur in ordinary text. */
const MIN_LENGTH = 12
const PLACEHOLDER = "[redacted]"
const encoder = new TextEncoder()
const placeholder = encoder.encode(PLACEHOLDER)

/** Replaces a provider's key in its responses: some servers echo the headers of a request. */
export type KeyFilter = {
  text: (text: string) => string
  /** For one stream. */
  chunks: () => ChunkFilter
  stream: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>
  /** For one stream: the keys that its events may divide. */
  divided: () => DividedKey[]
}

type ChunkFilter = {
  /** Delays the last bytes of a chunk if a key may begin there. */
  push: (chunk: Uint8Array) => Uint8Array
  /** The delayed bytes, when the stream has ended. */
  end: () => Uint8Array
}

/**
 * The filter for a key as it is sent, and in its usual encodings. Searches bytes natively, because every chunk of every
 * stream passes it. `divided` finds a key that a server divides between events, only as it is sent: servers that mean to
 * publish a key can do so anyway.
 */
export function keyFilterOf(provider: Secrets): KeyFilter | undefined {
  const known = filters.get(provider)
  if (known !== undefined) return known ?? undefined
  const secrets = [provider.apiKey?.trim() ?? "", ...furtherSecrets(provider)]
  const filter = allOf(secrets.flatMap((secret) => newFilter(secret) ?? []))
  filters.set(provider, filter ?? null)
  return filter
}

type Secrets = Pick<Provider, "apiKey" | "headers" | "query">

/** One filter for all; undefined without any. */
function allOf(all: readonly KeyFilter[]): KeyFilter | undefined {
  const [first, ...others] = all
  if (!first || others.length === 0) return first
  return {
    text: (text) => all.reduce((found, filter) => filter.text(found), text),
    chunks: () => {
      const filtering = all.map((filter) => filter.chunks())
      return {
        push: (chunk) => filtering.reduce((found, filter) => filter.push(found), chunk),
        end: () => filtering.reduce<Uint8Array>((found, filter) => concat([filter.push(found), filter.end()]), EMPTY),
      }
    },
    stream: (body) => all.reduce((filtered, filter) => filter.stream(filtered), body),
    divided: () => all.flatMap((filter) => filter.divided()),
  }
}

/** The encodings of a key cost as much as many chunks. Null for keys that are not searched. */
const filters = new WeakMap<Secrets, KeyFilter | null>()

function newFilter(key: string): KeyFilter | undefined {
  // A credential in JSON signs requests, and is not sent.
  if (key.length < MIN_LENGTH || key.startsWith("{")) return undefined
  const texts = encodedForms(key)
  const forms = texts.map((form) => Buffer.from(form))
  const needles = { key: Buffer.from(key), forms, mayContainForm: sampleTestFor(forms) }
  const search = new KeySearch(key)
  return {
    text: (text) => [key, ...texts].reduce(withoutForm, text),
    chunks: () => chunkFilterOf(needles),
    stream: (body) => body.pipeThrough(filterStream(chunkFilterOf(needles))),
    divided: () => [new DividedKey(search)],
  }
}

const withoutForm = (text: string, form: string) => (text.includes(form) ? text.replaceAll(form, PLACEHOLDER) : text)

const EMPTY = new Uint8Array(0)
const LF = 0x0a

type Needles = { key: Buffer; forms: readonly Buffer[]; mayContainForm: (bytes: Uint8Array) => boolean }

function chunkFilterOf({ key, forms, mayContainForm }: Needles): ChunkFilter {
  let delayed: Uint8Array = EMPTY
  return {
    push: (chunk) => {
      const bytes = delayed.byteLength === 0 ? chunk : concat([delayed, chunk])
      const found = mayContainForm(bytes) ? forms.reduce(withoutKey, bytes) : bytes
      const clean = withoutKey(found, key)
      // Most chunks end in a line break, with which no key begins.
      const starts = clean.at(-1) === LF ? [] : [key, ...forms].map((needle) => startOfKey(clean, needle))
      const length = Math.max(0, ...starts)
      delayed = length === 0 ? EMPTY : clean.slice(clean.byteLength - length)
      return length === 0 ? clean : clean.subarray(0, clean.byteLength - length)
    },
    end: () => {
      const last = delayed
      delayed = EMPTY
      return last
    },
  }
}

function filterStream({ push, end }: ChunkFilter): TransformStream<Uint8Array, Uint8Array> {
  const write = (bytes: Uint8Array, out: TransformStreamDefaultController<Uint8Array>) => {
    if (bytes.byteLength > 0) out.enqueue(bytes)
  }
  return new TransformStream({
    transform: (chunk, out) => write(push(chunk), out),
    flush: (out) => write(end(), out),
  })
}

/** The same bytes if the key does not occur. */
function withoutKey(bytes: Uint8Array, key: Buffer): Uint8Array {
  const parts: Uint8Array[] = []
  let rest = bytes
  for (let at = indexOf(rest, key); at !== -1; at = indexOf(rest, key)) {
    parts.push(rest.subarray(0, at), placeholder)
    rest = rest.subarray(at + key.byteLength)
  }
  return parts.length === 0 ? bytes : concat([...parts, rest])
}

/** Without a copy as a Buffer, which costs more than the search. */
const indexOf = (bytes: Uint8Array, key: Buffer): number => Buffer.prototype.indexOf.call(bytes, key)

/** The length of the longest start of a key with which the bytes end. */
function startOfKey(bytes: Uint8Array, key: Buffer): number {
  const from = Math.max(0, bytes.byteLength - key.byteLength + 1)
  for (let at = bytes.indexOf(key[0] ?? 0, from); at !== -1; at = bytes.indexOf(key[0] ?? 0, at + 1)) {
    const length = bytes.byteLength - at
    if (key.subarray(0, length).every((byte, index) => byte === bytes[at + index])) return length
  }
  return 0
}
