import { describe, expect, test } from "vitest"
import { findModel, hasVariant, splitRequestVariants } from "../../src/routing/names.ts"
import { suggestNames } from "../../src/support/text/suggest.ts"
import { EndpointHealth } from "../../src/routing/health.ts"
import type { Catalogue, Model } from "../../src/models/catalogue.ts"

const model = (id: string, created = 0): Model => ({
  id,
  name: id,
  description: "",
  created,
  contextLength: 1_000,
  inputModalities: ["text"],
  outputModalities: ["text"],
  tokenizer: "Other",
  knowledgeCutoff: null,
  endpoints: [],
})

const catalogue: Catalogue = {
  models: new Map(
    [
      "anthropic/claude-3.7-sonnet",
      "anthropic/claude-3.7-sonnet:thinking",
      "anthropic/claude-sonnet-4",
      "anthropic/claude-sonnet-4.5",
      "anthropic/claude-opus-4.1",
      "anthropic/claude-sonnet-5-preview",
      "openai/gpt-5.5",
      "openai/gpt-5.5-mini",
      "openai/gpt-5.10",
      "openai/gpt-4.1",
      "moonshotai/kimi-k2-0905",
      "moonshotai/kimi-k2.5",
      "google/gemini-3-flash-preview",
      "x/free-thing:free",
    ].map((id) => [id, model(id)]),
  ),
}

describe("an alias is the newest model of its family", () => {
  test.each([
    ["~anthropic/claude-sonnet-latest", "anthropic/claude-sonnet-4.5"],
    ["~anthropic/claude-opus-latest", "anthropic/claude-opus-4.1"],
    ["~openai/gpt-latest", "openai/gpt-5.10"],
    ["~openai/gpt-5-latest", "openai/gpt-5.10"],
    ["~openai/gpt-mini-latest", "openai/gpt-5.5-mini"],
    ["~moonshotai/kimi-latest", "moonshotai/kimi-k2.5"],
    ["~google/gemini-flash-latest", "google/gemini-3-flash-preview"],
    ["~openai/o-latest", undefined],
    ["~nobody/gpt-latest", undefined],
    ["openai/gpt-latest", undefined],
  ])("%s resolves to %s", (name, expected) => {
    expect(findModel(name, catalogue).model?.id).toBe(expected)
  })
})

describe("a variant is a separate model if there is one, otherwise a sort order", () => {
  test.each([
    ["openai/gpt-5.5:nitro", { id: "openai/gpt-5.5", sort: "throughput" }],
    ["openai/gpt-5.5:floor", { id: "openai/gpt-5.5", sort: "price" }],
    ["openai/gpt-5.5:exacto", { id: "openai/gpt-5.5", sort: "exacto" }],
    ["~openai/gpt-latest:nitro", { id: "openai/gpt-5.10", sort: "throughput" }],
    ["openai/gpt-5.5:free", { id: "openai/gpt-5.5", isFree: true }],
    ["x/free-thing:free", { id: "x/free-thing:free" }],
    ["OpenAI/GPT-5.5:NITRO", { id: "openai/gpt-5.5", sort: "throughput" }],
    ["openai/gpt-5.5:Free", { id: "openai/gpt-5.5", isFree: true }],
    ["openai/gpt-5.5:mystery", {}],
    ["openai/gpt-5.5:constructor", {}],
  ])("%s", (name, expected) => {
    const { model: found, sort, isFree } = findModel(name, catalogue)
    expect({ ...(found && { id: found.id }), ...(sort && { sort }), ...(isFree && { isFree }) }).toEqual(expected)
  })

  test.each([
    ["openai/gpt-5.5:online", "openai/gpt-5.5", ["online"]],
    ["openai/gpt-5.5:online:nitro", "openai/gpt-5.5:nitro", ["online"]],
    ["anthropic/claude-sonnet-4.5:thinking", "anthropic/claude-sonnet-4.5", ["thinking"]],
    ["anthropic/claude-3.7-sonnet:thinking", "anthropic/claude-3.7-sonnet:thinking", []],
    ["openai/gpt-5.5:Online", "openai/gpt-5.5", ["online"]],
    ["Anthropic/Claude-3.7-Sonnet:Thinking", "Anthropic/Claude-3.7-Sonnet:Thinking", []],
    ["openai/gpt-5.5", "openai/gpt-5.5", []],
  ])("%s is split to %s with %j", (name, base, variants) => {
    expect(splitRequestVariants(name, catalogue)).toEqual({ name: base, variants })
  })
})

test("a variant is found in any letter case and position, so that the limit of free models counts every call", () => {
  const names = ["a/b:free", "a/b:FREE", "a/b:free:nitro", "a/b", "a/b:freer", "free"]
  expect(names.map((name) => hasVariant(name, "free"))).toEqual([true, true, true, false, false, false])
})

describe("the statistics of an endpoint", () => {
  test("are percentiles of its samples of the last half hour", () => {
    const health = new EndpointHealth()
    for (let at = 1; at <= 100; at++) {
      health.measured("e", { at, latencyMs: at, tokensPerSecond: at, isGood: at % 10 !== 0 })
    }
    const { latencyMs, tokensPerSecond, failures } = health.statisticsOf("e", 100)
    expect(latencyMs).toEqual({ p50: 51, p75: 76, p90: 91, p99: 100 })
    expect(tokensPerSecond).toEqual({ p50: 50, p75: 25, p90: 10, p99: 1 })
    expect(failures).toBeCloseTo(0.1)
    expect(health.statisticsOf("e", 30 * 60_000 + 200)).toEqual({ latencyMs: null, tokensPerSecond: null, failures: 0 })
  })
})

describe("a name that differs from the id", () => {
  test.each([
    ["OpenAI/GPT-5.5", "openai/gpt-5.5"],
    ["gpt-5.5", "openai/gpt-5.5"],
    ["GPT-5.5:nitro", "openai/gpt-5.5"],
    ["~Anthropic/Claude-Sonnet-LATEST", "anthropic/claude-sonnet-4.5"],
    ["X/Free-Thing:FREE", "x/free-thing:free"],
    ["gpt-9", undefined],
  ])("%s resolves to %s", (name, id) => {
    expect(findModel(name, catalogue).model?.id).toBe(id)
  })

  test("that is the slug of two authors is unknown", () => {
    const models = new Map(["a/same", "b/same"].map((id) => [id, model(id)]))
    expect(findModel("same", { models }).model).toBeUndefined()
  })

  test("has suggestions, the most similar first", () => {
    expect(suggestNames("openai/gpt-5.5-min", catalogue.models.keys())[0]).toBe("openai/gpt-5.5-mini")
    expect(suggestNames("completely different", catalogue.models.keys())).toEqual([])
  })
})
