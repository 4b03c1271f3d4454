import { createHmac } from "node:crypto"
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { attributeOf, type Export, exportsIn, isSigned, spansIn, startReceiver } from "./receivers.ts"
import { gatewayUrl, newOrganization, type Organization } from "./world.ts"

type Receiver = Awaited<ReturnType<typeof startReceiver>>
const receivers: Receiver[] = []

async function newReceiver(answer?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(answer)
  receivers.push(receiver)
  return receiver
}

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
})
afterAll(() => Promise.all(receivers.map(({ stop }) => stop())))

type Destination = {
  data: {
    id: string
    config: { signingSecret: string }
    backlog: number
    dead_letters: number
    last_error: string | null
    last_success_at: string | null
  }
}

async function callApi(key: string, method: string, path: string, body?: object) {
  const response = await fetch(`${gatewayUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return { headers: response.headers, json: JSON.parse(text) as Destination }
}

const listen = async (by: Organization, type: string, config: object, more: object = {}) => {
  const input = { type, name: type, config, ...more }
  return (await callApi(by.managementKey, "POST", "/observability/destinations", input)).json.data
}

const call = async (by: Organization, text: string, more: object = {}) => {
  const body = { model: "sim/echo", messages: [{ role: "user", content: text }], ...more }
  return (await callApi(by.apiKey, "POST", "/chat/completions", body)).headers.get("x-generation-id") ?? ""
}

const WAIT_MS = 60_000
const once = <T>(check: () => T | Promise<T>) => eventually(check, WAIT_MS)
const generationsIn = (receiver: Receiver) =>
  spansIn(receiver.got).map((span) => attributeOf(span, "gateway.generation_id") as string)

/** The spans as OpenTelemetry's serializer writes them. Its span kinds are one less than those of OTLP. */
function rewritten({ resourceSpans }: Export): Export {
  const [group] = resourceSpans
  const [scoped] = group?.scopeSpans ?? []
  const valueOf = ({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Record<string, unknown>): never =>
    (stringValue ??
      (intValue === undefined ? undefined : Number(intValue)) ??
      doubleValue ??
      boolValue ??
      (arrayValue as { values: Record<string, unknown>[] }).values.map(valueOf)) as never
  const attributesOf = (list: { key: string; value: Record<string, unknown> }[]) =>
    Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]))
  const timeOf = (nano: string): [number, number] => [
    Number(BigInt(nano) / 1_000_000_000n),
    Number(BigInt(nano) % 1_000_000_000n),
  ]
  const { schemaUrl } = group ?? {}
  const resource = {
    attributes: attributesOf(group?.resource.attributes ?? []),
    asyncAttributesPending: false,
    schemaUrl,
  }
  const spans = scoped?.spans.map((span) => {
    const context = (spanId: string) => ({ traceId: span.traceId, spanId, traceFlags: 1 })
    return {
      name: span.name,
      kind: span.kind - 1,
      spanContext: () => context(span.spanId),
      ...(span.parentSpanId && { parentSpanContext: context(span.parentSpanId) }),
      startTime: timeOf(span.startTimeUnixNano),
      endTime: timeOf(span.endTimeUnixNano),
      duration: [0, 0] as [number, number],
      ended: true,
      status: {
        code: span.status.code,
        ...(span.status.message && { message: span.status.message }),
      },
      attributes: attributesOf(span.attributes),
      links: [],
      events: [],
      resource,
      instrumentationScope: { name: scoped.scope.name, schemaUrl },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
  })
  expect(ProtobufTraceSerializer.serializeRequest(spans as never)?.byteLength).toBeGreaterThan(0)
  return JSON.parse(new TextDecoder().decode(JsonTraceSerializer.serializeRequest(spans as never))) as Export
}

/** 64-bit numbers may be written as numbers or strings: protobuf's JSON treats both alike. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, one: unknown) => (key === "intValue" ? String(one) : one)))

describe("an OpenTelemetry collector", () => {
  test("gets spans equal to those of OpenTelemetry's serializer", async () => {
    const collector = await newReceiver()
    const flags = { broadcast_generation_cost: true, broadcast_generation_identity: true }
    await listen(organization, "otel-collector", { endpoint: collector.url, headers: { "x-tenant": "ours" } }, flags)
    const trace = { trace_id: "0123456789abcdef0123456789abcdef", parent_span_id: "0123456789abcdef", team: "search" }
    const id = await call(organization, "Hello, collector", { trace, session_id: "s-1", user: "ada" })
    await once(() => expect(generationsIn(collector)).toContain(id))
    const [received] = collector.got
    expect(received).toMatchObject({
      method: "POST",
      path: "/v1/traces",
      headers: { "content-type": "application/json", "x-tenant": "ours" },
    })
    for (const exported of exportsIn(collector.got))
      expect(plain(rewritten(exported))).toMatchObject(plain(exported) as object)
    const [span] = spansIn(collector.got)
    expect(span).toMatchObject({ traceId: trace.trace_id, parentSpanId: trace.parent_span_id, kind: 3 })
    expect(span && attributeOf(span, "gen_ai.input.messages")).toContain("Hello, collector")
    expect(span && attributeOf(span, "trace.metadata.team")).toBe("search")
  })
})

describe("a webhook", () => {
  test("verifies the signature with its secret", async () => {
    const hook = await newReceiver()
    const { config } = await listen(organization, "webhook", { url: `${hook.url}/in`, method: "PUT" })
    const id = await call(organization, "Hello, webhook")
    await once(() => expect(generationsIn(hook)).toContain(id))
    for (const { method, path, headers, body } of hook.got) {
      expect([method, path]).toEqual(["PUT", "/in"])
      const key = Buffer.from(config.signingSecret.slice("whsec_".length), "base64")
      const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`
      expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`)
      expect(Math.abs(Date.now() / 1_000 - Number(headers["webhook-timestamp"]))).toBeLessThan(120)
    }
  })
})

describe("an S3 bucket", () => {
  test("gets signed uploads of JSON lines under its path", async () => {
    const keys = { accessKeyId: "AKIAACCEPTANCE0123456", secretAccessKey: "acceptance/secret+key/0123456789" }
    const refused: unknown[] = []
    const bucket = await newReceiver((received) => {
      if (isSigned(received, keys)) return 200
      refused.push(received)
      return 403
    })
    const config = { ...keys, bucketName: "traces", endpoint: bucket.url, prefix: "calls of ours" }
    await listen(organization, "s3", config, { privacy_mode: true })
    const id = await call(organization, "Hello, bucket")
    type Row = { generation_id: string; model: string; input: unknown }
    const rows = () =>
      bucket.got.flatMap(({ body }) =>
        body
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Row),
      )
    await once(() => {
      expect(refused).toEqual([])
      expect(rows().map((row) => row.generation_id)).toContain(id)
    })
    expect(rows()[0]).toMatchObject({ model: "sim/echo", input: null })
    const day = new Date().toISOString().slice(0, 10)
    expect(bucket.got[0]?.path).toMatch(new RegExp(`^/traces/calls%20of%20ours/${day}/[0-9a-f-]{36}\\.ndjson$`))
  })
})

describe("a destination that is unavailable under load", () => {
  const CALLS = 300
  const AT_ONCE = 10

  test("gets every call once it is back, and can identify duplicates", async () => {
    const busy = await newOrganization()
    const collector = await newReceiver()
    const other = await newReceiver()
    const { id } = await listen(busy, "otel-collector", { endpoint: collector.url })
    await listen(busy, "webhook", { url: other.url })
    const ids: string[] = []
    const round = async (count: number) => {
      for (let at = 0; at < count; at += AT_ONCE) {
        ids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, one) => call(busy, `Call ${at + one}`)))))
      }
    }
    await round(CALLS / 3)
    await collector.stop()
    await round(CALLS / 3)
    const away = () => callApi(busy.managementKey, "GET", `/observability/destinations/${id}`)
    await once(async () => expect((await away()).json.data.backlog).toBeGreaterThan(0))
    expect((await away()).json.data.last_error).toBe("the connection failed")
    await collector.start()
    await round(CALLS / 3)
    // Ends the backoff early.
    await callApi(busy.managementKey, "POST", `/observability/destinations/${id}/redeliver`)
    await once(() => expect(new Set(generationsIn(collector)).size).toBe(CALLS))
    await once(() => expect(new Set(generationsIn(other)).size).toBe(CALLS))
    expect(new Set(generationsIn(collector))).toEqual(new Set(ids))
    const events = spansIn(collector.got).map((span) => attributeOf(span, "gateway.event_id"))
    expect(new Set(events).size).toBe(CALLS)
    await once(async () => expect((await away()).json.data).toMatchObject({ backlog: 0, dead_letters: 0 }))
    expect((await away()).json.data.last_success_at).not.toBeNull()
    expect(spansIn(collector.got).every((span) => attributeOf(span, "gen_ai.input.messages") !== undefined)).toBe(true)
  })
})
