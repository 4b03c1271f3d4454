/** A hostname in its canonical spelling, or why it is invalid. */
export type HostReading = { host: string } | { fault: string }

export const MAX_HOST_LENGTH = 254
/** RFC 1035, without the trailing dot. */
const MAX_NAME_LENGTH = 253
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/** Patterns that a hostname must not match, each with its error. The first match is reported. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/[\s\p{C}]/u, "must have no spaces, line breaks or invisible characters"],
  [/^[a-z][a-z0-9+.-]*:\/\/|^\/\//i, "must be a hostname alone, without a scheme: api.example.com"],
  [/@/, "must be a hostname alone, without a user"],
  [/\*/, "must be one exact hostname: wildcards are not accepted. List each host"],
  [/[/\\?#]/, "must be a hostname alone, without a path"],
  [/^\[|:.*:/, "must be a hostname: IP addresses are not accepted"],
  [/:/, "must be a hostname alone, without a port: secrets are sent to port 443 only"],
  [/%/, "must be a hostname in plain letters, without percent-encoding"],
]

/**
 * Lower-case punycode without the trailing dot. Parsed by the URL parser, as for outgoing requests, so that no spelling
 * of a name or address (decimal, octal, hex, full-width) means different hosts in the two places.
 */
export function readHost(text: string): HostReading {
  if (text === "") return { fault: "must not be empty" }
  if (text.length > MAX_HOST_LENGTH) return { fault: `must be at most ${MAX_HOST_LENGTH} characters` }
  for (const [pattern, fault] of FOREIGN) if (pattern.test(text)) return { fault }
  const url = URL.parse(`https://${text}`)
  const host = url && toBoundHost(url)
  if (!host) return { fault: "must be a DNS hostname such as api.example.com" }
  const labels = host.split(".")
  // A name whose last label is a number is an IPv4 address or invalid.
  if (/^\d+$/.test(labels.at(-1) ?? "")) return { fault: "must be a hostname: IP addresses are not accepted" }
  if (host.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label))) {
    return { fault: "must be a DNS hostname: letters, digits and hyphens, in parts of 1 to 63 between dots" }
  }
  return { host }
}

/** The host of a URL in the spelling of secrets' hosts. */
export function toBoundHost({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, "")
}
