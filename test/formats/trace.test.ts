import { expect, test } from "vitest"
import { ChatRequest } from "../../src/formats/schemas.ts"
import { MessagesRequest } from "../../src/formats/messages/schemas.ts"
import { ResponsesRequest } from "../../src/formats/responses/schemas.ts"

const messages = [{ role: "user", content: "Hi" }]
const FORMATS = [
  ["chat", ChatRequest, { model: "a/b", messages }],
  ["responses", ResponsesRequest, { model: "a/b", input: "Hi" }],
  ["messages", MessagesRequest, { model: "a/b", max_tokens: 10, messages }],
] as const

test.each(FORMATS)("a trace rejects known keys that are not strings: %s", (_, schema, body) => {
  for (const trace of [{ trace_id: 7 }, { span_name: "x".repeat(257) }, { generation_name: {} }, "t", [1]]) {
    expect(schema.safeParse({ ...body, trace }).success, JSON.stringify(trace)).toBe(false)
  }
  const trace = { trace_id: "t", parent_span_id: null, team: { name: "search", size: 3 } }
  expect(schema.parse({ ...body, trace }).trace).toEqual(trace)
})
