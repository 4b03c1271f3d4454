import { describe, expect, test } from "vitest"
import type { Endpoint } from "../../src/models/catalogue.ts"
import type { Pricing } from "../../src/money/pricing.ts"
import { compile, offer } from "../../src/models/compile.ts"
import { Search, search, toPage } from "../../src/models/lists/search.ts"
import { newEndpoint, newModel } from "../support/catalogue.ts"

const NOW = Date.parse("2026-11-21T00:00:00Z")
const DAY = 86_400

const endpoint = (provider: string, pricing: Pricing | null, more: Partial<Endpoint> = {}) =>
  newEndpoint("", provider, { pricing, supportedParameters: ["max_tokens"], ...more })

const price = (prompt: string, completion = prompt): Pricing => ({ prompt, completion })
const models = [
  newModel("a/mid", [endpoint("groq", price("0.000002"))], { created: NOW / 1_000 - 10 * DAY, contextLength: 5_000 }),
  newModel(
    "a/cheap",
    [endpoint("openai", price("0.000001"), { supportedParameters: ["tools"], zeroRetention: true })],
    {
      name: "Very Cheap",
      inputModalities: ["text", "image"],
      tokenizer: "GPT",
    },
  ),
  newModel("b/dear", [endpoint("groq", price("0.000003"))], { created: NOW / 1_000 - DAY }),
  newModel("b/embed", [endpoint("openai", price("0.000001", "0"))], { outputModalities: ["embeddings"] }),
  newModel("c/unpriced", [endpoint("openai", null)]),
]

function find(query: Record<string, string>): string[] {
  return search(models, Search.parse(query), new Map(), NOW).map(({ id }) => id)
}

describe("a search of models", () => {
  test.each([
    ["nothing: text models with a price", {}, ["a/mid", "a/cheap", "b/dear"]],
    [
      "filters without a value: as without them",
      { output_modalities: "", input_modalities: "", supported_parameters: ",", model_authors: "", providers: " " },
      ["a/mid", "a/cheap", "b/dear"],
    ],
    ["all outputs", { output_modalities: "all" }, ["a/mid", "a/cheap", "b/dear", "b/embed"]],
    ["one other output", { output_modalities: "embeddings" }, ["b/embed"]],
    ["text in the name", { q: "very" }, ["a/cheap"]],
    ["several inputs, all required", { input_modalities: "text,image" }, ["a/cheap"]],
    ["parameters", { supported_parameters: "tools" }, ["a/cheap"]],
    ["context", { context: "2000" }, ["a/mid"]],
    ["a price equal to the limit", { min_price: "2", max_price: "2" }, ["a/mid"]],
    ["an output price", { min_output_price: "2.5" }, ["b/dear"]],
    ["authors", { model_authors: "b,c" }, ["b/dear"]],
    ["providers", { providers: "OpenAI" }, ["a/cheap"]],
    ["tokenizer", { arch: "gpt" }, ["a/cheap"]],
    ["zero retention", { zdr: "true" }, ["a/cheap"]],
    ["age, if known", { max_age_days: "5" }, ["b/dear"]],
    ["a value unknown for all", { category: "legal" }, []],
    ["newest first", { sort: "newest" }, ["b/dear", "a/mid", "a/cheap"]],
    ["cheapest first", { sort: "pricing-low-to-high" }, ["a/cheap", "a/mid", "b/dear"]],
    ["most expensive first", { sort: "pricing-high-to-low" }, ["b/dear", "a/mid", "a/cheap"]],
    ["longest first", { sort: "context-high-to-low" }, ["a/mid", "a/cheap", "b/dear"]],
    ["a sort without scores keeps the order", { sort: "top-weekly" }, ["a/mid", "a/cheap", "b/dear"]],
  ])("by %s", (_, query, expected) => {
    expect(find(query)).toEqual(expected)
  })

  test.each([
    { limit: "0" },
    { limit: "1001" },
    { offset: "-1" },
    { limit: "" },
    { context: "many" },
    { min_price: "1e3" },
    { sort: "best" },
    { output_modalities: "text,smell" },
    { zdr: "false" },
    { min_tool_success_rate: "1.01" },
    { max_tool_success_rate: "-1" },
  ])("rejects %j", (query) => {
    expect(Search.safeParse(query).success).toBe(false)
  })
})

describe("a page", () => {
  const all = Array.from({ length: 7 }, (_, i) => i)
  const at = "https://gateway.example/api/v1/models?q=x&limit=3"

  test("has all items without offset and limit", () => {
    expect(toPage(all, {}, at)).toEqual({ items: all, next: null })
  })

  test("has the path of the next page, or null", () => {
    expect(toPage(all, { limit: 3 }, at)).toEqual({ items: [0, 1, 2], next: "/api/v1/models?q=x&limit=3&offset=3" })
    expect(toPage(all, { limit: 3, offset: 6 }, at)).toEqual({ items: [6], next: null })
    expect(toPage(all, { offset: 9 }, at)).toEqual({ items: [], next: null })
  })
})

describe("the catalogue", () => {
  const dear = endpoint("openai", price("0.00001"))
  const cheap = endpoint("groq", price("0.000001"))

  test("offers endpoints of configured providers, cheapest first and unpriced last", () => {
    const both = newModel("a/x", [endpoint("xai", null), dear, cheap])
    const { models: offered } = offer([both, newModel("a/gone", [cheap])], new Set(["openai", "xai"]))
    expect([...offered.keys()]).toEqual(["a/x"])
    expect(offered.get("a/x")?.endpoints.map(({ provider }) => provider)).toEqual(["openai", "xai"])
    const all = offer([both], new Set(["openai", "xai", "groq"])).models.get("a/x")
    expect(all?.endpoints.map(({ provider }) => provider)).toEqual(["groq", "openai", "xai"])
  })

  test("prefers a stored endpoint to a configured one of the same provider", () => {
    const put = newModel("local/x", [endpoint("local", price("0.5"))])
    const { models: offered } = offer([put, newModel("local/x", [endpoint("local", null)])], new Set(["local"]))
    expect(offered.get("local/x")?.endpoints).toEqual(put.endpoints)
  })

  test("uses the operator's price instead of the seed's, and omits disabled endpoints", () => {
    const { model: _, provider: __, ...facts } = dear
    const { id, endpoints: ___, ...about } = newModel("a/x", [])
    const row = {
      provider: "openai",
      source: "seed",
      facts,
      priceOverride: null,
      disabled: false,
      updatedAt: 0,
    } as const
    const stored = [
      { ...row, priceOverride: price("0.5") },
      { ...row, provider: "groq", disabled: true },
    ]
    const [compiled] = compile([{ id, source: "seed", facts: about, updatedAt: 0, endpoints: stored }])
    expect(compiled?.endpoints).toEqual([{ ...dear, model: "a/x", pricing: price("0.5") }])
    expect(compile([{ id, source: "seed", facts: about, updatedAt: 0, endpoints: stored.slice(1) }])).toEqual([])
  })
})

test("a model without a configured provider lists the providers of all its rows", () => {
  const rows = [newModel("a/Own", [endpoint("pool", null)]), newModel("a/Own", [endpoint("spare", null)])]
  expect(offer(rows, new Set(["groq"])).unconfigured?.get("a/own")).toEqual(["pool", "spare"])
  expect(offer(rows, new Set(["spare"])).unconfigured?.size).toBe(0)
})
