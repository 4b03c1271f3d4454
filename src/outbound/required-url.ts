import { GatewayError } from "../errors/errors.ts"
import { outboundRefusalOf } from "./send.ts"

/** Throws 400 for a URL that the gateway does not send to. `field`: its name in the message. */
export function requireOutboundUrl(field: string, text: string, privateHosts: ReadonlySet<string>): void {
  const url = URL.parse(text)
  const refusal = url ? outboundRefusalOf(url, privateHosts) : "it is not a valid URL"
  if (refusal === undefined) return
  throw new GatewayError(
    "invalid_request",
    `${field}: ${refusal}. Use a public https URL; PRIVATE_HOSTS of the deployment allows others.`,
  )
}
