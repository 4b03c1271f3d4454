import { describe, expect, test } from "vitest"
import { withKnownNames } from "../../src/models/known-names.ts"
import type { Model } from "../../src/models/catalogue.ts"

const model = (id: string) => ({ id }) as unknown as Model
const known = {
  catalogue: {
    models: new Map(
      ["openai/gpt-4o", "openai/gpt-4o-mini", "meta-llama/Llama-3.3-70B", "sim/echo", "sim/echo:free"].map((id) => [
        id,
        model(id),
      ]),
    ),
    unconfigured: new Map([["anthropic/claude-sonnet-4.5", ["anthropic"]]]),
  },
  providers: new Map([["house", { name: "In-House GPUs" }]]),
  aliases: ["team/fast"],
}
const models = (...names: string[]) => withKnownNames({ allowed_models: names }, known).allowed_models
const providers = (...names: string[]) => withKnownNames({ ignored_providers: names }, known).ignored_providers

describe("models of a guardrail", () => {
  test("are stored in the spelling of the catalogue", () => {
    expect(models("OpenAI/GPT-4o", "meta-llama/llama-3.3-70b", "gpt-4o-mini")).toEqual([
      "openai/gpt-4o",
      "meta-llama/Llama-3.3-70B",
      "openai/gpt-4o-mini",
    ])
    expect(models("sim/echo", "SIM/echo")).toEqual(["sim/echo"])
  })

  test.each([
    ["of a provider that is not configured", "anthropic/claude-sonnet-4.5"],
    ["an alias of the workspace", "team/fast"],
    ["a variant", "sim/echo:free"],
    ["a variant of a model", "openai/gpt-4o:nitro"],
    ["a pattern of an author", "openai/*"],
    ["a pattern of a provider without models here", "groq/*"],
    ["a pattern of all authors", "*:free"],
    ["the latest of a family", "~anthropic/claude-sonnet-latest"],
  ])("can be %s", (_, name) => {
    expect(models(name)).toEqual([name])
  })

  test.each([
    ["openai/gpt-4oo", "Did you mean openai/gpt-4o"],
    ["opnai/gpt-4o", "Did you mean openai/gpt-4o"],
    ["opnai/*", "there is no model opnai/*"],
    ["team/slow", "allow_unknown"],
  ])("are rejected if unknown: %s", (name, message) => {
    expect(() => models("sim/echo", name)).toThrow(message)
    expect(() => models("sim/echo", name)).toThrow("allowed_models[1]")
  })
})

describe("providers of a guardrail", () => {
  test("are stored as slugs", () => {
    expect(providers("OpenAI", "in-house gpus", "house/fp8")).toEqual(["openai", "house", "house/fp8"])
  })

  test("are rejected if unknown", () => {
    expect(() => providers("opnai")).toThrow(
      "ignored_providers[0]: there is no provider opnai here. Did you mean openai",
    )
  })
})

test("a change keeps null fields and adds no field", () => {
  const change = { allowed_models: null, name: "x" }
  expect(withKnownNames(change, known)).toEqual(change)
})
