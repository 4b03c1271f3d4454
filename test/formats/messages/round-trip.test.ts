import * as fc from "fast-check"
import { expect, test } from "vitest"
import { advance as advanceEvents, finish, newEventState } from "../../../src/formats/messages/events.ts"
import { toMessagesResult } from "../../../src/formats/messages/from-chat.ts"
import { MessagesRequest } from "../../../src/formats/messages/schemas.ts"
import { toChatRequest } from "../../../src/formats/messages/to-chat.ts"
import { advance, newMessagesReading } from "../../../src/formats/messages/upstream/meter.ts"
import { toChatResult } from "../../../src/formats/messages/upstream/to-result.ts"
import { toTokens } from "../../../src/formats/chat/meter.ts"
import type { Json } from "./recorded.ts"
import { blocksOf, callOf, chunkOf, detailOf, expectWellFormed, facts, eventsOf } from "./events-of.ts"

const format = "anthropic-claude-v1"
const word = fc.string({ minLength: 1, maxLength: 4 })
const pieces = fc.array(word, { maxLength: 4 })
const count = fc.nat({ max: 1_000 })

/** The JSON of an object, split anywhere. */
const args = fc
  .tuple(fc.dictionary(word, fc.jsonValue(), { maxKeys: 3 }), fc.array(fc.nat(), { maxLength: 3 }))
  .map(([value, places]) => {
    const complete = JSON.stringify(value)
    const at = [0, ...places.map((place) => place % complete.length).sort((a, b) => a - b), complete.length]
    return at.slice(1).map((to, index) => complete.slice(at[index], to))
  })

/** A response as chat chunks, whose calls interleave where providers do. */
const answer = fc
  .record({
    thoughts: fc.array(fc.record({ pieces, signature: word, sealed: fc.option(word) }), { maxLength: 2 }),
    spoken: pieces,
    calls: fc.array(fc.record({ name: fc.constantFrom("f", "g"), args }), { maxLength: 3 }),
    order: fc.infiniteStream(fc.nat()),
    cut: fc.boolean(),
    usage: fc.record({ fresh: count, cached: count, written: count, completion: count, reasoning: fc.option(count) }),
  })
  .map(({ thoughts, spoken: texts, calls, order, cut, usage }) => {
    let index = -1
    const details = thoughts.flatMap((thought) => {
      index += 1
      const base = { type: "reasoning.text", format, index }
      const eventsOf: Json[] = [
        ...thought.pieces.map((text) => ({ ...base, text })),
        { ...base, signature: thought.signature },
      ]
      if (thought.sealed === null) return eventsOf
      index += 1
      return [...eventsOf, { type: "reasoning.encrypted", data: thought.sealed, format, index }]
    })
    const queues: Json[][] = calls.map((call, at) => [
      { index: at, id: `call_${at}`, type: "function", function: { name: call.name, arguments: "" } },
      ...call.args.map((piece) => ({ index: at, function: { arguments: piece } })),
    ])
    const interleaved: Json[] = queues.flatMap((queue) => queue.splice(0, 1))
    while (queues.some((queue) => queue.length > 0)) {
      const left = queues.filter((queue) => queue.length > 0)
      const delta = left[order.next().value % left.length]?.shift()
      if (delta) interleaved.push(delta)
    }
    const { fresh, cached, written, completion, reasoning } = usage
    const prompt = fresh + cached + written
    return [
      chunkOf({ role: "assistant", content: "" }),
      ...details.map(detailOf),
      ...texts.map((content) => chunkOf({ content })),
      ...interleaved.map(callOf),
      chunkOf({}, cut ? "length" : calls.length > 0 ? "tool_calls" : "stop"),
      {
        choices: [],
        usage: {
          prompt_tokens: prompt,
          completion_tokens: completion,
          total_tokens: prompt + completion,
          prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
          ...(reasoning !== null && { completion_tokens_details: { reasoning_tokens: reasoning } }),
        },
      },
    ]
  })

