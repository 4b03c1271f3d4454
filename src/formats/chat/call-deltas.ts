import { isInteger, isObject, type Json } from "../../support/text/json.ts"

/** Assembles streamed tool calls, including deltas that break the rules of the format. */

/**
 * Calls of a response; each is compared with those before it. Models call at most some hundred tools at once.
 */
export const MAX_CALLS = 1_024

/** A partial call, accumulated so far. */
export type PartialCall = { index: number | null; upstreamId: string | null; name: string; arguments: string }

/** The fields of a call delta; an empty string means that the field is absent. */
export type CallDelta = { index: number | null; id: string | null; name: string | null; arguments: string }

export function readCallDelta(delta: unknown): CallDelta {
  const call = isObject(delta) ? delta : {}
  const fn = isObject(call["function"]) ? call["function"] : {}
  const content = (value: unknown) => (typeof value === "string" && value !== "" ? value : null)
  const encoded = encodedArguments(fn)
  const { index } = call
  return {
    index: isInteger(index) ? index : typeof index === "string" && /^\d{1,4}$/.test(index) ? Number(index) : null,
    id: content(call["id"]),
    name: content(fn["name"]),
    arguments: content(encoded) ?? "",
  }
}

/** The arguments of a function. Some providers send an object instead of a JSON string. */
export function encodedArguments({ arguments: reported }: Json): unknown {
  return isObject(reported) ? JSON.stringify(reported) : reported
}

/**
 * The call that a delta continues; -1 for a new call. The index decides, unless the id belongs to another call or to
 * none at this index; a delta without index and id continues the last call. If calls share an index or id, the delta
 * belongs to the last of them. `begun`: the number of calls before the chunk of the delta.
 */
export function routeCall(calls: readonly PartialCall[], delta: CallDelta, begun = calls.length): number {
  const found = likely(calls, delta)
  const call = calls[found]
  if (!call) return -1
  return isNextCall(call, delta) || (found >= begun && isOtherCall(call, delta)) ? -1 : found
}

function likely(calls: readonly PartialCall[], { index, id, name }: CallDelta): number {
  const byIndex = index === null ? -1 : calls.findLastIndex((call) => call.index === index)
  const indexed = calls[byIndex]
  if (indexed && (id === null || indexed.upstreamId === null || indexed.upstreamId === id)) return byIndex
  if (id === null) return index === null || name === null ? calls.length - 1 : -1
  const byId = calls.findLastIndex((call) => call.upstreamId === id)
  // A few providers send a new id with every delta: without a name it does not start a call.
  return byId === -1 && name === null ? byIndex : byId
}

/** A second name after complete arguments starts a call: some providers use index 0 for every parallel call. */
function isNextCall(call: PartialCall, delta: CallDelta): boolean {
  if (delta.name === null || call.name === "" || mayExtendName(call, delta)) return false
  if (delta.name !== call.name) return true
  const isSame = delta.id !== null && delta.id === call.upstreamId
  if (isSame && isEmptyObject(call.arguments)) return false
  return delta.arguments !== "" && !isRepeat(call, delta) && isCompleteObject(call.arguments)
}

/** Two complete calls in one chunk are two, even if they are equal. */
function isOtherCall(call: PartialCall, delta: CallDelta): boolean {
  const isSame = delta.id !== null && delta.id === call.upstreamId
  return delta.name !== null && !isSame && isCompleteObject(call.arguments) && isCompleteObject(delta.arguments)
}

/** A few providers send the name in fragments, all before the arguments. */
function mayExtendName(call: PartialCall, { index, id }: CallDelta): boolean {
  const isSame = (index ?? call.index) === call.index && (id ?? call.upstreamId) === call.upstreamId
  return call.arguments === "" && isSame && (index !== null || id !== null)
}

/** Applies a delta to a call. `added`: the new part of the arguments. */
export function appendCallDelta<Call extends PartialCall>(
  call: Call,
  delta: CallDelta,
): { grown: Call; added: string } {
  const added = isRepeat(call, delta) ? "" : delta.arguments
  // Some providers send an empty object before the arguments.
  const before = isEmptyObject(call.arguments) && added.trimStart().startsWith("{") ? "" : call.arguments
  // Some providers repeat the name with every delta.
  const more = delta.name !== null && delta.name !== call.name && mayExtendName(call, delta) ? delta.name : ""
  const name = call.name === "" ? (delta.name ?? "") : call.name + more
  const extended = { ...call, upstreamId: call.upstreamId ?? delta.id, name, arguments: before + added }
  return { grown: extended, added }
}

/** Some providers repeat a complete call with the finish reason. */
function isRepeat(call: PartialCall, delta: CallDelta): boolean {
  return delta.arguments.startsWith("{") && delta.arguments === call.arguments && isCompleteObject(call.arguments)
}

export function isEmptyObject(text: string): boolean {
  return text.startsWith("{") && /^\{\s*\}\s*$/.test(text)
}

export function isCompleteObject(text: string): boolean {
  if (!text.startsWith("{") || !text.trimEnd().endsWith("}")) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
