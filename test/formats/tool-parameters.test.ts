import { expect, test } from "vitest"
import { completeTools } from "../../src/formats/chat/normalize/tool-parameters.ts"
import type { Json } from "../../src/support/text/json.ts"

const toolWith = (parameters?: Json) => ({
  type: "function",
  function: { name: "f", ...(parameters && { parameters }) },
})

test.each([
  [{ type: "object" }, { type: "object", properties: {} }],
  [{}, { type: "object", properties: {} }],
  [
    { type: "object", additionalProperties: false },
    { type: "object", additionalProperties: false, properties: {} },
  ],
])("parameters without properties, which OpenAI rejects, get an empty list of them: %j", (parameters, expected) => {
  expect(completeTools([toolWith(parameters)])).toEqual([toolWith(expected)])
})

test.each([
  [{ type: "object", properties: { a: {} } }],
  [{ $ref: "#/$defs/a", $defs: {} }],
  [{ anyOf: [{ type: "object", properties: {} }] }],
  [undefined],
])("other parameters stay: %j", (parameters) => {
  const tools = [toolWith(parameters), { type: "web_search" }]
  expect(completeTools(tools)).toBe(tools)
})
