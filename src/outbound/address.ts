import ipaddr from "ipaddr.js"

/** Hostnames that only resolve inside a network. */
const INTERNAL_NAMES = "localhost localdomain local internal private home home.arpa lan intranet corp svc consul".split(
  " ",
)

/** Public by number, but internal to a cloud: Azure's platform services. */
const CLOUD_ADDRESSES = new Set(["168.63.129.16"])

/** Other IPv6 ranges are not allocated for public use. */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number]

/** Whether an IP address, in any spelling, is public. Addresses that cannot be parsed are not. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  // `process` converts a v4-mapped address to its IPv4 address.
  const address = ipaddr.process(text)
  if (address.range() !== "unicast" || CLOUD_ADDRESSES.has(address.toString())) return false
  return address.kind() === "ipv4" || (address as ipaddr.IPv6).match(GLOBAL_UNICAST)
}

/** A host in canonical form: lower case, without the trailing dot. */
export function toHost(hostname: string): string {
  return hostname.toLowerCase().replace(/\.+$/, "")
}

/**
 * Whether the operator's list contains this host, with this port or, for the default port of the scheme, without one.
 */
export function isAllowedHost(url: URL, allowedHosts: ReadonlySet<string>): boolean {
  return isListed(url, allowedHosts) || (url.port === "" && allowedHosts.has(toHost(url.hostname)))
}

/** Whether the operator allowed this host; an entry without a port allows all ports. */
export function isPrivateHost(url: URL, privateHosts: ReadonlySet<string>): boolean {
  return isListed(url, privateHosts) || privateHosts.has(toHost(url.hostname))
}

function isListed(url: URL, hosts: ReadonlySet<string>): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80")
  return hosts.has(`${toHost(url.hostname)}:${port}`)
}

/** Why a URL is rejected by its text; undefined if it is accepted. */
export function urlRejection(url: URL): string | undefined {
  return url.port === "" ? hostRejection(url) : "only the default ports of http and https are allowed"
}

/** Why a host is rejected; undefined if it is accepted. */
export function hostRejection(url: URL): string | undefined {
  const host = toHost(url.hostname)
  const literal = toLiteral(host)
  if (literal !== undefined) return isPublicAddress(literal) ? undefined : NOT_PUBLIC
  if (!host.includes(".") || INTERNAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`))) {
    return NOT_PUBLIC
  }
  return undefined
}

export const NOT_PUBLIC = "the address is not a public one"

/** The IP address if the host is one. `URL` has normalized every spelling of IPv4. */
export function toLiteral(host: string): string | undefined {
  if (host.startsWith("[")) return host.slice(1, -1)
  return ipaddr.IPv4.isValid(host) ? host : undefined
}
