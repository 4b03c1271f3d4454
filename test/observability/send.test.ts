import { readFileSync } from "node:fs"
import path from "node:path"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Settled } from "../../src/ledger/generation.ts"
import { readConfig } from "../../src/observability/destination.ts"
import { type CallEvent, newEvent, toRow } from "../../src/observability/event.ts"
import type { Configured, KindName } from "../../src/observability/kinds.ts"
import { toOutbound } from "../../src/observability/send/request.ts"
import type { CallContent } from "../../src/observability/call-content.ts"
import { CONFIGS } from "./configs.ts"
import { ALL_FLAGS, ANSWERED } from "./generation.ts"
import { runs } from "../support/runs.ts"

const GENERATION: Settled = {
  ...ANSWERED,
  appUrl: "https://shop.example",
  appTitle: "Shop",
  userAgent: "shop/1",
  broadcast: { region: "global", user: "ada", trace: { release: "1.2" }, hasContent: true },
}
const CONTENT: CallContent = { input: [{ role: "user", content: "Hello" }], output: { content: "Hi", reasoning: "" } }
const ALL = ALL_FLAGS
const NOW = Date.UTC(2026, 10, 21, 17, 5, 9)
const DELIVERY_ID = "01a1fed6-f156-81f0-8e2f-d3a472f3d414"

const eventOf = (change: Partial<Settled> = {}, reported: CallContent | null = CONTENT): CallEvent =>
  newEvent("destination", { ...GENERATION, ...change }, "ci", reported)

async function outboundOf(type: KindName, more: Record<string, unknown> = {}, event = eventOf()) {
  const config = readConfig(type, { ...CONFIGS[type]?.config, ...more }, new Set())
  const made = await toOutbound({ type, config } as Configured, {
    id: DELIVERY_ID,
    events: [event],
    flags: ALL,
    now: NOW,
  })
  return { ...made, url: new URL(made.url), body: made.body as string }
}

const basic = (text: string) => `Basic ${btoa(text)}`

test.each([0, 1, 0.0015])(
  "a cost of %s USD is exported as a double, because collectors fix the type of the first value",
  async (usd) => {
    const { body } = await outboundOf("otel-collector", {}, eventOf({ costNano: usd * 1e9 }))
    type Spans = { attributes: { key: string; value: Record<string, unknown> }[] }[]
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Spans }[] }[] }
    const attributes = resourceSpans[0]?.scopeSpans[0]?.spans[0]?.attributes ?? []
    for (const name of ["gen_ai.usage.cost", "gateway.cost.total_cost"]) {
      expect(attributes.find(({ key }) => key === name)?.value).toEqual({ doubleValue: usd })
    }
    expect(attributes.find(({ key }) => key === "gen_ai.usage.input_tokens")?.value).toEqual({ intValue: "10" })
  },
)

