import { GatewayError } from "../errors/errors.ts"
import { requireUnmaskedUrl } from "./masked-url.ts"
import { outboundRejection } from "./send.ts"

/** Throws 400 for a URL that the gateway does not send to, and for a masked one. `field`: its name in the message. */
export function requireOutboundUrl(field: string, text: string, privateHosts: ReadonlySet<string>): void {
  requireUnmaskedUrl(field, text)
  const url = URL.parse(text)
  const rejection = url ? outboundRejection(url, privateHosts) : "it is not a valid URL"
  if (rejection === undefined) return
  throw new GatewayError(
    "invalid_request",
    `${field}: ${rejection}. Use a public https URL; PRIVATE_HOSTS of the deployment allows others.`,
  )
}
