import { newHexId } from "../../../support/ids.ts"
import {
  type CallDelta,
  appendCallDelta,
  isEmptyObject,
  type PartialCall,
  readCallDelta,
  routeCall,
} from "../call-deltas.ts"
import { mayGrow, takesArguments } from "./prompted.ts"
import { isObject, type Json } from "../../../support/text/json.ts"

/**
 * A call of a stream, and the index that the client receives. `start`: its first delta, held until the name is complete.
 * `holdsEmpty`: its arguments are an empty object so far, held since others may replace it.
 */
export type SeenCall = PartialCall & { choice: number; position: number; start?: Json; holdsEmpty?: boolean }

/** The calls of a stream. `upstreamBody`: the request that the provider received. */
export type Calls = { choice: number; seen: SeenCall[]; upstreamBody?: Json | undefined }

/** The part that a delta adds to a started call; empty strings add nothing. */
type AddedToCall = { name: string; arguments: string }

/** Normalizes the calls of a delta for strict clients; returns the same list if nothing changes. Updates `seen`. */
export function normalizeCallDeltas(deltas: readonly unknown[], calls: Calls): readonly unknown[] {
  const begun = calls.seen.length
  const normal = deltas.flatMap((delta) => normalizeDelta(delta, calls, begun))
  return normal.length !== deltas.length || normal.some((delta, at) => delta !== deltas[at]) ? normal : deltas
}

function normalizeDelta(result: unknown, calls: Calls, begun: number): unknown[] {
  const delta = readCallDelta(result)
  const { call, added } = number(delta, calls, begun)
  if (!isObject(result)) return [{ index: call.position }]
  const isNamed = call.arguments !== "" || (added && !call.start)
  // A few providers send the name in fragments, and clients take the first one.
  const isHeld = !isNamed && mayGrow(call.name, calls.upstreamBody)
  if (isHeld) call.start ??= result
  if (added && !call.start) return [continueCall(result, call.position, added)]
  const before = added ? [] : releaseStarts(calls, call)
  return isHeld ? before : [...before, begin(call, call.start ?? result, calls)]
}

/** The held starts of the calls before another one. */
function releaseStarts(calls: Calls, next: SeenCall): unknown[] {
  const held = calls.seen.filter((call) => call.start !== undefined && call !== next && call.choice === calls.choice)
  return held.map((call) => begin(call, call.start ?? {}, calls))
}

function begin(call: SeenCall, start: Json, { choice, seen, upstreamBody }: Calls): unknown {
  const { index, upstreamId: id, name, position } = call
  delete call.start
  call.holdsEmpty = isIncomplete(call, upstreamBody)
  const isTaken = seen.some((other) => isOf(other, choice, id) && other.position !== position)
  return beginCall(start, position, {
    index,
    id: isTaken ? null : id,
    name: name === "" ? null : name,
    arguments: call.holdsEmpty ? "" : call.arguments,
  })
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
function beginCall(result: Json, index: number, { id, name, arguments: encoded }: CallDelta): unknown {
  const called = isObject(result["function"]) ? result["function"] : {}
  const isFunction = isFunctionCall(result)
  const fixed: Json = { ...result, index, id: id ?? newCallId(), ...(isFunction && { type: "function" }) }
  if (isFunction || isObject(result["function"])) {
    const named = { ...called, name: name ?? "", arguments: encoded }
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
 * Deltas with what is missing of the calls of a finished choice. `isComplete`: no limit cut them, so that those without
 * arguments get an empty object: clients parse the arguments of every call.
 */
export function restOfCalls(calls: Calls, isComplete: boolean): Json[] {
  const { seen, choice } = calls
  return seen.flatMap((call) => (call.choice === choice ? restOf(call, calls, isComplete) : []))
}

function restOf(call: SeenCall, calls: Calls, isComplete: boolean): Json[] {
  const { start, position, holdsEmpty, name } = call
  const isMissing = isComplete && name !== "" && call.arguments === ""
  if (isMissing) call.arguments = EMPTY
  call.holdsEmpty = false
  const begun = start ? [begin(call, start, calls)].filter(isObject) : []
  const rest = call.holdsEmpty || holdsEmpty || isMissing ? [{ index: position, function: { arguments: EMPTY } }] : []
  call.holdsEmpty = false
  return [...begun, ...rest]
}

const EMPTY = "{}"

/** Clients merge calls by index only, and not every provider gives each call a separate index. */
function number(
  delta: CallDelta,
  { choice, seen, upstreamBody }: Calls,
  begun: number,
): { call: SeenCall; added?: AddedToCall } {
  const calls = seen.filter((call) => call.choice === choice)
  // Every client starts a call for a name at a new index, even if it shares its id with another.
  const startsCall = delta.index !== null && delta.name !== null && !calls.some((call) => call.index === delta.index)
  const before = calls.length - (seen.length - begun)
  const openCall = startsCall
    ? undefined
    : (calls[routeCall(calls, delta, before)] ?? calls.findLast((call) => isOne(call, delta)))
  if (openCall) return { call: openCall, added: extend(openCall, delta, upstreamBody) }
  const { index, id, name, arguments: result } = delta
  const call = { index, upstreamId: id, name: name ?? "", arguments: result, choice, position: calls.length }
  seen.push(call)
  return { call }
}

/** The part that a delta adds for the client, without an empty object that other arguments may replace. */
function extend(call: SeenCall, delta: CallDelta, upstreamBody: Json | undefined): AddedToCall {
  const { name, arguments: before, holdsEmpty } = call
  const { grown, added } = appendCallDelta(call, delta)
  Object.assign(call, grown)
  call.holdsEmpty = (holdsEmpty === true || before === "") && isIncomplete(call, upstreamBody)
  const pending = holdsEmpty ? call.arguments : added
  return { name: grown.name.slice(name.length), arguments: call.holdsEmpty ? "" : pending }
}

/** An empty object is held if the tool takes arguments. */
function isIncomplete({ name, arguments: text }: SeenCall, upstreamBody: Json | undefined): boolean {
  return isEmptyObject(text) && takesArguments(name, upstreamBody)
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
  return `call_${newHexId()}`
}
