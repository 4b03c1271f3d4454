import { readFileSync } from "node:fs"
import path from "node:path"
import { LangfuseOtelSpanAttributes } from "@langfuse/core"
import type { UsageMetadata } from "langsmith/schemas"
import { expect, test } from "vitest"
import type { Settled } from "../../src/ledger/generation.ts"
import { readConfig } from "../../src/observability/destination.ts"
import { newEvent } from "../../src/observability/event.ts"
import type { Configured, KindName } from "../../src/observability/kinds.ts"
import { toOutbound } from "../../src/observability/send/request.ts"
import { CONFIGS } from "./configs.ts"
import { ALL_FLAGS, ANSWERED } from "./generation.ts"

/** The attributes that the vendors' OTLP endpoints read, according to their packages. */

const BROADCAST = { region: "global", user: "ada", trace: { trace_name: "Checkout", release: "1.2" }, hasContent: true }
const GENERATION: Settled = { ...ANSWERED, broadcast: BROADCAST, tokens: { ...ANSWERED.tokens, cacheWrite: 1 } }

async function attributesOf(type: KindName, change: Partial<Settled> = {}): Promise<Map<string, unknown>> {
  const content = { input: [{ role: "user", content: "Hello" }], output: { content: "Hi", reasoning: "" } }
  const event = newEvent("destination", { ...GENERATION, ...change }, "ci", content)
  const config = readConfig(type, { ...CONFIGS[type]?.config }, new Set())
  const { body } = await toOutbound({ type, config } as Configured, {
    id: "d",
    events: [event],
    flags: ALL_FLAGS,
    now: 0,
  })
  type Span = { attributes: { key: string; value: Record<string, unknown> }[] }
  const { resourceSpans } = JSON.parse(body as string) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
  const attributes = resourceSpans[0]?.scopeSpans[0]?.spans[0]?.attributes ?? []
  return new Map(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

/** Attributes with the vendor's prefix that it does not define. `open`: prefixes below which any name is allowed. */
const unknownOf = (names: Iterable<string>, prefix: string, known: readonly string[], open: readonly string[]) =>
  [...names].filter(
    (name) => name.startsWith(prefix) && !known.includes(name) && !open.some((one) => name.startsWith(`${one}.`)),
  )

test("Langfuse defines each of its attributes in its package", async () => {
  const sent = await attributesOf("langfuse")
  const { TRACE_METADATA, TRACE_NAME, OBSERVATION_COST_DETAILS } = LangfuseOtelSpanAttributes
  const known = Object.values<string>(LangfuseOtelSpanAttributes)
  expect(unknownOf(sent.keys(), "langfuse.", known, [TRACE_METADATA])).toEqual([])
  expect(sent.get(TRACE_NAME)).toBe("Checkout")
  expect(JSON.parse(String(sent.get(OBSERVATION_COST_DETAILS)))).toEqual({ total: 0.0015 })
})

// The package does not export them.
const langsmithNames = (): string[] => {
  const file = path.join(import.meta.dirname, "../../node_modules/langsmith/lib/experimental/otel/constants.js")
  return [...readFileSync(file, "utf8").matchAll(/= "((?:langsmith|gen_ai)\.[\w.]+)"/g)].map(([, name = ""]) => name)
}

test("LangSmith defines each of its attributes in its package", async () => {
  const sent = await attributesOf("langsmith")
  expect(langsmithNames()).toContain("langsmith.span.kind")
  expect(unknownOf(sent.keys(), "langsmith.", langsmithNames(), ["langsmith.metadata"])).toEqual([])
  for (const name of ["gen_ai.prompt", "gen_ai.completion", "gen_ai.usage.input_tokens"]) {
    expect(langsmithNames()).toContain(name)
    expect(sent.has(name)).toBe(true)
  }
  const usage: UsageMetadata = {
    input_tokens: 10,
    output_tokens: 20,
    total_tokens: 30,
    input_token_details: { cache_read: 2, cache_creation: 1 },
    output_token_details: { reasoning: 5 },
    total_cost: 0.0015,
  }
  expect(JSON.parse(String(sent.get("langsmith.usage_metadata")))).toEqual(usage)
})

test("LangSmith gets the trace name only on the first run of a trace", async () => {
  expect((await attributesOf("langsmith")).get("langsmith.trace.name")).toBe("Checkout")
  const round = { ...BROADCAST, parentId: "gen-01a1fed6-f156-71f0-9e2f-d3a472f3d415" }
  expect((await attributesOf("langsmith", { broadcast: round })).has("langsmith.trace.name")).toBe(false)
  const tool = await attributesOf("langsmith", { broadcast: { ...round, isToolRun: true } })
  expect(tool.get("langsmith.span.kind")).toBe("tool")
  expect(tool.has("langsmith.usage_metadata")).toBe(false)
})
