import { expect, test } from "vitest"
import registry from "../fixtures/gen-ai-conventions.json" with { type: "json" }
import { NO_TOKENS } from "../../src/money/money.ts"
import type { Settled } from "../../src/ledger/generation.ts"
import { newEvent } from "../../src/observability/event.ts"
import { newTurnEvent, type StoredTurn, traceOfTurn } from "../../src/observability/turn.ts"
import { operationOf, toProviderName } from "../../src/observability/send/conventions.ts"
import { toOtlp } from "../../src/observability/send/otlp.ts"
import { ALL_FLAGS, CALL } from "./generation.ts"
import { builtInProviders } from "../../src/providers/table.ts"

const GENERATION: Settled = {
  ...CALL,
  appUrl: null,
  appTitle: null,
  userAgent: null,
  promptEstimate: 3,
  broadcast: {
    region: "global",
    user: null,
    trace: null,
    hasContent: true,
    parameters: {
      temperature: 1,
      top_p: 1,
      top_k: 40,
      frequency_penalty: 0,
      presence_penalty: 0,
      max_tokens: 100,
      seed: 7,
      choices: 2,
      effort: "low",
      stop: ["END"],
      output: "json",
    },
  },
  model: "acme/chat-1",
  provider: "OpenAI",
  upstreamId: "up-1",
  isByok: false,
  tokens: { ...NO_TOKENS, prompt: 10, completion: 20, reasoning: 5, cached: 2, cacheWrite: 3 },
  tokensFrom: "upstream",
  costNano: 1_000_000_000,
  byokCostNano: 0,
  finishReason: "tool_calls",
  ending: "complete",
  status: 200,
  latencyMs: 2_000,
  generationMs: 500,
  serviceTier: null,
  attempts: [
    {
      provider: "Groq",
      model: "acme/chat",
      status: 500,
      latencyMs: 20,
      error: { code: "provider_failed", message: "no" },
    },
    { provider: "OpenAI", model: "acme/chat", status: 200, latencyMs: 1_980 },
  ],
  guardrails: [{ id: "g", name: "Secrets", scope: "input", action: "flag", patterns: ["aws-key"] }],
}

const CONTENT = {
  input: [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "Weather in Paris?" }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call-1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } }],
    },
    { role: "tool", tool_call_id: "call-1", content: "rainy" },
  ],
  output: {
    content: "",
    reasoning: "Thinking",
    refusal: "I would rather not",
    toolCalls: [{ key: "0:0", id: "call-2", name: "weather", arguments: '{"city":"Rome"}' }],
  },
  tools: [{ type: "function", function: { name: "weather", description: "d", parameters: { type: "object" } } }],
}

type Value = Record<string, unknown>
type Exported = ReturnType<typeof toOtlp>

function spansOf(exported: Exported) {
  const spans = exported.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
  return spans.map((span) => ({
    ...span,
    at: new Map(span.attributes.map(({ key, value }) => [key, value as Value])),
  }))
}

const exportOf = (change: Partial<Settled> = {}) =>
  toOtlp([newEvent("d", { ...GENERATION, ...change }, "ci", CONTENT)], ALL_FLAGS)

const FIELDS: Record<string, string> = {
  string: "stringValue",
  any: "stringValue",
  int: "intValue",
  double: "doubleValue",
  boolean: "boolValue",
  "string[]": "arrayValue",
}
/** Not in the registry: observability products read it. */
const EXTENSIONS = ["gen_ai.usage.cost"]

test("every gen_ai attribute is in the registry with its type", () => {
  const table: Record<string, string | string[]> = registry.attributes
  const attributes = [
    exportOf(),
    exportOf({ broadcast: { region: "global", user: null, trace: null, hasContent: true, isToolRun: true } }),
    exportOfTurn(),
  ]
    .flatMap(spansOf)
    .flatMap(({ at }) => [...at])
    .filter(([key]) => key.startsWith("gen_ai.") && !EXTENSIONS.includes(key))
  const wrong = attributes.filter(([key, value]) => {
    const type = table[key]
    return type === undefined || !((FIELDS[Array.isArray(type) ? "string" : type] ?? "") in value)
  })
  expect(wrong).toEqual([])
  expect(attributes.filter(([key]) => registry.deprecated.includes(key))).toEqual([])
})

