import { type CallDelta, appendCallDelta, type PartialCall, readCallDelta, routeCall } from "../call-deltas.ts"
import { isObject, type Json } from "../../../support/text/json.ts"

/** A call of a stream, and the index that the client receives. */
export type SeenCall = PartialCall & { choice: number; position: number }

/** The part that a delta adds to a started call; empty strings add nothing. */
type AddedToCall = { name: string; arguments: string }

/** Normalizes the calls of a delta for strict clients; returns the same list if nothing changes. Updates `seen`. */
export function normalizeCallDeltas(deltas: readonly unknown[], choice: number, seen: SeenCall[]): readonly unknown[] {
  const normal = deltas.map((delta) => normalizeDelta(delta, choice, seen))
  return normal.some((delta, at) => delta !== deltas[at]) ? normal : deltas
}

function normalizeDelta(result: unknown, choice: number, seen: SeenCall[]): unknown {
  const delta = readCallDelta(result)
  const { index, added } = number(delta, choice, seen)
  if (!isObject(result)) return { index }
  if (added) return continueCall(result, index, added)
  const isTaken = seen.some((call) => isOf(call, choice, delta.id) && call.position !== index)
  return beginCall(result, index, isTaken ? { ...delta, id: null } : delta)
}

/** Clients match results with calls by id, so calls of a message must not share one. */
function isOf(call: SeenCall, choice: number, id: string | null): boolean {
  return id !== null && call.choice === choice && call.upstreamId === id
}

/** A call with a function is one, whatever a provider names its type. */
function isFunctionCall({ type, function: called, custom }: Json): boolean {
  return typeof type !== "string" || type === "" || type === "function" || (isObject(called) && !isObject(custom))
}

/** The first delta of a call has its id, type and name: strict clients require them. */
function beginCall(result: Json, index: number, { id, name }: CallDelta): unknown {
  const called = isObject(result["function"]) ? result["function"] : {}
  const isFunction = isFunctionCall(result)
  const fixed: Json = { ...result, index, id: id ?? newCallId(), ...(isFunction && { type: "function" }) }
  if (isFunction || isObject(result["function"])) {
    const { arguments: encoded } = readCallDelta(result)
    const isText = typeof called["arguments"] === "string"
    const named = { ...called, name: name ?? "", ...(!isText && { arguments: encoded }) }
    fixed["function"] = isSame(named, called) ? called : named
  }
  return isSame(fixed, result) ? result : fixed
}

/** A later delta of a call. Clients append strings, so a repeated id or name must be removed. */
function continueCall(result: Json, index: number, added: AddedToCall): unknown {
  const { id: _id, type: _type, function: called, ...rest } = result
  const fixed: Json = { ...rest, index }
  if (isObject(called)) {
    const { name: _name, arguments: _arguments, ...further } = called
    const isEmpty = called["arguments"] === "" || added.arguments !== ""
    const more = {
      ...further,
      ...(added.name !== "" && { name: added.name }),
      ...(isEmpty && { arguments: added.arguments }),
    }
    fixed["function"] = isSame(more, called) ? called : more
  }
  return isSame(fixed, result) ? result : fixed
}

/**
 * Deltas that give the calls of a finished choice arguments if they have none: clients parse the arguments of every
 * call.
 */
export function emptyArguments(seen: readonly SeenCall[], choice: number): Json[] {
  const empty = seen.filter((call) => call.choice === choice && call.name !== "" && call.arguments === "")
  return empty.map((call) => {
    call.arguments = "{}"
    return { index: call.position, function: { arguments: "{}" } }
  })
}

/** Clients merge calls by index only, and not every provider gives each call a separate index. */
function number(delta: CallDelta, choice: number, seen: SeenCall[]): { index: number; added?: AddedToCall } {
  const calls = seen.filter((call) => call.choice === choice)
  // Every client starts a call for a name at a new index, even if it shares its id with another.
  const startsCall = delta.index !== null && delta.name !== null && !calls.some((call) => call.index === delta.index)
  const openCall = startsCall
    ? undefined
    : (calls[routeCall(calls, delta)] ?? calls.findLast((call) => isOne(call, delta)))
  if (openCall) {
    const { name } = openCall
    const { grown, added } = appendCallDelta(openCall, delta)
    Object.assign(openCall, grown)
    return { index: openCall.position, added: { name: grown.name.slice(name.length), arguments: added } }
  }
  const { index, id, name, arguments: result } = delta
  const position = calls.length
  seen.push({ index, upstreamId: id, name: name ?? "", arguments: result, choice, position })
  return { index: position }
}

/** For every client, the same index and id are one call. */
function isOne(call: SeenCall, { index, id }: CallDelta): boolean {
  return id !== null && call.upstreamId === id && call.index === index
}

function isSame(one: Json, other: Json): boolean {
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key])
}

/** Normalizes the calls of a complete message. `isCut`: a limit may have truncated the arguments of the last one. */
export function normalizeCalls(calls: readonly Json[], isCut: boolean): Json[] {
  const ids = calls.map(({ id }) => id)
  return calls.map((call, at) =>
    normalizeCall(ids.indexOf(call["id"]) === at ? call : { ...call, id: "" }, isCut && at === calls.length - 1),
  )
}

/** Normalizes a call of a complete message. `isCut`: a limit may have truncated its arguments. */
function normalizeCall(call: Json, isCut: boolean): Json {
  const { id, type } = call
  const named = {
    ...call,
    id: typeof id === "string" && id !== "" ? id : newCallId(),
    type: isFunctionCall(call) ? "function" : type,
  }
  if (named.type !== "function") return named
  const { name, arguments: result } = readCallDelta(call)
  const rest = isObject(call["function"]) ? call["function"] : {}
  // Clients parse the arguments of every call, so a call without arguments gets an empty object.
  return { ...named, function: { ...rest, name: name ?? "", arguments: result === "" && !isCut ? "{}" : result } }
}

function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "")}`
}
