import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toAppliedGuardrails } from "../../src/guardrails/applied.ts"
import type { AppliedRow } from "../../src/guardrails/store.ts"
import type { Endpoint } from "../../src/models/catalogue.ts"
import type { Provider } from "../../src/providers/provider.ts"
import { runs } from "../support/runs.ts"

/** How guardrails combine per the contract: allow lists intersect, ZDR is OR, filters are a union. */

const MODELS = ["anthropic/claude", "openai/gpt", "x-ai/grok", "acme/chat", "acme/chat:free"]
const PROVIDERS = ["p1", "p2", "p3"]
const ZDR = ["anthropic", "google", "openai", "xai", "other"] as const
const ACTIONS = ["flag", "redact", "block"] as const
const SLUGS = ["email", "phone", "secrets"] as const
const PATTERNS = ["a+", "b+"]

const some = <T>(values: readonly T[]) => fc.option(fc.subarray([...values]), { nil: null })
const rules = fc.record({
  allowed_models: some(MODELS.slice(0, 4)),
  ignored_models: some(MODELS.slice(0, 4)),
  allowed_providers: some(PROVIDERS),
  ignored_providers: some(PROVIDERS),
  allowed_data_regions: fc.option(fc.subarray(["global", "europe", "us"] as const, { minLength: 1 }), { nil: null }),
  ...Object.fromEntries(ZDR.map((family) => [`enforce_zdr_${family}`, fc.option(fc.boolean(), { nil: null })])),
  content_filters: fc.uniqueArray(
    fc.record({ action: fc.constantFrom(...ACTIONS), pattern: fc.constantFrom(...PATTERNS) }),
    {
      selector: ({ pattern }) => pattern,
    },
  ),
  content_filter_builtins: fc.uniqueArray(
    fc.record({ action: fc.constantFrom(...ACTIONS), slug: fc.constantFrom(...SLUGS) }),
    {
      selector: ({ slug }) => slug,
    },
  ),
})
type Rules = typeof rules extends fc.Arbitrary<infer T> ? T & Record<string, unknown> : never

const row = (position: number, one: object, limitNano: number | null): AppliedRow => ({
  id: `g${position}`,
  name: `Rail ${position}`,
  isDefault: position === 0,
  limitNano,
  resetInterval: limitNano === null ? null : "daily",
  includeByokInBudgets: false,
  rules: JSON.stringify(one),
  byKey: position === 1,
  byMember: position === 2,
  keyHash: "key",
  userId: "user",
})

const endpoint = (model: string, provider: string, zeroRetention: boolean): Endpoint => ({
  model,
  provider,
  upstreamId: model,
  pricing: { prompt: "0.1", completion: "0.1" },
  contextLength: 0,
  maxCompletionTokens: null,
  supportedParameters: [],
  quantization: null,
  zeroRetention,
  collectsData: false,
})
const provider = (slug: string): Provider => ({
  slug,
  name: slug.toUpperCase(),
  baseUrl: "http://x.test",
  format: "openai",
  keyHeader: "authorization",
  quirks: {},
})

const covers = (names: readonly string[], model: string) =>
  names.includes(model) || names.includes(model.split(":")[0] ?? "")
const FAMILY: Record<string, string> = { anthropic: "anthropic", openai: "openai", "x-ai": "xai" }

/** Whether one guardrail alone allows the call. */
function allows(one: Rules, at: Endpoint, of: Provider, region: string | null): boolean {
  const family = FAMILY[at.model.split("/")[0] ?? ""] ?? "other"
  const regions = one.allowed_data_regions as string[] | null
  return (
    (one.allowed_models === null || covers(one.allowed_models, at.model)) &&
    !(one.ignored_models !== null && covers(one.ignored_models, at.model)) &&
    (one.allowed_providers === null || one.allowed_providers.includes(of.slug)) &&
    !(one.ignored_providers ?? []).includes(of.slug) &&
    !(one[`enforce_zdr_${family}`] === true && !at.zeroRetention) &&
    (regions === null || regions.includes(region ?? "global"))
  )
}

test("a call may use exactly the endpoints that every guardrail allows", () => {
  fc.assert(
    fc.property(
      fc.array(rules, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...MODELS),
      fc.constantFrom(...PROVIDERS),
      fc.boolean(),
      fc.constantFrom(null, "europe", "us"),
      (all, model, slug, isKept, region) => {
        const guardrails = toAppliedGuardrails(all.map((one, position) => row(position, one, null)))
        const [at, of] = [endpoint(model, slug, isKept), provider(slug)]
        const isKeptBy = (guardrails?.routeFilters() ?? []).every((filter) => filter.keeps(at, of, region))
        expect(isKeptBy).toBe(all.every((one) => allows(one as Rules, at, of, region)))
      },
    ),
    { numRuns: runs(4) },
  )
})

test("filters are a union, and the strongest action wins for the same filter", () => {
  fc.assert(
    fc.property(fc.array(rules, { minLength: 1, maxLength: 3 }), (all) => {
      const guardrails = toAppliedGuardrails(all.map((one, position) => row(position, one, null)))
      const reported = new Map(guardrails?.contentRules().map(({ detector, action }) => [detector.name, action]))
      const expected = new Map<string, string>()
      for (const name of [...SLUGS, ...PATTERNS]) {
        const given = all.flatMap((one) => [
          ...one.content_filters.filter(({ pattern }) => pattern === name),
          ...one.content_filter_builtins.filter(({ slug }) => slug === name),
        ])
        const strongest = ACTIONS.findLast((action) => given.some((one) => one.action === action))
        if (strongest) expected.set(name, strongest)
      }
      expect(reported).toEqual(expected)
    }),
  )
})

test("budgets are separate: per key, per member, and both for a workspace guardrail", () => {
  const guardrails = toAppliedGuardrails([row(0, {}, 3), row(1, {}, 2), row(2, {}, 1), row(3, {}, null)])
  expect(guardrails?.limits.map(({ scope, limitNano }) => [scope, limitNano])).toEqual([
    ["guardrail:g0:key:key", 3],
    ["guardrail:g0:user:user", 3],
    ["guardrail:g1:key:key", 2],
    ["guardrail:g2:user:user", 1],
  ])
  expect(toAppliedGuardrails([{ ...row(0, {}, 3), userId: null }])?.limits.map(({ scope }) => scope)).toEqual([
    "guardrail:g0:key:key",
  ])
})
