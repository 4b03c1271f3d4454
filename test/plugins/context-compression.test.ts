import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { GatewayError } from "../../src/errors/errors.ts"
import { estimatePromptTokens } from "../../src/support/tokens.ts"
import { compress } from "../../src/plugins/context-compression.ts"
import { rejectionOf } from "../server-tools/mock-network.ts"
import { runs } from "../support/runs.ts"

type Message = Record<string, unknown> & { role: string }

const user = (content: unknown): Message => ({ role: "user", content })
const assistant = (content: string): Message => ({ role: "assistant", content })
const system = (content: string): Message => ({ role: "system", content })
const calls = (...ids: string[]): Message => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
})
const result = (id: string, content = "done"): Message => ({ role: "tool", tool_call_id: id, content })
const filler = (count: number) => "word ".repeat(count)

describe("a conversation", () => {
  test("that fits is unchanged", () => {
    const messages = [system("s"), user("u")]
    expect(compress(messages, 1_000)).toEqual({ messages, dropped: 0, shortened: 0 })
  })

  test("that does not fit loses messages from its middle, the older half first", () => {
    const messages = [
      system("s"),
      ...[1, 2, 3, 4, 5, 6].map((number) => assistant(`${number} ${filler(40)}`)),
      user("now"),
    ]
    const { messages: left, dropped } = compress(messages, 230)
    expect(left.map(({ content }) => String(content).slice(0, 1))).toEqual(["s", "1", "2", "5", "6", "n"])
    expect(dropped).toBe(2)
    const one = compress(messages, 290)
    expect(one.messages.map(({ content }) => String(content).slice(0, 1))).toEqual(["s", "1", "2", "4", "5", "6", "n"])
  })

  test("keeps instructions at any position and its complete last turn", () => {
    const turn = [user("now"), calls("x"), result("x"), assistant("so")]
    const messages = [
      system("s"),
      user(filler(400)),
      { role: "developer", content: "d" },
      assistant(filler(400)),
      ...turn,
    ]
    const { messages: left, dropped } = compress(messages, 80)
    expect(left).toEqual([system("s"), { role: "developer", content: "d" }, ...turn])
    expect(dropped).toBe(2)
  })

  test("loses tool calls only together with their results", () => {
    const exchange = (id: string) => [calls(id, `${id}2`), result(id, filler(50)), result(`${id}2`, filler(50))]
    const messages = [user("first"), ...exchange("a"), ...exchange("b"), ...exchange("c"), user("now")]
    const { messages: left, dropped } = compress(messages, 380)
    expect(dropped).toBe(3)
    expect(left).toEqual([user("first"), ...exchange("b"), ...exchange("c"), user("now")])
  })

  test("with repeated call ids assigns a result to the latest call", () => {
    const exchange = () => [calls("call_0"), result("call_0", filler(50))]
    const messages = [user("first"), ...exchange(), ...exchange(), ...exchange(), user("now")]
    const { messages: left } = compress(messages, 230)
    expect(left).toEqual([user("first"), ...exchange(), ...exchange(), user("now")])
  })

  test("keeps calls whose results follow the next user message", () => {
    const messages = [assistant(filler(400)), calls("a"), assistant(filler(400)), user("now"), result("a")]
    expect(compress(messages, 80).messages).toEqual([calls("a"), user("now"), result("a")])
  })

  test("with one long message has its middle cut, without dropped messages", () => {
    const messages = [user(`START ${filler(2_000)} END`), assistant("ok"), user("now")]
    const { messages: left, dropped, shortened } = compress(messages, 1_000)
    expect([left.length, dropped, shortened]).toEqual([3, 0, 1])
    expect(left[0]?.["content"]).toMatch(/^START [\s\S]*\n\[… \d+ characters left out …\]\n[\s\S]* END$/)
    expect(estimatePromptTokens(left)).toBeLessThanOrEqual(1_000)
  })

  test("with a long last turn has its text cut, but not its images", () => {
    const picture = { type: "image_url", image_url: { url: "data:," } }
    const messages = [assistant("old"), user([{ type: "text", text: `START ${filler(5_000)} END` }, picture])]
    const { messages: left, dropped, shortened } = compress(messages, 2_000)
    expect([dropped, shortened]).toEqual([1, 1])
    const parts = left[0]?.["content"] as { text: string }[]
    expect(parts[0]?.text).toMatch(/^START [\s\S]*characters left out[\s\S]* END$/)
    expect(parts[1]).toEqual(picture)
  })

  test("whose instructions do not fit is rejected with a hint", async () => {
    const messages = [system(filler(2_000)), user("now")]
    expect(() => compress(messages, 1_000)).toThrow(GatewayError)
    expect(await rejectionOf(() => compress(messages, 1_000))).toBe(
      "messages: even compressed, the system messages and the last turn need about 2509 tokens, and there is room for 1000. Shorten them, request fewer tokens, or choose a model with a longer context.",
    )
  })

  test("is not modified in place", () => {
    const messages = [user(filler(3_000)), user([{ type: "text", text: filler(3_000) }])]
    const before = structuredClone(messages)
    compress(messages, 1_000)
    expect(messages).toEqual(before)
  })

  test("of ten thousand messages is compressed", () => {
    const messages = [...Array.from({ length: 10_000 }, (_, index) => assistant(`${index} ${filler(20)}`)), user("now")]
    expect(estimatePromptTokens(compress(messages, 5_000).messages)).toBeLessThanOrEqual(5_000)
  })
})

