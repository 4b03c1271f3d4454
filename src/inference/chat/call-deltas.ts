import { isObject } from "./reading.ts"

/** Calls of tools as chunks tell them, piece by piece, and not always by the rules. */

/** A call as far as it has grown. */
export type GrowingCall = { index: number | null; upstreamId: string | null; name: string; arguments: string }

/** What a delta says of a call; empty strings say nothing. */
export type CallDelta = { index: number | null; id: string | null; name: string | null; arguments: string }

export function readCallDelta(delta: unknown): CallDelta {
  const call = isObject(delta) ? delta : {}
  const called = isObject(call["function"]) ? call["function"] : {}
  const said = (value: unknown) => (typeof value === "string" && value !== "" ? value : null)
  // Some providers send the arguments as the object they encode.
  const encoded = isObject(called["arguments"]) ? JSON.stringify(called["arguments"]) : called["arguments"]
  return {
    index: Number.isSafeInteger(call["index"]) ? (call["index"] as number) : null,
    id: said(call["id"]),
    name: said(called["name"]),
    arguments: said(encoded) ?? "",
  }
}

/**
 * Which call a delta continues; -1 for a new one. The index decides, unless the id belongs to another call or names
 * one that the index does not; a delta with neither goes on with the last call.
 */
export function routeCall(calls: readonly GrowingCall[], delta: CallDelta): number {
  const byIndex = delta.index === null ? -1 : calls.findIndex((call) => call.index === delta.index)
  const byId = delta.id === null ? -1 : calls.findIndex((call) => call.upstreamId === delta.id)
  const indexed = calls[byIndex]
  if (indexed && byIndex === byId) return byIndex
  const agrees = indexed && (delta.id === null || indexed.upstreamId === null)
  const continued = delta.name === null ? (indexed ? byIndex : calls.length - 1) : -1
  const found = agrees ? byIndex : byId === -1 ? continued : byId
  const call = calls[found]
  return call && beginsAnother(call, delta) ? -1 : found
}

/** A second name, where the first call is whole already: some providers count every parallel call as number 0. */
function beginsAnother(call: GrowingCall, delta: CallDelta): boolean {
  if (delta.name === null || call.name === "") return false
  return delta.name !== call.name || (delta.arguments !== "" && !isRepeat(call, delta) && isWholeObject(call.arguments))
}

/** Some providers send a finished call once more with the finish reason. */
export function isRepeat(call: GrowingCall, delta: CallDelta): boolean {
  return delta.arguments.startsWith("{") && delta.arguments === call.arguments && isWholeObject(call.arguments)
}

export function isWholeObject(text: string): boolean {
  if (!text.startsWith("{") || !text.trimEnd().endsWith("}")) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
