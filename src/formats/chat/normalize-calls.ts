import { type CallDelta, growCall, type GrowingCall, readCallDelta, routeCall } from "./call-deltas.ts"
import { isObject, type Json } from "../../support/json.ts"

/** A call of a stream, and the number it goes out under. */
export type SeenCall = GrowingCall & { choice: number; place: number }

/** The calls of a delta as strict clients want them; the same list where it needs nothing. Grows what was `seen`. */
export function normalizeCallDeltas(deltas: readonly unknown[], choice: number, seen: SeenCall[]): readonly unknown[] {
  const normal = deltas.map((delta) => normalizeDelta(delta, choice, seen))
  return normal.some((delta, at) => delta !== deltas[at]) ? normal : deltas
}

function normalizeDelta(result: unknown, choice: number, seen: SeenCall[]): unknown {
  const delta = readCallDelta(result)
  const { place: scope, isNew } = number(delta, choice, seen)
  if (!isObject(result)) return { index: scope }
  const fixed: Json = { ...result, index: scope }
  for (const key of ["id", "type"] as const) {
    if (key in result && (typeof result[key] !== "string" || result[key] === "")) delete fixed[key]
  }
  if (isNew && delta.name !== null && delta.id === null) fixed["id"] = newCallId()
  if (isObject(result["function"])) fixed["function"] = normalizeFunction(result["function"], delta)
  return isSame(fixed, result) ? result : fixed
}

/** Clients put calls together by number alone, and not every provider gives each call its own. */
function number(delta: CallDelta, choice: number, seen: SeenCall[]): { place: number; isNew: boolean } {
  const calls = seen.filter((call) => call.choice === choice)
  // A name under a number of its own begins a call to every client, whatever else it shares with another.
  const isApart = delta.index !== null && delta.name !== null && !calls.some((call) => call.index === delta.index)
  const known = isApart ? undefined : (calls[routeCall(calls, delta)] ?? calls.findLast((call) => isOne(call, delta)))
  if (known) {
    Object.assign(known, growCall(known, delta).grown)
    return { place: known.place, isNew: false }
  }
  const { index, id, name, arguments: result } = delta
  const isFree = index !== null && index >= 0 && !calls.some((call) => call.place === index)
  const scope = isFree ? index : Math.max(-1, ...calls.map((call) => call.place)) + 1
  seen.push({ index, upstreamId: id, name: name ?? "", arguments: result, choice, place: scope })
  return { place: scope, isNew: true }
}

/** The same number and the same id are one call to every client. */
function isOne(call: SeenCall, { index, id }: CallDelta): boolean {
  return id !== null && call.upstreamId === id && call.index === index
}

function normalizeFunction(called: Json, delta: CallDelta): Json {
  const fixed = { ...called }
  if ("name" in called && typeof called["name"] !== "string") delete fixed["name"]
  if ("arguments" in called && typeof called["arguments"] !== "string") {
    if (isObject(called["arguments"])) fixed["arguments"] = delta.arguments
    else delete fixed["arguments"]
  }
  return isSame(fixed, called) ? called : fixed
}

function isSame(one: Json, other: Json): boolean {
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key])
}

/** A call of a whole message. `isCut`: its arguments may be what a limit left of them. */
export function normalizeCall(call: Json, isCut: boolean): Json {
  const { id, type } = call
  const named = {
    ...call,
    id: typeof id === "string" && id !== "" ? id : newCallId(),
    type: typeof type === "string" && type !== "" ? type : "function",
  }
  if (named.type !== "function") return named
  const { name, arguments: result } = readCallDelta(call)
  const rest = isObject(call["function"]) ? call["function"] : {}
  // Clients parse the arguments of every call, and those of a call without any are an empty object.
  return { ...named, function: { ...rest, name: name ?? "", arguments: result === "" && !isCut ? "{}" : result } }
}

function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "")}`
}