/** Content of chunks, independent of how they are split. */
function meaningOf(chunks: readonly Json[]): Json {
  const meaning = { text: "", calls: [] as string[][], details: [] as Json[], finish: "", usage: {} as unknown }
  for (const { choices, usage } of chunks) {
    if (usage) meaning.usage = toTokens(usage)
    const [choice] = choices as { delta: Json; finish_reason: string | null }[]
    if (!choice) continue
    const { delta, finish_reason: reason } = choice
    if (reason !== null) meaning.finish = reason
    meaning.text += (delta["content"] as string | undefined) ?? ""
    for (const detail of (delta["reasoning_details"] ?? []) as Json[]) {
      const at = detail["index"] as number
      const before = (meaning.details[at]?.["text"] as string | undefined) ?? ""
      const { text, ...rest } = detail
      meaning.details[at] = { ...meaning.details[at], ...rest, text: before + ((text as string | undefined) ?? "") }
    }
    for (const { index, id, function: called } of (delta["tool_calls"] ?? []) as Json[]) {
      const { name, arguments: piece } = called as Json
      const call = (meaning.calls[index as number] ??= [String(id), String(name), ""])
      call[2] += String(piece)
    }
  }
  return meaning
}

test("a chat stream translated to Messages and back keeps its content", () => {
  fc.assert(
    fc.property(answer, (chunks) => {
      const events = eventsOf(chunks)
      expectWellFormed(events)
      let state = newMessagesReading()
      const again = events.flatMap((event) => {
        const [next, eventsOf] = advance(state, event)
        state = next
        return eventsOf
      })
      expect(meaningOf(again)).toEqual(meaningOf(chunks))
      expect(state.phase).toBe("over")
    }),
  )
})

test("text and complete tool calls are sent at once: the end of the stream adds no content", () => {
  fc.assert(
    fc.property(answer, (chunks) => {
      let state = newEventState(facts())
      const before = chunks.flatMap((chunk) => {
        const [next, events] = advanceEvents(state, chunk)
        state = next
        return events
      })
      const [, last] = finish(state)
      const late = last.filter(({ type }) => type === "content_block_delta").map(({ delta }) => (delta as Json)["type"])
      // The signature of the last thinking block, if nothing follows it.
      expect(late.filter((type) => type !== "signature_delta")).toEqual([])
      expect(before.length).toBeGreaterThan(0)
    }),
  )
})

test("a non-streamed response equals the assembled stream", () => {
  fc.assert(
    fc.property(answer, (chunks) => {
      const events = eventsOf(chunks)
      const streamed = blocksOf(events).map((block) =>
        typeof block["input"] === "string" ? { ...block, input: JSON.parse(block["input"]) as Json } : block,
      )
      let state = newMessagesReading()
      for (const event of events) [state] = advance(state, event)
      const message = { type: "message", ...(events.at(-2)?.["delta"] as Json), content: streamed }
      const complete = toMessagesResult(toChatResult(message), facts())
      expect(complete.content).toEqual(streamed)
    }),
  )
})

test("a response sent back in the next request is restored unchanged", () => {
  fc.assert(
    fc.property(answer, (chunks) => {
      const { text, calls, details } = meaningOf(chunks) as { text: string; calls: string[][]; details: Json[] }
      const content = blocksOf(eventsOf(chunks)).map((block) =>
        typeof block["input"] === "string" ? { ...block, input: JSON.parse(block["input"]) as Json } : block,
      )
      const request = MessagesRequest.parse({ model: "m", max_tokens: 9, messages: [{ role: "assistant", content }] })
      const [message] = toChatRequest(request).messages as Json[]
      expect(message?.["content"] ?? "").toBe(text)
      const toolUses = ((message?.["tool_calls"] ?? []) as { id: string; function: Json }[]).map(
        ({ id, function: called }) => [id, called["name"], called["arguments"]],
      )
      expect(toolUses).toEqual(
        calls.map(([id, name, encoded]) => [id, name, JSON.stringify(JSON.parse(encoded ?? ""))]),
      )
      const thought = ((message?.["reasoning_details"] ?? []) as Json[]).map((detail) => ({ text: "", ...detail }))
      expect(thought).toEqual(details)
    }),
  )
})
