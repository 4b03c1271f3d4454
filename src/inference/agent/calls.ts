import { isObject } from "../chat/reading.ts"

type Json = Record<string, unknown>

/** A call of a model, whole; fields that the wire does not know stay with it, since providers may verify them. */
export type ToolCall = Json & { id: string; function: Json & { name: string; arguments: string } }

/** The calls of a message, those that are calls. */
export function callsOf(message: Json): ToolCall[] {
  const calls = Array.isArray(message["tool_calls"]) ? (message["tool_calls"] as unknown[]) : []
  return calls.flatMap((call, index) => {
    const called = isObject(call) && isObject(call["function"]) ? call["function"] : undefined
    if (!isObject(call) || typeof called?.["name"] !== "string" || called["name"] === "") return []
    const args =
      typeof called["arguments"] === "string" ? called["arguments"] : JSON.stringify(called["arguments"] ?? {})
    const id = typeof call["id"] === "string" && call["id"] !== "" ? call["id"] : `call_${index}`
    return [{ ...call, id, type: "function", function: { ...called, name: called["name"], arguments: args } }]
  })
}

/**
 * Parts the calls of a stream while they grow: the client's go on, numbered over all rounds, the gateway's stay. A call
 * whose name may still become that of a server tool waits until it is known.
 */
export class CallSieve {
  readonly #isOwn: (name: string) => boolean
  readonly #mayBeOwn: (start: string) => boolean
  readonly #passed = new Map<number, number>()
  #next: number

  constructor(ownNames: readonly string[], firstIndex: number) {
    this.#isOwn = (name) => ownNames.includes(name)
    this.#mayBeOwn = (start) => ownNames.some((name) => name.startsWith(start))
    this.#next = firstIndex
  }

  /** How many calls went on, over all rounds so far. */
  get count(): number {
    return this.#next
  }

  /** The deltas that go on. `whole`: the calls as far as they have grown, these deltas included. */
  take(deltas: readonly unknown[], whole: readonly unknown[], isLast: boolean): Json[] {
    return deltas.flatMap((delta, position) => {
      if (!isObject(delta)) return []
      const index = Number.isSafeInteger(delta["index"]) ? (delta["index"] as number) : position
      const passedAs = this.#passed.get(index)
      if (passedAs !== undefined) return [{ ...delta, index: passedAs }]
      const call = whole[index]
      const called = isObject(call) && isObject(call["function"]) ? call["function"] : {}
      const name = typeof called["name"] === "string" ? called["name"] : ""
      const isNamed = name !== "" && (isLast || called["arguments"] !== "" || !this.#mayBeOwn(name))
      if (!isNamed || this.#isOwn(name)) return []
      this.#passed.set(index, this.#next)
      return [{ ...(call as Json), index: this.#next++ }]
    })
  }

  /** Calls that never came to arguments, and so were not told yet. */
  rest(whole: readonly unknown[]): Json[] {
    const untold = whole.flatMap((_, index) => (this.#passed.has(index) ? [] : [{ index }]))
    return this.take(untold, whole, true)
  }
}
