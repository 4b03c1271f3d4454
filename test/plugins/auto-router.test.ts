import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type Candidate,
  chooseModels,
  type Facts,
  looksLikeCode,
  tierFor,
  type AutoRouterPreferences,
} from "../../src/plugins/auto-router.ts"
import { matcher } from "../../src/support/text/wildcard.ts"
import { runs } from "../support/runs.ts"

const FACTS: Facts = {
  promptTokens: 100,
  needsTools: false,
  needsImages: false,
  needsStructured: false,
  hasCode: false,
  lastAssistantModel: undefined,
}

function model(id: string, price: number, more: Partial<Candidate> = {}): Candidate {
  return {
    id,
    promptPrice: price.toFixed(8),
    completionPrice: (price * 4).toFixed(8),
    created: 1_000,
    contextLength: 100_000,
    inputModalities: ["text", "image"],
    supportedParameters: ["tools", "structured_outputs"],
    ...more,
  }
}

/** a/m0 to a/m10 by ascending price: percentiles 0, 10, … 100. */
const eleven = Array.from({ length: 11 }, (_, index) => model(`a/m${index}`, (index + 1) / 1e6))
const ids = (...numbers: number[]) => numbers.map((number) => `a/m${number}`)
const choose = (preferences: AutoRouterPreferences = {}, facts: Partial<Facts> = {}, candidates = eleven) =>
  chooseModels(candidates, preferences, { ...FACTS, ...facts })

describe("the models of a tier", () => {
  test.each([
    ["low", ids(0, 1)],
    ["medium", ids(2, 3)],
    ["high", ids(4, 5)],
    ["xhigh", ids(6, 7)],
    ["max", ids(8, 9, 10)],
  ] as const)("%s", (cost_tier, expected) => {
    expect(choose({ cost_tier })).toEqual(expected)
  })

  test("are the nearest ones when the band is empty", () => {
    const two = [model("a/cheap", 1), model("a/dear", 9)]
    const first = (cost_tier: AutoRouterPreferences["cost_tier"]) => choose({ cost_tier }, {}, two)
    expect(["low", "medium", "high", "xhigh", "max"].map((tier) => first(tier as "low"))).toEqual([
      ["a/cheap"],
      ["a/cheap"],
      ["a/cheap", "a/dear"].slice(0, first("high").length),
      ["a/dear"],
      ["a/dear"],
    ])
    expect(choose({ cost_tier: "max" }, {}, [model("a/only", 1)])).toEqual(["a/only"])
  })

  test("are sorted by newest, cheapest and name", () => {
    const models = [
      model("a/z", 1),
      model("a/y", 1),
      model("a/new", 1.1, { created: 2_000 }),
      ...Array.from({ length: 12 }, (_, index) => model(`b/${index}`, 10 + index)),
    ]
    expect(choose({ cost_tier: "low" }, {}, models)).toEqual(["a/new", "a/y", "a/z"])
  })

  test("override the tradeoff setting", () => {
    expect(choose({ cost_tier: "max", cost_quality_tradeoff: 10 })).toEqual(ids(8, 9, 10))
  })
})

test.each([
  [10, ids(0, 1)],
  [9, ids(0, 1)],
  [5, ids(0, 1, 2, 3, 4, 5)],
  [0, ids(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)],
])("a tradeoff of %i limits the models to a price ceiling", (cost_quality_tradeoff, expected) => {
  expect(choose({ cost_quality_tradeoff })).toEqual(expected)
})

describe("the tier without cost_tier", () => {
  test.each<[string, Partial<Facts>, string]>([
    ["a short question is cheap", {}, "low"],
    ["a long one has a higher tier", { promptTokens: 3_000 }, "medium"],
    ["a very long one has a higher tier still", { promptTokens: 20_000 }, "high"],
    ["tools raise the tier", { needsTools: true }, "medium"],
    ["code raises the tier", { hasCode: true }, "medium"],
    ["a schema raises the tier", { needsStructured: true }, "medium"],
    ["tools and code raise it further", { needsTools: true, hasCode: true }, "high"],
    [
      "all of them do not reach the highest tier",
      { promptTokens: 50_000, needsTools: true, hasCode: true, needsStructured: true },
      "xhigh",
    ],
  ])("%s", (_, facts, tier) => {
    expect(tierFor({ ...FACTS, ...facts })).toBe(tier)
    expect(choose({}, facts)).toEqual(choose({ cost_tier: tier as "low" }))
  })

  test.each([
    ["What is salt?", false],
    ["Write a poem about rain; make it short.", false],
    ["Fix this:\n```ts\nlet a\n```", true],
    ["def add(a, b):\n  return a + b", true],
    ["const a = 1", true],
    ["SELECT name FROM users", true],
  ])("detects code in %j: %s", (text, expected) => {
    expect(looksLikeCode(text)).toBe(expected)
  })
})

