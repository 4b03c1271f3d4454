import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { seededRandom, type PlanInput, plan } from "../../src/routing/plan.ts"
import type { Endpoint } from "../../src/models/catalogue.ts"
import { newEndpoint, newModel, newProvider } from "../support/catalogue.ts"

const provider = (slug: string) => newProvider(slug, { name: slug.toUpperCase() })

const endpoint = (slug: string, price: string, more: Partial<Endpoint> = {}) =>
  newEndpoint("a/m", slug, { pricing: { prompt: price, completion: price }, ...more })

function planInput(endpoints: Endpoint[], more: Partial<PlanInput> = {}): PlanInput {
  const model = newModel("a/m", endpoints, { name: "M" })
  return {
    output: "text",
    catalogue: { models: new Map([["a/m", model]]) },
    providers: new Map(endpoints.map((one) => [one.provider, provider(one.provider)])),
    isCooling: () => false,
    chance: () => 1 - Math.random(),
    ...more,
  }
}

const slugs = (request: Record<string, unknown>, input: PlanInput) =>
  plan({ model: "a/m", ...request }, input).map((target) => target.provider.slug)

const cheap = endpoint("cheap", "0.000001")
const dear = endpoint("dear", "0.000002", { zeroRetention: true, quantization: "fp8" })
const kept = endpoint("kept", "0.000003", { collectsData: true })

describe("a provider with several keys", () => {
  const keys = ["k1", "k2", "k3"]
  const pool = (more: Partial<PlanInput> = {}) => {
    const both = planInput([cheap, dear], more)
    const providers = new Map([
      ...both.providers,
      ["cheap", { ...provider("cheap"), apiKey: "k1", apiKeys: keys }] as const,
    ])
    return { ...both, providers }
  }
  const sent = (input: PlanInput, request: Record<string, unknown> = {}) =>
    plan({ model: "a/m", ...request }, input).map((target) => target.provider.apiKey ?? target.provider.slug)

  test("is tried with each key before the next provider", () => {
    fc.assert(
      fc.property(fc.string(), (session) => {
        const order = sent(pool({ chance: seededRandom(session) }), { provider: { sort: "price" } })
        expect(order.slice(0, 3).toSorted()).toEqual(keys)
        expect(order[3]).toBe("dear")
        expect(sent(pool({ chance: seededRandom(session) }), { provider: { sort: "price" } })).toEqual(order)
      }),
    )
  })

  test("has its sessions spread over the keys", () => {
    const counts = new Map<string, number>()
    for (let session = 0; session < 3_000; session++) {
      const [first = ""] = sent(pool({ chance: seededRandom(`s${session}`) }), { provider: { sort: "price" } })
      counts.set(first, (counts.get(first) ?? 0) + 1)
    }
    for (const key of keys) expect(Math.abs((counts.get(key) ?? 0) - 1_000)).toBeLessThan(150)
  })

  test("is not tried first with a key in cooldown, for any session", () => {
    const cooling = (target: string) => target === "a/m cheap #2"
    for (let session = 0; session < 50; session++) {
      const order = sent(pool({ isCooling: cooling, chance: seededRandom(`s${session}`) }))
      expect(order.at(-1)).toBe("k2")
    }
  })

  test("keeps all its keys when fallbacks are disabled", () => {
    const order = sent(pool(), { provider: { sort: "price", allow_fallbacks: false } })
    expect(order.toSorted()).toEqual(keys)
  })
})

