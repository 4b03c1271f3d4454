import { hostRejection, NOT_PUBLIC } from "../outbound/address.ts"
import { decodeBase64 } from "../support/text/encoding.ts"
import { toBoundHost } from "./hosts.ts"
import type { ReleasedSecret } from "./secret.ts"

/**
 * Rules for the release of secrets: an agent sends placeholders, and the trusted hop replaces them with values only in
 * headers of requests to the secret's hosts, over https on port 443. Pure, so that all hops share the rules.
 */

export type Outgoing = { url: URL; headers: readonly (readonly [string, string])[] }

export type Egress =
  | { ok: true; headers: [string, string][]; released: string[] }
  /** `misdirected`: the connection's host differs from the requested one (HTTP 421). */
  | { ok: false; reason: string; misdirected?: true }

/** Whether the URL's host is not textually an internal address of a machine, network or cloud. */
export function isPublicTarget(url: URL): boolean {
  return hostRejection(url) === undefined
}

/** The request with values inserted, or why it is rejected. */
export function decideEgress({ url, headers }: Outgoing, secrets: readonly ReleasedSecret[]): Egress {
  if (url.protocol !== "https:" && url.protocol !== "http:") return reject("Only http and https requests are sent.")
  if (!isPublicTarget(url)) return reject(`It is not sent: ${NOT_PUBLIC}.`)
  if (isMisdirected(url, headers)) return { ok: false, reason: MISDIRECTED, misdirected: true }
  if (url.protocol === "http:") {
    const names = secrets.filter(({ placeholder }) => mentions(placeholder, url, headers)).map(({ name }) => name)
    if (names.length > 0) return reject(`The secret ${names[0]} is sent over https only.`)
  }
  return release({ url, headers }, boundTo(url, secrets))
}

export const MISDIRECTED = "The Host header names another host than the one that was connected to."

/** Whether the Host header names another host than the URL. */
export function isMisdirected(url: URL, headers: Outgoing["headers"]): boolean {
  const hostHeader = headers.find(([name]) => name.toLowerCase() === "host")?.[1]
  return hostHeader !== undefined && !isHostOf(hostHeader, url)
}

/** The secrets with the host of this URL. */
export function boundTo<T extends { hosts: readonly string[] }>(url: URL, secrets: readonly T[]): T[] {
  // The URL parser omits the default port of the scheme.
  if (url.protocol !== "https:" || url.port !== "") return []
  const host = toBoundHost(url)
  return secrets.filter(({ hosts }) => hosts.includes(host))
}

function reject(reason: string): Egress {
  return { ok: false, reason }
}

function isHostOf(header: string, url: URL): boolean {
  const hostUrl = URL.parse(`${url.protocol}//${header}`)
  return hostUrl !== null && toBoundHost(hostUrl) === toBoundHost(url) && hostUrl.port === url.port
}

function mentions(placeholder: string, url: URL, headers: Outgoing["headers"]): boolean {
  const isIn = ([, value]: readonly [string, string]) =>
    value.includes(placeholder) || (basicOf(value)?.includes(placeholder) ?? false)
  return url.href.includes(placeholder) || headers.some(isIn)
}

function release({ headers }: Outgoing, bound: readonly ReleasedSecret[]): Egress {
  const byPlaceholder = new Map(bound.map((secret) => [secret.placeholder, secret]))
  // One pass, so that inserted values are not scanned. Placeholders need no escaping in a pattern.
  const anyOf = byPlaceholder.size === 0 ? undefined : new RegExp([...byPlaceholder.keys()].join("|"), "g")
  const released = new Set<string>()
  const swap = (text: string, write: (value: string) => string) =>
    anyOf === undefined
      ? text
      : text.replace(anyOf, (placeholder) => {
          const { name, value } = byPlaceholder.get(placeholder) as ReleasedSecret
          released.add(name)
          return write(value)
        })
  const sent: [string, string][] = []
  for (const [name, text] of headers) {
    const basic = basicOf(text)
    const credentials = basic && swap(basic, toBinary)
    // If the decoded credentials contain no placeholder, the encoded text may be one.
    if (credentials !== basic) {
      sent.push([name, `Basic ${btoa(credentials ?? "")}`])
      continue
    }
    const swapped = swap(text, (value) => value)
    if (swapped !== text && !FITS_A_HEADER.test(swapped)) {
      const [invalid = ""] = bound.filter(({ value }) => !FITS_A_HEADER.test(value)).map((secret) => secret.name)
      return reject(`The secret ${invalid} cannot be a header: it must be printable ASCII on one line.`)
    }
    sent.push([name, swapped])
  }
  return { ok: true, headers: sent, released: [...released] }
}

/** A line break in a value would inject a header. */
const FITS_A_HEADER = /^[\t\x20-\x7e]*$/
const BASIC = /^Basic +([A-Za-z0-9+/_=-]+) *$/i

/** The user and password of Basic credentials, one character per byte. */
function basicOf(header: string): string | undefined {
  const bytes = decodeBase64(BASIC.exec(header)?.[1] ?? "")
  return bytes && bytes.byteLength > 0 ? fromBytes(bytes) : undefined
}

const encoder = new TextEncoder()

/** One character per UTF-8 byte, as `btoa` requires. */
function toBinary(text: string): string {
  return fromBytes(encoder.encode(text))
}

function fromBytes(bytes: Uint8Array): string {
  let binary = ""
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return binary
}