const TURN: StoredTurn = {
  id: "turn-01a1fed6-f156-81f0-8e2f-d3a472f3d414",
  runId: "5b0cf0a2-6a6f-4f7e-9d55-0f5f3f3f8f10",
  organizationId: "o",
  workspaceId: "w",
  internId: "i",
  internName: "ada",
  host: "embedded",
  keyHash: "k",
  session: "s-1",
  origin: "chat",
  mode: "manual",
  model: "acme/chat",
  startedAt: 1_763_000_000_000,
  endedAt: 1_763_000_009_000,
  error: { reason: "turn_failed", message: "The turn failed." },
  usage: { calls: 2, totalTokens: 30, costUsd: 1 },
  questions: [
    {
      id: "q-1",
      kind: "permission",
      operation: "shell",
      options: ["allow_once"],
      openedAt: 1_763_000_001_000,
      closedAt: 1_763_000_004_000,
      state: "answered",
      decision: "allow_once",
      details: { command: "date" },
    },
  ],
}
const exportOfTurn = () => toOtlp([newTurnEvent("d", { turn: TURN, keyName: "ci" }, true)], ALL_FLAGS)

test("a turn of an intern has the attributes of an agent span, and its calls have it as parent", () => {
  const [turn, question] = spansOf(exportOfTurn())
  const required = ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.agent.id", "gen_ai.agent.name"]
  const recommended = ["gen_ai.conversation.id", "gen_ai.request.model", "error.type"]
  expect([...required, ...recommended].filter((key) => !turn?.at.has(key))).toEqual([])
  expect(registry.operations).toContain(Object.values(turn?.at.get("gen_ai.operation.name") ?? {})[0])
  expect(turn?.name).toBe("invoke_agent ada")
  // 1 is SPAN_KIND_INTERNAL: the agent runs in this process.
  expect([turn?.kind, question?.kind]).toEqual([1, 1])
  expect(turn?.at.get("gateway.turn.cost")).toEqual({ doubleValue: 1 })
  expect(question).toMatchObject({ traceId: turn?.traceId, parentSpanId: turn?.spanId, name: "question shell" })
  const { traceId, spanId } = traceOfTurn({ id: TURN.runId, session: TURN.session })
  const trace = { trace_id: traceId, parent_span_id: spanId }
  const [call] = spansOf(exportOf({ broadcast: { region: "global", user: null, trace, hasContent: false } }))
  expect(call).toMatchObject({ traceId: turn?.traceId, parentSpanId: turn?.spanId })
})

const EXPECTED: [string, Value][] = [
  ["gen_ai.operation.name", { stringValue: "chat" }],
  ["gen_ai.provider.name", { stringValue: "openai" }],
  ["gen_ai.conversation.id", { stringValue: "s-1" }],
  ["gen_ai.output.type", { stringValue: "json" }],
  ["gen_ai.request.model", { stringValue: "acme/chat" }],
  ["gen_ai.request.stream", { boolValue: true }],
  ["gen_ai.request.temperature", { doubleValue: 1 }],
  ["gen_ai.request.top_p", { doubleValue: 1 }],
  ["gen_ai.request.top_k", { doubleValue: 40 }],
  ["gen_ai.request.frequency_penalty", { doubleValue: 0 }],
  ["gen_ai.request.presence_penalty", { doubleValue: 0 }],
  ["gen_ai.request.max_tokens", { intValue: "100" }],
  ["gen_ai.request.seed", { intValue: "7" }],
  ["gen_ai.request.choice.count", { intValue: "2" }],
  ["gen_ai.request.stop_sequences", { arrayValue: { values: [{ stringValue: "END" }] } }],
  ["gen_ai.response.model", { stringValue: "acme/chat-1" }],
  ["gen_ai.response.id", { stringValue: GENERATION.id }],
  ["gen_ai.response.finish_reasons", { arrayValue: { values: [{ stringValue: "tool_calls" }] } }],
  ["gen_ai.response.time_to_first_chunk", { doubleValue: 2 }],
  ["gen_ai.usage.input_tokens", { intValue: "10" }],
  ["gen_ai.usage.output_tokens", { intValue: "20" }],
  ["gen_ai.usage.cache_read.input_tokens", { intValue: "2" }],
  ["gen_ai.usage.cache_creation.input_tokens", { intValue: "3" }],
  ["gen_ai.usage.reasoning.output_tokens", { intValue: "5" }],
]