describe("the order of providers of a model", () => {
  test("weights by the inverse square of the price, and keeps the others as fallback", () => {
    const firstChoices = Array.from({ length: 5_000 }, () => slugs({}, planInput([cheap, dear])))
    const share = firstChoices.filter(([first]) => first === "cheap").length / firstChoices.length
    // 1 / (1 + 1/4) = 0.8; five standard deviations are 0.03.
    expect(Math.abs(share - 0.8)).toBeLessThan(0.03)
    expect(firstChoices.every((order) => order.length === 2)).toBe(true)
  })

  test("is stable for a session and spread across sessions", () => {
    const first = (session: string) => slugs({}, planInput([cheap, dear], { chance: seededRandom(session) }))[0]
    expect(new Set(Array.from({ length: 50 }, () => first("s-1"))).size).toBe(1)
    const spread = Array.from({ length: 2_000 }, (_, index) => first(`session-${index}`))
    expect(Math.abs(spread.filter((one) => one === "cheap").length / spread.length - 0.8)).toBeLessThan(0.05)
  })

  test("puts one that failed recently last, at any price", () => {
    expect(slugs({}, planInput([cheap, dear], { isCooling: (target) => target === "a/m cheap" }))).toEqual([
      "dear",
      "cheap",
    ])
  })

  test.each([
    [{ sort: "price" }, ["cheap", "dear", "kept"]],
    [{ sort: { by: "price" } }, ["cheap", "dear", "kept"]],
    [{ order: ["kept", "dear"] }, ["kept", "dear", "cheap"]],
    [{ order: ["KEPT"], ignore: ["cheap"] }, ["kept", "dear"]],
    [{ order: ["kept"], only: ["kept", "cheap"] }, ["kept", "cheap"]],
    [{ only: ["dear"] }, ["dear"]],
    [{ zdr: true }, ["dear"]],
    [{ quantizations: ["fp8", "int4"] }, ["dear"]],
    [{ data_collection: "deny", sort: "price" }, ["cheap", "dear"]],
    [{ max_price: { prompt: "2", completion: 2 }, sort: "price" }, ["cheap", "dear"]],
    [{ sort: "price", allow_fallbacks: false }, ["cheap"]],
  ])("for %j is %j", (preferences, expected) => {
    expect(slugs({ provider: preferences }, planInput([cheap, dear, kept]))).toEqual(expected)
  })

  test("has only those that support all used parameters with require_parameters", () => {
    const withTools = endpoint("able", "0.000009", { supportedParameters: ["tools", "max_tokens"] })
    const request = { tools: [{}], max_completion_tokens: 5, provider: { require_parameters: true } }
    expect(slugs(request, planInput([cheap, withTools]))).toEqual(["able"])
  })

  test("puts a free endpoint before any paid one", () => {
    expect(slugs({}, planInput([cheap, endpoint("free", "0")]))[0]).toBe("free")
  })

  test.each<[Record<string, unknown>, string, number]>([
    [{}, "cheap", 0],
    [{ sort: "price" }, "cheap", 0],
    [{ order: ["dear"] }, "dear", 0],
    [{ sort: "latency" }, "dear", 2],
    [{ sort: { by: "throughput" } }, "dear", 2],
    [{ sort: "exacto" }, "dear", 2],
    [{ preferred_max_latency: 1 }, "dear", 2],
    [{ preferred_min_throughput: { p90: 50 } }, "dear", 2],
  ])("for %j starts with %s after reading the statistics of %i", (preferences, expected, count) => {
    const read: string[] = []
    const percentiles = (value: number) => ({ p50: value, p75: value, p90: value, p99: value })
    const statisticsOf = (target: string) => {
      read.push(target)
      return target === "a/m cheap"
        ? { latencyMs: percentiles(5_000), tokensPerSecond: percentiles(1), failures: 1 }
        : { latencyMs: percentiles(1), tokensPerSecond: percentiles(5_000), failures: 0 }
    }
    const [first] = slugs({ provider: preferences }, planInput([cheap, dear], { statisticsOf, chance: () => 0.5 }))
    expect(first).toBe(expected)
    expect(read).toHaveLength(count)
  })
})

describe("a model of the catalogue without a configured provider", () => {
  const unconfigured = new Map([["anthropic/claude-x", ["anthropic", "openrouter"]]])
  const catalogue = { models: planInput([endpoint("x", "1")]).catalogue.models, unconfigured }

  test.each(["anthropic/claude-x", "Anthropic/Claude-X", "claude-x"])(
    "%s: the error names the variables to set",
    (model) => {
      expect(() => plan({ model }, planInput([], { catalogue }))).toThrow(
        "No provider of anthropic/claude-x is configured. Set ANTHROPIC_API_KEY or OPENROUTER_API_KEY on the gateway, " +
          "or add your own key with POST /byok.",
      )
    },
  )

  test("an unknown name stays unknown", () => {
    expect(() => plan({ model: "anthropic/claude-y" }, planInput([], { catalogue }))).toThrow(/There is no model/)
  })
})
