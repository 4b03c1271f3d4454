import { expect, test } from "vitest"
import { toOutputSchema } from "../../../src/formats/messages/upstream/output-schema.ts"

test("constraints that the Messages API rejects are in the description, at any depth", () => {
  const schema = {
    type: "object",
    properties: {
      score: { type: "integer", minimum: 0, maximum: 5, description: "The score" },
      text: { type: "string", maxLength: 5, format: "date", pattern: "^a" },
      tags: { type: "array", items: { type: "number", multipleOf: 2 }, minItems: 1, maxItems: 3 },
      pair: { anyOf: [{ type: "array", items: { type: "string" }, minItems: 2 }, { type: "null" }] },
      // The name of a property is not a constraint.
      minimum: { type: "string" },
    },
    required: ["score"],
  }
  expect(toOutputSchema(schema)).toEqual({
    type: "object",
    properties: {
      score: { type: "integer", description: "The score (minimum: 0, maximum: 5)" },
      text: { type: "string", format: "date", pattern: "^a", description: "maxLength: 5" },
      tags: {
        type: "array",
        items: { type: "number", description: "multipleOf: 2" },
        minItems: 1,
        description: "maxItems: 3",
      },
      pair: { anyOf: [{ type: "array", items: { type: "string" }, description: "minItems: 2" }, { type: "null" }] },
      minimum: { type: "string" },
    },
    required: ["score"],
    additionalProperties: false,
  })
})
