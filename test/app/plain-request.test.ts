import * as fc from "fast-check"
import { expect, test } from "vitest"
import { isPlainChat } from "../../src/formats/chat/plain-request.ts"
import { ChatRequest } from "../../src/formats/schemas.ts"
import { runs } from "../support/runs.ts"

/** The hot path accepts a body without the schema: the schema must accept each such body unchanged. */

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, "", 0, -1, 1.5, 3, 129, 1e300, true, [], {}, [null], "x".repeat(300), {
    type: "text",
  }),
  fc.jsonValue({ maxDepth: 2 }),
)
/** A value that is usually valid. */
const mostly = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 60, arbitrary: right }, { weight: 1, arbitrary: odd }, { weight: 1, arbitrary: fc.constant(null) })
const text = fc.string({ maxLength: 8 })

const object = (fields: Record<string, fc.Arbitrary<unknown>>, required: string[] = []) =>
  fc.record({ ...fields, x_vendor: odd }, { requiredKeys: required as never[], noNullPrototype: true })

const part = fc.oneof(
  object({ type: mostly(fc.constant("text")), text: mostly(text), cache_control: odd }, ["type", "text"]),
  object({ type: fc.constant("image_url"), image_url: mostly(object({ url: mostly(text) }, ["url"])) }, ["type"]),
  object({ type: mostly(fc.constant("text")), text, refusal: text }, ["type", "text"]),
)
const content = fc.oneof({ weight: 4, arbitrary: text }, { weight: 3, arbitrary: fc.array(part, { maxLength: 2 }) })
const call = object(
  {
    id: mostly(text),
    type: mostly(fc.constant("function")),
    function: mostly(object({ name: mostly(text), arguments: mostly(text) }, ["name", "arguments"])),
  },
  ["id", "type", "function"],
)
const message = object(
  {
    role: mostly(fc.constantFrom("system", "developer", "user", "assistant", "tool")),
    content: mostly(content),
    name: mostly(text),
    tool_calls: mostly(fc.array(call, { maxLength: 2 })),
    tool_call_id: mostly(text),
    refusal: mostly(text),
    reasoning: mostly(text),
  },
  ["role", "content"],
)
const tool = object(
  {
    type: mostly(fc.constant("function")),
    function: mostly(
      object(
        {
          name: mostly(fc.constantFrom("get_weather", "f")),
          description: mostly(text),
          parameters: mostly(fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })),
          strict: mostly(fc.boolean()),
        },
        ["name"],
      ),
    ),
  },
  ["type", "function"],
)
const count = mostly(fc.integer({ min: 1, max: 9 }))
const number = mostly(fc.double({ min: 0, max: 1, noNaN: true }))
const body = object(
  {
    model: mostly(fc.constant("maker/model")),
    messages: mostly(fc.array(message, { minLength: 1, maxLength: 3 })),
    stream: mostly(fc.boolean()),
    stream_options: mostly(object({ include_usage: mostly(fc.boolean()) })),
    usage: mostly(object({ include: mostly(fc.boolean()) })),
    max_tokens: count,
    max_completion_tokens: count,
    temperature: number,
    top_p: number,
    frequency_penalty: number,
    presence_penalty: number,
    seed: mostly(fc.integer()),
    stop: mostly(fc.oneof(text, fc.array(text, { maxLength: 4 }))),
    n: count,
    tools: mostly(fc.array(tool, { maxLength: 2 })),
    tool_choice: mostly(fc.constantFrom("auto", "none", "required")),
    parallel_tool_calls: mostly(fc.boolean()),
    response_format: mostly(object({ type: mostly(fc.constantFrom("text", "json_object")) })),
    user: mostly(text),
    session_id: mostly(text),
  },
  ["messages"],
)

test("a body on the hot path is accepted by the schema and not changed", () => {
  let taken = 0
  fc.assert(
    fc.property(body, (generated) => {
      const json = JSON.stringify(generated)
      const plain: unknown = JSON.parse(json)
      if (!isPlainChat(plain)) return
      taken += 1
      const checked = ChatRequest.safeParse(JSON.parse(json))
      expect(checked.error?.issues).toBeUndefined()
      expect(plain).toEqual(checked.data)
    }),
    { numRuns: runs(60) },
  )
  expect(taken).toBeGreaterThan(runs(6))
})

test.each([
  [{ model: "m/x", messages: [{ role: "user", content: "Hi" }] }],
  [{ model: "m/x", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], stream: true, top_p: 1 }],
  [{ messages: [{ role: "assistant", content: null, tool_calls: [] }], tools: null, x_unknown: { a: 1 } }],
])("%j is plain", (plain) => {
  expect(isPlainChat(structuredClone(plain))).toBe(true)
})

test.each([
  [null],
  [[]],
  [{ model: "m/x", messages: [] }],
  [{ model: "m/x", messages: [{ role: "user" }] }],
  [{ model: "m/x", messages: [{ role: "user", content: "Hi" }], models: ["m/y"] }],
  [{ model: "m/x", messages: [{ role: "user", content: "Hi" }], stream: null }],
  [JSON.parse('{"model":"m/x","messages":[{"role":"user","content":"Hi","__proto__":{}}]}')],
])("%j is left to the schema", (other: unknown) => {
  expect(isPlainChat(other)).toBe(false)
})