const text = fc.string({ unit: "grapheme", maxLength: 2_000, size: "+3" })
const turn: fc.Arbitrary<Message[]> = fc.oneof(
  text.map((content) => [system(content.slice(0, 100))]),
  text.map((content) => [user(content)]),
  fc.array(text, { maxLength: 3 }).map((texts) => [user(texts.map((one) => ({ type: "text", text: one })))]),
  text.map((content) => [assistant(content)]),
  // Few ids, so that they repeat, and results in any order.
  fc
    .tuple(fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }), text, fc.boolean())
    .map(([ids, content, turned]) => {
      const results = ids.map((id) => result(id, content))
      return [calls(...ids), ...(turned ? results.toReversed() : results)]
    }),
)

test("a compressed conversation fits, has matching calls and results, and keeps its order", () => {
  const conversation = fc.array(turn, { maxLength: 30 }).map((turns) => turns.flat())
  const seen = { refused: 0, dropped: 0, shortened: 0 }
  fc.assert(
    fc.property(conversation, fc.integer({ min: 50, max: 4_000 }), (messages, budget) => {
      const numbered = messages.map((message, index) => ({ ...message, index }))
      let compressed
      try {
        compressed = compress(numbered, budget)
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError)
        seen.refused++
        return
      }
      const { messages: left, dropped, shortened } = compressed
      if (dropped > 0) seen.dropped++
      if (shortened > 0) seen.shortened++
      expect(estimatePromptTokens(left)).toBeLessThanOrEqual(budget)
      expect(left.length + dropped).toBe(messages.length)
      const indexes = left.map((message) => message["index"] as number)
      expect(indexes).toEqual(indexes.toSorted((one, other) => one - other))

      const lastUser = messages.findLastIndex(({ role }) => role === "user")
      for (const [index, message] of messages.entries()) {
        const isKept = message.role === "system" || (lastUser !== -1 && index >= lastUser)
        if (isKept) expect(indexes).toContain(index)
        if (message.role === "system") expect(left.find((one) => one["index"] === index)).toMatchObject(message)
      }
      expect(openCalls(left)).toEqual([])
    }),
    { numRuns: runs(4) },
  )
  // Otherwise the property would hold trivially.
  expect(Object.values(seen).every((count) => count > runs(0.2))).toBe(true)
})

/** Ids of calls without a result, and of results without a preceding call. */
function openCalls(messages: readonly Record<string, unknown>[]): string[] {
  const faults: string[] = []
  let open: string[] = []
  for (const { role, tool_calls: toolCalls, tool_call_id: id } of messages) {
    if (role === "tool") {
      if (!open.includes(id as string)) faults.push(id as string)
      open = open.filter((one) => one !== id)
      continue
    }
    faults.push(...open)
    open = Array.isArray(toolCalls) ? toolCalls.map((call: { id: string }) => call.id) : []
  }
  return [...faults, ...open]
}