test.each(EXPECTED)("a call has %s", (key, value) => {
  expect(spansOf(exportOf())[0]?.at.get(key)).toEqual(value)
})

test("messages, tool calls, tool results, refusals and definitions follow the semantic conventions", () => {
  const at = spansOf(exportOf())[0]?.at
  const read = (key: string) => JSON.parse(String(at?.get(key)?.["stringValue"])) as unknown
  expect(read("gen_ai.input.messages")).toEqual([
    { role: "system", parts: [{ type: "text", content: "Be brief." }] },
    { role: "user", parts: [{ type: "text", content: "Weather in Paris?" }] },
    { role: "assistant", parts: [{ type: "tool_call", id: "call-1", name: "weather", arguments: { city: "Paris" } }] },
    { role: "tool", parts: [{ type: "tool_call_response", id: "call-1", response: "rainy" }] },
  ])
  expect(read("gen_ai.output.messages")).toEqual([
    {
      role: "assistant",
      parts: [
        { type: "reasoning", content: "Thinking" },
        { type: "refusal", content: "I would rather not" },
        { type: "tool_call", id: "call-2", name: "weather", arguments: { city: "Rome" } },
      ],
      finish_reason: "tool_call",
    },
  ])
  expect(read("gen_ai.tool.definitions")).toEqual([
    { type: "function", name: "weather", description: "d", parameters: { type: "object" } },
  ])
})

test("attempts and guardrails are children of the call, and the export names its schema", () => {
  const exported = exportOf()
  const [call, ...steps] = spansOf(exported)
  expect(exported.resourceSpans[0]?.schemaUrl).toBe(`https://opentelemetry.io/schemas/${registry.version}`)
  expect(steps.map(({ name }) => name)).toEqual(["guardrail Secrets", "attempt Groq", "attempt OpenAI"])
  expect(new Set(steps.map((step) => "parentSpanId" in step && step.parentSpanId))).toEqual(new Set([call?.spanId]))
  expect(new Set([call, ...steps].map((span) => span?.spanId)).size).toBe(4)
  expect(steps[1]).toMatchObject({ status: { code: 2, message: "no" } })
  expect(steps[1]?.at.get("error.type")).toEqual({ stringValue: "provider_failed" })
  expect(steps[2]?.endTimeUnixNano).toBe(call?.endTimeUnixNano)
})

test("error.type is the error's code, not its message", () => {
  const error = { code: "provider_failed", message: "connection 8127 was reset" }
  const [call] = spansOf(exportOf({ ending: "error", error }))
  expect(call?.at.get("error.type")).toEqual({ stringValue: "provider_failed" })
})

test("known providers and operations have the values of the registry", () => {
  const named = builtInProviders.map(({ name }) => [name, toProviderName(name)])
  const known = named.filter(([name, value]) => name !== value).map(([, value]) => value)
  expect(known.length).toBeGreaterThan(10)
  expect(known.filter((value) => !registry.attributes["gen_ai.provider.name"].includes(value ?? ""))).toEqual([])
  const operations = (["completions", "embeddings", "image", "tts", "stt", "video"] as const).map((apiType) =>
    operationOf({ apiType }),
  )
  expect(operations.filter((operation) => !registry.operations.includes(operation))).toEqual([])
})