describe("spans are sent to the endpoint of each kind with its credentials", () => {
  test.each<[KindName, string, Record<string, string>]>([
    [
      "arize",
      "https://otlp.arize.com/v1/traces",
      { space_id: "arize-space-0123456789abcd", api_key: "arize-key-0123456789abcdef" },
    ],
    [
      "braintrust",
      "https://api.braintrust.dev/otel/v1/traces",
      { authorization: "Bearer braintrust-key-0123456789", "x-bt-parent": "project_id:p" },
    ],
    [
      "datadog",
      "https://otlp.datadoghq.com/v1/traces",
      { "dd-api-key": "datadog-key-0123456789abc", "dd-otlp-source": "llmobs" },
    ],
    [
      "grafana",
      "https://otlp-gateway-prod-us-west-0.grafana.net/otlp/v1/traces",
      { authorization: basic("42:grafana-key-0123456789abc") },
    ],
    [
      "langfuse",
      "https://us.cloud.langfuse.com/api/public/otel/v1/traces",
      { authorization: basic("pk-lf-0123456789abcdefABCD:sk-lf-0123456789abcdefEFGH") },
    ],
    [
      "langsmith",
      "https://api.smith.langchain.com/otel/v1/traces",
      { "x-api-key": "langsmith-key-0123456789ab", "langsmith-project": "main" },
    ],
    ["newrelic", "https://otlp.nr-data.net/v1/traces", { "api-key": "newrelic-key-0123456789abc" }],
    [
      "opik",
      "https://www.comet.com/opik/api/v1/private/otel/v1/traces",
      { authorization: "opik-key-0123456789abcdefg", "comet-workspace": "w", projectname: "p" },
    ],
    ["otel-collector", "https://otel.example.com:4318/v1/traces", {}],
    ["posthog", "https://us.i.posthog.com/i/v0/ai/otel", { authorization: "Bearer phc_posthog-key-0123456789" }],
    [
      "sentry",
      "https://o1.ingest.sentry.io/api/2/integration/otlp/v1/traces",
      { "x-sentry-auth": "sentry sentry_key=0123456789abcdef" },
    ],
    [
      "weave",
      "https://trace.wandb.ai/otel/v1/traces",
      { "wandb-api-key": "weave-key-0123456789abcdefg", project_id: "us/p" },
    ],
  ])("%s: %s", async (type, url, headers) => {
    const made = await outboundOf(type, { headers: { "x-team": "ours" } })
    expect(made.url.href).toBe(url)
    expect(made.method).toBe("POST")
    expect(made.headers).toMatchObject({ ...headers, "content-type": "application/json", "x-team": "ours" })
    expect(JSON.parse(made.body)).toMatchObject({
      resourceSpans: [{ scopeSpans: [{ spans: [{ name: "chat acme/chat-1", kind: 3 }] }] }],
    })
  })

  test.each<[KindName, Record<string, string>, string]>([
    ["newrelic", { region: "eu" }, "https://otlp.eu01.nr-data.net/v1/traces"],
    ["datadog", { url: "https://api.datadoghq.eu" }, "https://otlp.datadoghq.eu/v1/traces"],
    ["grafana", { baseUrl: "https://otlp.example.net/otlp" }, "https://otlp.example.net/otlp/v1/traces"],
    ["otel-collector", { endpoint: "https://otel.example.com/base/" }, "https://otel.example.com/base/v1/traces"],
    ["otel-collector", { endpoint: "https://otel.example.com/v1/traces" }, "https://otel.example.com/v1/traces"],
    [
      "langfuse",
      { baseUrl: "https://langfuse.example.com/" },
      "https://langfuse.example.com/api/public/otel/v1/traces",
    ],
  ])("%s with %j: %s", async (type, more, url) => {
    expect((await outboundOf(type, more)).url.href).toBe(url)
  })
})

