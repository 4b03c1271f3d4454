import { isArray, withoutNulls } from "../../support/text/json.ts"
import { isDetail, type ReasoningDetail } from "../reasoning-detail.ts"

/**
 * Encodes details that a format cannot express in the one opaque string that its clients send back. A prefix identifies
 * them, because a client that keeps the string may drop all other fields.
 */
const MARK = "gateway-carried-v1:"

export function encodeBlob(carried: ReasoningDetail | readonly ReasoningDetail[]): string {
  const details = "type" in carried ? [carried] : carried
  const [only] = details
  return MARK + JSON.stringify(details.length === 1 && only ? withoutNulls(only) : details.map(withoutNulls))
}

/** Whether an opaque string was made by the gateway and must not be sent to a provider. */
export function isGatewayBlob(opaque: unknown): opaque is string {
  return typeof opaque === "string" && opaque.startsWith(MARK)
}

/** The details in a string of the gateway, empty if it is damaged; null for a provider's string. */
export function decodeBlob(opaque: unknown): ReasoningDetail[] | null {
  if (!isGatewayBlob(opaque)) return null
  try {
    const carried: unknown = JSON.parse(opaque.slice(MARK.length))
    return (isArray(carried) ? carried : [carried]).filter(isDetail)
  } catch {
    return []
  }
}
