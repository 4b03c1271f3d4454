import { decodeBase64, toBase64Url } from "../../support/encoding.ts"

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+=-]+)*;base64,/i
/** Media types of text files. */
export const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|sql|x-sh|[\w.-]+\+(?:json|xml)))/i
export const URL_FIELD = /(?:^|_)ur[li]$/

type Map = (text: string) => string

/** Whether a text is a data URL with base64 bytes. */
export function isBytes(text: string): boolean {
  const [head] = DATA_URL.exec(text) ?? []
  return head !== undefined && !/[^A-Za-z0-9+/=_-]/.test(text.slice(head.length))
}

/** Maps the text of a data URL; other data URLs stay unchanged. */
export function mapDataUrl(url: string, map: Map): string {
  const [head = "", type = ""] = DATA_URL.exec(url) ?? []
  return TEXT_TYPE.test(type) ? head + mapBase64(url.slice(head.length), map) : url
}

/** Maps a text in base64; bytes that are not UTF-8 stay unchanged. */
export function mapBase64(encoded: string, map: Map): string {
  const bytes = decodeBase64(encoded)
  if (!bytes) return encoded
  const text = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes)
  const mapped = map(text)
  if (mapped === text) return encoded
  const base64 = toBase64Url(new TextEncoder().encode(mapped)).replaceAll("-", "+").replaceAll("_", "/")
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=")
}

/** Maps a URL, whose query may have escaped text. */
export function mapUrl(url: string, map: Map): string {
  const plain = map(url)
  if (plain !== url || !url.includes("%")) return plain
  const decoded = unescaped(url)
  const mapped = map(decoded)
  return mapped === decoded ? url : encodeURI(mapped)
}

function unescaped(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
