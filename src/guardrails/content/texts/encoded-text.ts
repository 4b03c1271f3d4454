import { decodeBase64, toBase64 } from "../../../support/text/encoding.ts"

/** RFC 2397, with what decoders tolerate: no type, quoted parameters, spaces. */
const DATA_URL = /^\s*data:((?:[\w.+-]+\/[\w.+-]+)?)((?:\s*;[^,]*)?),/i
const BASE64_MARK = /;\s*base64\s*$/i
const CHARSET = /;\s*charset\s*=\s*"?([\w-]+)"?/i
const BINARY = /^(?:image\/(?!svg\+xml)|audio\/|video\/|font\/|application\/pdf)/i
/** Types whose bytes may be in any encoding. */
const TEXT_TYPE =
  /^(?:text\/|image\/svg|application\/(?:json|xml|yaml|x-yaml|javascript|sql|x-sh|[\w.-]+\+(?:json|xml)))/i
export const URL_FIELD = /(?:^|_)ur[li]$/

type Map = (text: string) => string

/** Bytes of a file: `type` and `charset` as its sender states them, if at all. */
type Encoded = { type: string; charset?: string | undefined }

/** Whether a text is a data URL. */
export function isDataUrl(text: string): boolean {
  return DATA_URL.test(text)
}

const BASE64 = /^[A-Za-z0-9+/=_\s-]+$/

/** Whether a text consists of characters of base64 only. */
export function isBase64(text: string): boolean {
  return BASE64.test(text)
}

/** Maps the text of a data URL; other files stay unchanged. */
export function mapDataUrl(url: string, map: Map): string {
  const [head = "", type = "", parameters = ""] = DATA_URL.exec(url) ?? []
  const data = decodeEscapes(url.slice(head.length))
  const passedHead = map(head)
  const [charset = "", label] = CHARSET.exec(parameters) ?? []
  const isBinary = BASE64_MARK.test(parameters)
  const mapped = isBinary ? mapBase64(data, { type, charset: label }, map) : map(data)
  if (mapped === data) return passedHead === head ? url : passedHead + url.slice(head.length)
  // The mapped text is UTF-8.
  return passedHead.replace(charset, "") + (isBinary ? mapped : encodeURIComponent(mapped))
}

/** Maps a text in base64; bytes that are no text stay unchanged. */
export function mapBase64(encoded: string, file: Encoded, map: Map): string {
  const bytes = decodeBase64(encoded)
  if (!bytes) return map(encoded)
  const text = textIn(bytes, file)
  if (text === undefined) return encoded
  const mapped = map(text)
  return mapped === text ? encoded : toBase64(new TextEncoder().encode(mapped))
}

/** The text of a file; undefined for media and other binary files. */
function textIn(bytes: Uint8Array, { type, charset }: Encoded): string | undefined {
  if (BINARY.test(type)) return undefined
  const wide = wideCharsetOf(bytes)
  if (wide !== undefined) return new TextDecoder(wide).decode(bytes)
  if (TEXT_TYPE.test(type)) return decoderOf(charset).decode(bytes)
  // The types of other files are unreliable: UTF-8 without control characters counts as text.
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes("\0") ? undefined : text
  } catch {
    return undefined
  }
}

function decoderOf(charset = "utf-8"): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: false, ignoreBOM: true })
  } catch {
    return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true })
  }
}

/** UTF-16 by its byte order mark, or by the zero bytes of Latin letters. */
function wideCharsetOf(bytes: Uint8Array): string | undefined {
  const [first = 1, second = 1, third = 1, fourth = 1] = bytes
  if (first === 0xff && second === 0xfe) return "utf-16le"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return "utf-16le"
  return first === 0 && second !== 0 && third === 0 && fourth !== 0 ? "utf-16be" : undefined
}

/** Maps a URL, whose query may have escaped text. */
export function mapUrl(url: string, map: Map): string {
  const plain = map(url)
  if (plain !== url) return plain
  const decoded = decodeEscapes(url)
  const mapped = decoded === url ? url : map(decoded)
  return mapped === decoded ? url : encodeURI(mapped)
}

/** Decodes what is escaped correctly: a stray percent sign must not hide the rest. */
export function decodeEscapes(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped)
    } catch {
      return escaped
    }
  })
}
