import { GatewayError } from "../../errors/errors.ts"
import { hostRejection, isAllowedHost, isPrivateHost } from "../../outbound/address.ts"
import { isObject } from "../../support/text/json.ts"
import { vendorToolsOf } from "../../formats/tools/client-tools.ts"

/** Fields whose value, or its `url`, names a file that a provider fetches, or a server that it connects to. */
const MEDIA_FIELD = /(?:^|_)(?:image|video|audio|file|mask|reference|frame)(?:_ur[il])?s?$|^file_data$|^server_ur[il]$/
/** Fields that are text or results of earlier calls, and are never fetched. */
const NOT_FETCHED = new Set(["text", "prompt", "query", "annotations", "citations", "tool_calls"])
const MAX_DEPTH = 20
const HAS_SCHEME = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i
const MAX_URL = 65_536
/** URL parsers skip these, at the start or anywhere. */
const SKIPPED = /[\s\p{Cc}]/gu
const DATA = /^data:/i

/** Hosts that the operator allows although their addresses are private. */
export type MediaHosts = { allowedHosts: ReadonlySet<string>; privateHosts: ReadonlySet<string> }

/**
 * Throws 400 if a request names media at a private address: a provider in the operator's network would fetch it there,
 * with the rights of that network. The addresses of public names are not resolved.
 */
export function requirePublicMedia(body: object, hosts: () => MediaHosts): void {
  const rejected = findRejected(body, { path: "", isMedia: false, depth: 0 }, hosts)
  if (!rejected) return
  throw new GatewayError(
    "invalid_request",
    `${rejected.path}: ${rejected.reason}. Send the data itself, or a public https URL; WEB_FETCH_ALLOWED_HOSTS of the deployment allows other hosts.`,
  )
}

type Position = { path: string; isMedia: boolean; depth: number }
type Rejected = { path: string; reason: string }

/** The first rejected URL of a value. */
function findRejected(
  value: unknown,
  { path, isMedia, depth }: Position,
  hosts: () => MediaHosts,
): Rejected | undefined {
  if (typeof value === "string") {
    const reason = isMedia ? rejectionReason(value, hosts) : undefined
    return reason === undefined ? undefined : { path, reason }
  }
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return undefined
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const found = findRejected(element, { path: `${path}[${index}]`, isMedia, depth: depth + 1 }, hosts)
      if (found) return found
    }
    return undefined
  }
  for (const [name, inner] of Object.entries(value)) {
    if (NOT_FETCHED.has(name)) continue
    const inside: Position = {
      path: path === "" ? name : `${path}.${name}`,
      isMedia: MEDIA_FIELD.test(name) || (name === "url" && (isMedia || isUrlSource(value))),
      depth: depth + 1,
    }
    const found = findRejected(name === "tools" ? vendorToolsOf(inner) : inner, inside, hosts)
    if (found) return found
  }
  return undefined
}

/** The source of an image or a document on /messages. */
function isUrlSource(value: unknown): boolean {
  return isObject(value) && value["type"] === "url"
}

/** Undefined for data, and for identifiers and schemes that only the provider knows. */
function rejectionReason(text: string, hosts: () => MediaHosts): string | undefined {
  if (DATA.test(text)) return undefined
  const start = text.slice(0, MAX_URL).replaceAll(SKIPPED, "")
  if (!HAS_SCHEME.test(start)) return undefined
  const url = URL.parse(text, "https://media.example")
  if (!url) return /^(?:https?:|\/\/)/i.test(start) ? "it is not a valid URL" : undefined
  if (url.protocol === "file:") return "file URLs are not forwarded"
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined
  // Other parsers read another host in these.
  if (/[\s\p{Cc}\\]/u.test(text)) return "it has spaces, control characters or backslashes"
  const reason = hostRejection(url)
  if (reason === undefined) return undefined
  const { allowedHosts, privateHosts } = hosts()
  return isAllowedHost(url, allowedHosts) || isPrivateHost(url, privateHosts) ? undefined : reason
}
