import { defaultsOf } from "../../src/observability/kinds.ts"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { exportContextOf } from "../../src/observability/context.ts"
import { matches, type DestinationFilter, sampleOf } from "../../src/observability/coverage.ts"
import { type Facts, passes } from "../../src/observability/filter.ts"
import type { FilterRule, FilterRules } from "../../src/observability/schemas.ts"
import { toCallContent } from "../../src/observability/call-content.ts"

const HEAD: DestinationFilter = { keyHashes: null, regions: ["global"], samplingRate: 1, readsContent: true }
const CALL = { keyHash: "k", region: "global", sessionId: null, id: "gen-1" }

describe("the calls of a destination", () => {
  test("are those of its keys and regions", () => {
    expect(matches(HEAD, CALL)).toBe(true)
    expect(matches({ ...HEAD, keyHashes: ["k"] }, CALL)).toBe(true)
    expect(matches({ ...HEAD, keyHashes: ["other"] }, CALL)).toBe(false)
    expect(matches({ ...HEAD, regions: ["europe"] }, CALL)).toBe(false)
    expect(matches({ ...HEAD, regions: ["global", "europe"] }, { ...CALL, region: "europe" })).toBe(true)
  })

  test("include all calls of a session or none, and a higher rate includes those of a lower rate", () => {
    const rate = fc.double({ min: 0.0001, max: 1, noNaN: true })
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(fc.uuid(), { minLength: 1, maxLength: 20 }),
        rate,
        rate,
        (session, ids, a, b) => {
          const at = (samplingRate: number) =>
            ids.map((id) => matches({ ...HEAD, samplingRate }, { ...CALL, sessionId: session, id }))
          expect(new Set(at(a)).size).toBe(1)
          if (at(Math.min(a, b))[0]) expect(at(Math.max(a, b))[0]).toBe(true)
        },
      ),
    )
  })

  test("without a session are sampled at the rate", () => {
    for (const rate of [0.01, 0.25, 0.5, 0.9]) {
      const hits = Array.from({ length: 20_000 }, (_, at) => sampleOf(`gen-${at}`)).filter((batch) => batch < rate)
      expect(Math.abs(hits.length / 20_000 - rate)).toBeLessThan(0.02)
    }
  })

  test("are all calls at a rate of 1", () => {
    fc.assert(fc.property(fc.string(), (id) => matches(HEAD, { ...CALL, id })))
  })
})

const FACTS: Facts = {
  model: "acme/chat-1",
  provider: "Acme",
  session_id: null,
  user_id: "ada",
  api_key_name: "ci",
  finish_reason: "stop",
  input: `[{"role":"user","content":"Hello"}]`,
  output: "Hello to you",
  total_cost: 0.5,
  total_tokens: 30,
  prompt_tokens: 10,
  completion_tokens: 20,
}

const one = (rule: FilterRule): FilterRules => ({ enabled: true, groups: [{ logic: "and", rules: [rule] }] })