describe("exported rows", () => {
  test("of ClickHouse are an insert with a deduplication token", async () => {
    const { url, headers, body } = await outboundOf("clickhouse")
    expect(url.origin).toBe("https://clickhouse.example.com:8443")
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      database: "default",
      query: "INSERT INTO `GATEWAY_TRACES` FORMAT JSONEachRow",
      insert_deduplication_token: DELIVERY_ID,
    })
    expect(headers).toMatchObject({ "x-clickhouse-user": "gateway", "x-clickhouse-key": "clickhouse-password-0123" })
    expect(JSON.parse(body)).toEqual(toRow(eventOf(), ALL))
  })

  test("have exactly the columns of the documented table", () => {
    const page = readFileSync(path.join(import.meta.dirname, "../../docs/observability.md"), "utf8")
    const table = /CREATE TABLE GATEWAY_TRACES \(\n(.*?)\n\)/s.exec(page)?.[1] ?? ""
    const columns = [...table.matchAll(/(?:^|, ?)\s*([a-z_]+) [A-Z]/gm)].map(([, name]) => name)
    expect(columns.toSorted()).toEqual(Object.keys(toRow(eventOf(), ALL)).toSorted())
  })

  test("of Snowflake are bound parameters, not part of the statement", async () => {
    const { url, headers, body } = await outboundOf("snowflake")
    expect(url.href).toBe(`https://org-account.snowflakecomputing.com/api/v2/statements?requestId=${DELIVERY_ID}`)
    expect(headers["authorization"]).toBe("Bearer snowflake-token-0123456789")
    const { statement, bindings, ...position } = JSON.parse(body) as {
      statement: string
      bindings: { 1: { type: string; value: string } }
    }
    expect(position).toMatchObject({ database: "SNOWFLAKE_LEARNING_DB", schema: "PUBLIC", warehouse: "COMPUTE_WH" })
    expect(statement).toMatch(/^MERGE INTO "GATEWAY_TRACES" .*PARSE_JSON\(\?\)/)
    expect(statement).not.toContain("Hello")
    expect(JSON.parse(bindings[1].value)).toEqual([toRow(eventOf(), ALL)])
  })

  test.each<[KindName, Record<string, string>]>([
    ["clickhouse", { table: "t`; DROP TABLE x" }],
    ["clickhouse", { database: "a b" }],
    ["snowflake", { table: 't" --' }],
    ["snowflake", { account: "evil.example/x?" }],
    ["s3", { bucketName: "../x" }],
  ])("reject identifiers with other characters: %s, %j", async (type, more) => {
    await expect(outboundOf(type, more)).rejects.toThrow(/^config\./)
  })

  test("of S3 are lines of one object at the template's path, which a repetition overwrites", async () => {
    const more = { endpoint: "https://s3.example.com", pathTemplate: "{prefix}/y={year}/m={month}/d={day}/h={hour}" }
    const { url, method, headers, body } = await outboundOf("s3", more)
    expect(method).toBe("PUT")
    expect(decodeURIComponent(url.pathname)).toBe(`/traces/gateway-traces/y=2026/m=11/d=21/h=17/${DELIVERY_ID}.ndjson`)
    expect(headers["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAS3ACCESSKEYID0123\/20261121\/us-east-1\/s3\/aws4_request/,
    )
    expect(headers["x-amz-security-token"]).toBe("s3-session-token-0123456789")
    expect(body.split("\n").map((line) => (line === "" ? null : (JSON.parse(line) as unknown)))).toEqual([
      toRow(eventOf(), ALL),
      null,
    ])
    const plain = await outboundOf("s3", { region: "eu-central-1" })
    expect(plain.url.href).toBe(
      `https://s3.eu-central-1.amazonaws.com/traces/gateway-traces/2026-11-21/${DELIVERY_ID}.ndjson`,
    )
  })

  test("of Ramp are events with an idempotency key", async () => {
    const { headers, body } = await outboundOf("ramp")
    expect(headers).toMatchObject({
      authorization: "Bearer ramp-key-0123456789abcdefg",
      "idempotency-key": DELIVERY_ID,
    })
    expect(JSON.parse(body)).toEqual({ events: [toRow(eventOf(), ALL)] })
  })
})

describe("a trace", () => {
  const spanOf = async (trace: Record<string, unknown> | null, change: Partial<Settled> = {}) => {
    const broadcast = { region: "global", user: null, trace, hasContent: false }
    const { body } = await outboundOf("otel-collector", {}, eventOf({ broadcast, ...change }, null))
    type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string }
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
    return resourceSpans[0]?.scopeSpans[0]?.spans[0]
  }

  test.each([
    [null, "d368672bed2c4093aa8b617b83da0c5c"],
    [{ trace_id: "0123456789ABCDEF0123456789abcdef" }, "0123456789abcdef0123456789abcdef"],
    [{ trace_id: "01a1fed6-f156-71f0-9e2f-d3a472f3d414" }, "01a1fed6f15671f09e2fd3a472f3d414"],
  ])("with %j has the id %s", async (trace, id) => {
    expect((await spanOf(trace))?.traceId).toBe(id)
  })

  test("with any trace_id has a valid, stable and nonzero id", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), async (texts) => {
        const span = await spanOf({ trace_id: texts, parent_span_id: texts })
        expect(span?.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/)
        expect(span?.parentSpanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/)
        expect((await spanOf({ trace_id: texts }))?.traceId).toBe(span?.traceId)
      }),
      { numRuns: runs(0.8) },
    )
    expect((await spanOf({ trace_id: "0".repeat(32) }))?.traceId).not.toBe("0".repeat(32))
  })

  test("names its spans by generation_name, then span_name, then the model", async () => {
    expect((await spanOf({ generation_name: "g", span_name: "s" }))?.name).toBe("g")
    expect((await spanOf({ span_name: "s" }))?.name).toBe("s")
    expect((await spanOf(null, { apiType: "embeddings" }))?.name).toBe("embeddings acme/chat-1")
  })

  test("of one request has all its calls as separate spans", async () => {
    const [one, other] = [await spanOf(null), await spanOf(null, { id: "gen-01a1fed6-f156-71f0-9e2f-d3a472f3d415" })]
    expect(other?.traceId).toBe(one?.traceId)
    expect(other?.spanId).not.toBe(one?.spanId)
  })
})
