import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { merge, presetOf } from "../../src/inference/presets/apply.ts"
import { presetFields as toMessages } from "../../src/inference/presets/messages.ts"
import { presetFields as toResponses } from "../../src/inference/presets/responses.ts"
import {
  chatContent,
  messagesContent,
  PRESET_FIELDS,
  responsesContent,
  ChatPreset,
  MessagesPreset,
  type PresetConfig,
  ResponsesPreset,
} from "../../src/presets/config.ts"

const name = fc.constantFrom("a/b", "c/d")
const configs = fc.record(
  {
    model: name,
    models: fc.array(name, { minLength: 1, maxLength: 2 }),
    max_tokens: fc.integer({ min: 1, max: 100 }),
    temperature: fc.integer({ min: 0, max: 2 }),
    top_p: fc.constantFrom(0, 0.5, 1),
    seed: fc.integer(),
    stop: fc.oneof(fc.constant("x"), fc.constant(["x", "y"])),
    reasoning: fc.record({ effort: fc.constantFrom("low" as const, "none" as const, "high" as const) }),
    response_format: fc.constant({ type: "json_object" as const }),
    tools: fc.constant([{ type: "function" as const, function: { name: "f" } }]),
    tool_choice: fc.constantFrom("auto" as const, "none" as const, "required" as const),
    parallel_tool_calls: fc.boolean(),
    provider: fc.record({ allow_fallbacks: fc.boolean() }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<PresetConfig>

const TEXTS = [
  ["chat", (config: PresetConfig): Record<string, unknown> => config],
  ["responses", toResponses],
  ["messages", toMessages],
] as const

describe.each(TEXTS)("a preset in the format of %s", (_, fieldsOf) => {
  test("never overrides a field of a request, and adds missing ones", () => {
    fc.assert(
      fc.property(
        configs,
        configs,
        fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue()),
        (scoped, preset, more) => {
          const request = { ...more, ...fieldsOf(scoped) }
          const content = fieldsOf(preset)
          const merged = merge(request, content)
          for (const [field, value] of Object.entries(request)) {
            // Compound fields may be extended.
            const isCompound = field === "text" || field === "output_config"
            if (value != null) expect(merged[field]).toEqual(isCompound ? expect.objectContaining(value) : value)
          }
          for (const field of Object.keys(merged)) expect(field in request || field in content).toBe(true)
          expect(merge({}, content)).toEqual(content)
        },
      ),
    )
  })
})

test("a request with an equivalent field is not overridden", () => {
  expect(merge({ max_completion_tokens: 5 }, { max_tokens: 9 })).toEqual({ max_completion_tokens: 5 })
  expect(merge({ reasoning_effort: "low" }, { reasoning: { effort: "high" } })).toEqual({ reasoning_effort: "low" })
  expect(merge({ models: ["a/b"] }, { model: "c/d", models: ["e/f"] })).toEqual({ models: ["a/b"] })
  expect(merge({ tools: [] }, { tools: [1], tool_choice: "required" })).toEqual({ tools: [] })
  expect(merge({ tool_choice: "none" }, { tools: [1], tool_choice: "auto" })).toEqual({
    tool_choice: "none",
    tools: [1],
  })
  expect(merge({ temperature: null, models: [] }, { temperature: 1, model: "a/b" })).toEqual({
    temperature: 1,
    models: [],
    model: "a/b",
  })
  expect(merge({ text: { verbosity: "low" } }, { text: { format: 1, verbosity: "high" } })).toEqual({
    text: { verbosity: "low", format: 1 },
  })
})

const CONTENTS = [
  ["chat", (body: unknown) => chatContent(ChatPreset.parse(body))],
  ["responses", (body: unknown) => responsesContent(ResponsesPreset.parse(body))],
  ["messages", (body: unknown) => messagesContent(MessagesPreset.parse(body))],
] as const

test.each(CONTENTS)("a body of %s stores only fields of a preset", (_, contentOf) => {
  const KNOWN = /^(instructions|system|text|thinking|output_config|max_\w+|stop_sequences|reasoning_effort)$/
  const unknown = fc
    .dictionary(
      fc.oneof(fc.string(), fc.constantFrom("messages", "stream", "prompt", "input", "user", "metadata", "store", "n")),
      fc.jsonValue(),
    )
    .filter((body) => Object.keys(body).every((key) => !PRESET_FIELDS.includes(key as "model") && !KNOWN.test(key)))
  fc.assert(
    fc.property(unknown, fc.record({ temperature: fc.constant(0.5) }, { requiredKeys: [] }), (noise, output) => {
      expect(contentOf({ ...noise, ...output })).toEqual({ config: output, systemPrompt: null })
    }),
  )
})

test("a request without a preset is unchanged", () => {
  for (const request of [{ model: "a/b" }, { model: "a/b:free", models: ["c/d"], preset: null }, {}]) {
    expect(presetOf(request)).toBeUndefined()
  }
})