describe("model requirements", () => {
  test.each<[string, Partial<Facts>, Partial<Candidate>]>([
    ["a prompt longer than its context", { promptTokens: 1_000 }, { contextLength: 1_000 }],
    ["images it does not support", { needsImages: true }, { inputModalities: ["text"] }],
    ["tools it does not support", { needsTools: true }, { supportedParameters: ["structured_outputs"] }],
    ["structured output it does not support", { needsStructured: true }, { supportedParameters: ["tools"] }],
    ["an invalid price", {}, { promptPrice: "free" }],
    ["a negative price", {}, { promptPrice: "-1" }],
  ])("exclude a model with %s", (_, facts, fields) => {
    expect(choose({}, facts, [model("a/unfit", 1, fields)])).toEqual([])
    expect(choose({}, facts, [model("a/unfit", 1, fields), model("a/fit", 9)])).toEqual(["a/fit"])
  })

  test("include a model of unknown context length", () => {
    expect(choose({}, { promptTokens: 1e6 }, [model("a/m", 1, { contextLength: 0 })])).toEqual(["a/m"])
  })
})

describe("allowed and excluded models", () => {
  const models = ["a/x", "a/y:free", "b/x", "b/y:free"].map((id) => model(id, 1))
  test.each<[AutoRouterPreferences, string[]]>([
    [{ allowed_models: ["a/*"] }, ["a/x", "a/y:free"]],
    [{ allowed_models: ["*:free"] }, ["a/y:free", "b/y:free"]],
    [{ allowed_models: [] }, ["a/x", "a/y:free", "b/x", "b/y:free"]],
    [{ excluded_models: ["*/x"] }, ["a/y:free", "b/y:free"]],
    [{ allowed_models: ["a/*", "b/x"], excluded_models: ["*:free"] }, ["a/x", "b/x"]],
    [{ allowed_models: ["a/x"], excluded_models: ["A/*"] }, []],
  ])("%j", (preferences, expected) => {
    const chosen = (["low", "medium", "high", "xhigh", "max"] as const).flatMap((cost_tier) =>
      choose({ ...preferences, cost_tier }, {}, models),
    )
    expect([...new Set(chosen)].sort()).toEqual(expected)
  })
})

describe("a pinned model", () => {
  test("is the model of the last response, in any band", () => {
    expect(choose({ pin_model: true, cost_tier: "low" }, { lastAssistantModel: "a/m9" })).toEqual(ids(9, 0, 1))
    expect(choose({ pin_model: true, cost_tier: "low" }, { lastAssistantModel: "a/m1" })).toEqual(ids(1, 0))
  })

  test("is ignored if it is excluded, unknown or pin_model is off", () => {
    const low = { cost_tier: "low" } as const
    const facts = { lastAssistantModel: "a/m9" }
    expect(choose({ ...low, pin_model: true, excluded_models: ["a/m9"] }, facts)).toEqual(ids(0, 1))
    expect(choose({ ...low, pin_model: true }, { lastAssistantModel: "x/gone" })).toEqual(ids(0, 1))
    expect(choose(low, facts)).toEqual(ids(0, 1))
  })
})

test("the choice does not depend on the order of the candidates", () => {
  const shuffled = fc.shuffledSubarray(eleven, { minLength: 11, maxLength: 11 })
  fc.assert(
    fc.property(shuffled, fc.constantFrom("low", "high", "max"), (candidates, cost_tier) => {
      expect(choose({ cost_tier: cost_tier as "low" }, {}, candidates)).toEqual(
        choose({ cost_tier: cost_tier as "low" }),
      )
    }),
  )
})

describe("a pattern", () => {
  test.each([
    ["a/b", "a/b", true],
    ["a/b", "a/bc", false],
    ["A/B", "a/b", true],
    ["*", "", true],
    ["*", "anything/at:all", true],
    ["a/*", "a/b/c", true],
    ["a/*", "ab/c", false],
    ["*:free", "a/b:free", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["ab*ba", "aba", false],
    ["*b*", "abc", true],
    ["a*b*c", "axxbxxc", true],
    ["a*b*c", "axxcxxb", false],
    ["a*bc*c", "abc", false],
    ["**", "x", true],
    ["a.c", "abc", false],
    ["(a+)+$", "(a+)+$", true],
    ["[ab]", "a", false],
  ])("%s, %s: %s", (pattern, name, expected) => {
    expect(matcher([pattern])(name)).toBe(expected)
  })

  test("matches like the equivalent regular expression", () => {
    const small = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 12 })
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "/", "*"), maxLength: 8 })
    fc.assert(
      fc.property(pattern, small, (one, name) => {
        const expression = new RegExp(`^${one.replaceAll("*", ".*")}$`)
        expect(matcher([one])(name)).toBe(expression.test(name))
      }),
      { numRuns: runs(8) },
    )
  })

  test("matches in bounded time for any patterns", () => {
    const matches = matcher(Array.from({ length: 64 }, () => "*a".repeat(500) + "b"))
    for (let count = 0; count < 400; count++) expect(matches("a".repeat(256))).toBe(false)
  })
})
