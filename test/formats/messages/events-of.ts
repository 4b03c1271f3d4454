import {
  advance,
  type Ending,
  type EventState,
  finish,
  type MessageFacts,
  newEventState,
} from "../../../src/formats/messages/events.ts"
import type { MessagesEvent } from "../../../src/formats/messages/schemas.ts"
import { expect } from "vitest"
import type { Json } from "./recorded.ts"
import { chunkOf, runSteps } from "../steps.ts"

export { chunkOf, runSteps }

export function facts(): MessageFacts {
  let count = 0
  return { id: "gen-1", model: "maker/model", promptEstimate: 100, newId: () => String((count += 1)) }
}

export const callOf = (call: Json) => chunkOf({ tool_calls: [call] })
export const detailOf = (detail: Json) => chunkOf({ reasoning_details: [detail] })

export const USAGE = {
  prompt_tokens: 110,
  completion_tokens: 5,
  total_tokens: 115,
  prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 2 },
}

/** Events of a stream of these chunks. */
export function eventsOf(chunks: readonly Json[], ending: Ending = {}): MessagesEvent[] {
  return runSteps(newEventState(facts()), [
    ...chunks.map((chunk) => (state: EventState) => advance(state, chunk)),
    (state) => finish(state, ending),
  ])
}

/** Content blocks of a stream: each start with its deltas assembled. */
export function blocksOf(events: readonly MessagesEvent[]): Json[] {
  const blocks: Json[] = []
  for (const { type, content_block: block, delta } of events) {
    if (type === "content_block_start") blocks.push({ ...(block as Json) })
    if (type !== "content_block_delta") continue
    const last = blocks.at(-1) ?? {}
    const { type: _, partial_json: piece, ...texts } = delta as Json
    for (const [key, value] of Object.entries(texts)) last[key] = textOf(last[key]) + textOf(value)
    if (piece !== undefined) last["input"] = textOf(last["input"]) + textOf(piece)
  }
  return blocks
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** Invariants of every stream that ends without an error. */
export function expectWellFormed(events: readonly MessagesEvent[]): void {
  const types = events.map(({ type }) => type).filter((type) => type !== "ping")
  expect(types[0]).toBe("message_start")
  expect(types.slice(-2)).toEqual(["message_delta", "message_stop"])
  let open: unknown = null
  let next = 0
  for (const { type, index } of events.filter((event) => event.type.startsWith("content_block"))) {
    if (type === "content_block_start") {
      expect([open, index]).toEqual([null, next])
      open = index
      next += 1
    } else expect(index).toBe(open)
    if (type === "content_block_stop") open = null
  }
  expect(open).toBeNull()
}
