import { isArray, isObject } from "../../support/json.ts"
import { withoutNulls } from "./content.ts"
import type { ReasoningDetail } from "./reasoning-details.ts"

/**
 * Details for which a wire has no words, in the one opaque string that its clients send back. They are known by the
 * mark in front of them: a client that keeps the string may drop every field beside it.
 */
const MARK = "gateway-carried-v1:"

export function encodeBlob(carried: ReasoningDetail | readonly ReasoningDetail[]): string {
  const details = "type" in carried ? [carried] : carried
  const [only] = details
  return MARK + JSON.stringify(details.length === 1 && only ? withoutNulls(only) : details.map(withoutNulls))
}

/** Whether an opaque string is ours, which no provider would know. */
export function isGatewayBlob(opaque: unknown): opaque is string {
  return typeof opaque === "string" && opaque.startsWith(MARK)
}

/** The details in a string of ours, none where it has been spoilt; null for a provider's own string. */
export function decodeBlob(opaque: unknown): ReasoningDetail[] | null {
  if (!isGatewayBlob(opaque)) return null
  try {
    const carried: unknown = JSON.parse(opaque.slice(MARK.length))
    return (isArray(carried) ? carried : [carried]).filter(isDetail)
  } catch {
    return []
  }
}

export function isDetail(detail: unknown): detail is ReasoningDetail {
  return isObject(detail) && typeof detail["type"] === "string"
}