describe("filter rules", () => {
  test.each<[boolean, FilterRule]>([
    [true, { field: "model", operator: "equals", value: "acme/chat-1" }],
    [false, { field: "model", operator: "equals", value: "acme/chat" }],
    [true, { field: "model", operator: "not_equals", value: "acme/chat" }],
    [true, { field: "model", operator: "starts_with", value: "acme/" }],
    [false, { field: "model", operator: "ends_with", value: "acme/" }],
    [true, { field: "model", operator: "ends_with", value: "-1" }],
    [true, { field: "model", operator: "regex", value: "^acme/chat-\\d$" }],
    [false, { field: "model", operator: "regex", value: "^chat" }],
    [true, { field: "input", operator: "contains", value: "Hello" }],
    [true, { field: "output", operator: "not_contains", value: "goodbye" }],
    [false, { field: "session_id", operator: "exists" }],
    [true, { field: "session_id", operator: "not_exists" }],
    [true, { field: "session_id", operator: "not_equals", value: "s" }],
    [true, { field: "session_id", operator: "not_contains", value: "s" }],
    [false, { field: "session_id", operator: "contains", value: "" }],
    [true, { field: "user_id", operator: "exists" }],
    [true, { field: "total_cost", operator: "gt", value: 0.4 }],
    [false, { field: "total_cost", operator: "gt", value: "0.5" }],
    [true, { field: "total_cost", operator: "gte", value: "0.5" }],
    [true, { field: "total_cost", operator: "equals", value: "0.50" }],
    [true, { field: "total_tokens", operator: "lt", value: 31 }],
    [true, { field: "total_tokens", operator: "lte", value: 30 }],
    [false, { field: "session_id", operator: "lt", value: 1 }],
  ])("%s: %j", (expected, rule) => {
    expect(passes(one(rule), FACTS)).toBe(expected)
  })

  test("match everything when absent, disabled or without groups", () => {
    const never: FilterRule = { field: "model", operator: "not_exists" }
    for (const rules of [null, { ...one(never), enabled: false }, { enabled: true, groups: [] }]) {
      expect(passes(rules, FACTS)).toBe(true)
    }
  })

  test("match when any group matches, with all or any of its rules by its logic", () => {
    const [yes, no] = [
      { field: "model", operator: "exists" } as FilterRule,
      { field: "model", operator: "not_exists" } as FilterRule,
    ]
    const groups = fc.array(
      fc.record({
        logic: fc.constantFrom("and" as const, "or" as const),
        rules: fc.array(fc.boolean(), { minLength: 1 }),
      }),
      { minLength: 1 },
    )
    fc.assert(
      fc.property(groups, (given) => {
        const rules = {
          enabled: true,
          groups: given.map(({ logic, rules }) => ({ logic, rules: rules.map((meets) => (meets ? yes : no)) })),
        }
        const expected = given.some(({ logic, rules }) =>
          logic === "and" ? rules.every(Boolean) : rules.some(Boolean),
        )
        expect(passes(rules, FACTS)).toBe(expected)
      }),
    )
  })

  test("with opposite operators match complementary numbers", () => {
    const pairs = [
      ["equals", "not_equals"],
      ["contains", "not_contains"],
      ["gt", "lte"],
      ["lt", "gte"],
    ] as const
    fc.assert(
      fc.property(
        fc.constantFrom(...pairs),
        fc.double({ noNaN: true }),
        fc.double({ noNaN: true }),
        (pair, fact, value) => {
          const facts = { ...FACTS, total_cost: fact }
          const answers = pair.map((operator) => passes(one({ field: "total_cost", operator, value }), facts))
          expect(answers.filter(Boolean).length).toBe(1)
        },
      ),
    )
  })
})

describe("the export context of a call", () => {
  const nothing = { user: null, trace: null, hasMessages: true }

  test("is undefined without a matching destination, and has content only if a destination reads it", () => {
    expect(exportContextOf([], CALL, nothing)).toBeUndefined()
    expect(exportContextOf([{ ...HEAD, keyHashes: ["other"] }], CALL, nothing)).toBeUndefined()
    expect(exportContextOf([{ ...HEAD, readsContent: false }], CALL, nothing)).toMatchObject({ hasContent: false })
    expect(exportContextOf([HEAD], { ...CALL, region: null }, nothing)).toMatchObject({ hasContent: true })
    expect(exportContextOf([HEAD], CALL, { ...nothing, hasMessages: false })).toMatchObject({ hasContent: false })
  })

  test("has a bounded size for any trace", () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 3 }), fc.nat(20_000), (object, length) => {
        const trace = { ...object, trace_id: "t".repeat(300), long: "x".repeat(length) }
        const reported = exportContextOf([HEAD], CALL, { ...nothing, trace })
        expect(JSON.stringify(reported).length).toBeLessThan(10_000)
        expect(String(reported?.trace?.["trace_id"])).toMatch(/^t{256,300}$/)
      }),
    )
    const bare = exportContextOf([HEAD], CALL, { ...nothing, trace: "no object" as never })
    expect(bare?.trace).toBeNull()
  })

  test("the content has the latest messages without image data and the beginning of the output", () => {
    const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(10_000)}` } }
    const short = toCallContent({
      messages: [{ role: "user", content: [picture] }],
      output: { content: "x".repeat(300_000), reasoning: "" },
    })
    expect(JSON.stringify(short.input)).toContain("characters of data")
    expect(short.output.content.length).toBeLessThan(200_010)
    const text = "many words ".repeat(9_000)
    const long = toCallContent({
      messages: ["first", "second", "last"].map((name) => ({ role: "user", content: `${name} ${text}` })),
      output: { content: "", reasoning: "" },
    })
    expect(long.input.length).toBe(3)
    expect(JSON.stringify(long.input[0])).toContain("1 earlier or longer messages are left out")
    expect(JSON.stringify(long.input[2])).toContain("last many words")
  })
})

test("destinations use the names of the client libraries under CLIENT_DIALECT=openrouter", () => {
  expect(defaultsOf("s3", "openrouter")).toEqual({ prefix: "openrouter-traces" })
  expect(defaultsOf("clickhouse", "openrouter")).toEqual({ table: "OPENROUTER_TRACES" })
  expect(defaultsOf("snowflake", "openrouter")).toEqual({ table: "OPENROUTER_TRACES" })
  expect(defaultsOf("s3", "service")).toEqual({})
  expect(defaultsOf("webhook", "openrouter")).toEqual({})
})
