import { isObject, type Json, listOf } from "../../support/text/json.ts"

/** A complete tool call. Keeps fields outside the chat format, since providers may verify them. */
export type ToolCall = Json & { id: string; function: Json & { name: string; arguments: string } }

/** The well-formed tool calls of a message. */
export function callsOf(message: Json): ToolCall[] {
  const calls = listOf(message["tool_calls"])
  return calls.flatMap((call, index) => {
    const fn = isObject(call) && isObject(call["function"]) ? call["function"] : undefined
    if (!isObject(call) || typeof fn?.["name"] !== "string" || fn["name"] === "") return []
    const result = fn["arguments"] === "" ? {} : (fn["arguments"] ?? {})
    const args = typeof result === "string" ? result : JSON.stringify(result)
    const id = typeof call["id"] === "string" && call["id"] !== "" ? call["id"] : `call_${index}`
    return [{ ...call, id, type: "function", function: { ...fn, name: fn["name"], arguments: args } }]
  })
}

/**
 * Separates streamed tool calls: emits those for the client, numbered across all rounds, and keeps those for the
 * gateway. A call whose partial name may still become the name of a server tool is buffered.
 */
export class ToolCallFilter {
  readonly #isOwn: (name: string) => boolean
  readonly #mayBeOwn: (start: string) => boolean
  readonly #passed = new Map<number, number>()
  #next: number

  constructor(gatewayTools: readonly string[], firstIndex: number) {
    this.#isOwn = (name) => gatewayTools.includes(name)
    this.#mayBeOwn = (start) => gatewayTools.some((name) => name.startsWith(start))
    this.#next = firstIndex
  }

  /** Number of calls emitted in all rounds so far. */
  get count(): number {
    return this.#next
  }

  /** Returns the deltas to emit. `places`: index of the call of each delta. `calls`: the accumulated calls. */
  take(deltas: readonly unknown[], places: readonly number[], calls: readonly unknown[], isLast: boolean): Json[] {
    // These calls are emitted with all that was accumulated, so their deltas in this chunk add nothing.
    const begun = new Set<number>()
    return deltas.flatMap((delta, position) => {
      const scope = places[position] ?? -1
      if (!isObject(delta) || scope === -1 || begun.has(scope)) return []
      const passedAs = this.#passed.get(scope)
      if (passedAs !== undefined) return [{ ...delta, index: passedAs }]
      const call = calls[scope]
      const fn = isObject(call) && isObject(call["function"]) ? call["function"] : {}
      const name = typeof fn["name"] === "string" ? fn["name"] : ""
      const isNamed = name !== "" && (isLast || fn["arguments"] !== "" || !this.#mayBeOwn(name))
      if (!isNamed || this.#isOwn(name)) return []
      begun.add(scope)
      this.#passed.set(scope, this.#next)
      return [{ ...(isObject(call) && call), index: this.#next++ }]
    })
  }

  /** Calls that received no arguments and therefore were not emitted yet. */
  rest(calls: readonly unknown[]): Json[] {
    const pending = [...calls.keys()].filter((scope) => !this.#passed.has(scope))
    return this.take(
      pending.map(() => ({})),
      pending,
      calls,
      true,
    )
  }
}
