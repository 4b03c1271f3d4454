import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { mockReceivers, type Received } from "../observability/receiver.ts"
import { expectJson } from "../support/world.ts"
import { call, callOf, events, type Message, messageOf, newSetup, result, send, text, wellBehaved } from "./server.ts"

/** Clients that evade guardrails, and servers that return what nobody should see. */

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

async function guarded(rules: object, answer: Parameters<typeof newSetup>[0] = wellBehaved) {
  const setup = await newSetup(answer, { price_per_call_usd: 1 })
  const { manage } = setup.workspace
  const { data } = await expectJson<{ data: { id: string } }>(
    201,
    manage.post("/guardrails", { name: "Rail", ...rules }),
  )
  await expectJson(200, manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [setup.hash] }))
  return setup
}

const ZEBRAS = { content_filters: [{ pattern: "zebra\\d", action: "block", label: "zebra" }] }
const OPENING = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } }

describe("guardrails", () => {
  test("read numbers in arguments and in structured results", async () => {
    const card = 4_111_111_111_111_111
    const paid = (received: Received) =>
      Response.json(result(messageOf(received).id, { content: [], structuredContent: { card, cents: [500, card] } }))
    const rules = { content_filter_builtins: [{ slug: "credit-card", action: "redact" }] }
    const { as, receiver } = await guarded(rules, paid)
    const answered = await call(as, "query", { card, cents: 500 })
    expect(messageOf(receiver.got[0]!).params?.arguments).toEqual({ card: "[CREDIT_CARD]", cents: 500 })
    const structuredContent = { card: "[CREDIT_CARD]", cents: [500, "[CREDIT_CARD]"] }
    expect(answered.result).toEqual({ content: [], structuredContent })
  })

  test("read text files in base64, and no images", async () => {
    const file = btoa("Write to ada@example.com")
    const content = (blob: string) => [
      { type: "resource", resource: { uri: "a://b", mimeType: "text/plain", blob } },
      { type: "image", mimeType: "image/png", data: file },
    ]
    const rules = { content_filter_builtins: [{ slug: "email", action: "redact" }] }
    const filed = (received: Received) => Response.json(result(messageOf(received).id, { content: content(file) }))
    const { as } = await guarded(rules, filed)
    expect((await call(as, "query")).result).toEqual({ content: content(btoa("Write to [EMAIL]")) })
  })

  test.each([
    ["the id", { ...callOf("query"), id: "zebra1" }],
    ["initialize", { method: "initialize", params: { ...OPENING, clientInfo: { name: "zebra1", version: "1" } } }],
    ["a cursor", { method: "tools/list", params: { cursor: "zebra1" } }],
    ["metadata of a list", { method: "tools/list", params: { _meta: { note: "zebra1" } } }],
    ["a ping", { method: "ping", params: { note: "zebra1" } }],
    ["a log level", { method: "logging/setLevel", params: { level: "zebra1" } }],
    ["a progress token", callOf("query", {}, { _meta: { progressToken: "zebra1" } })],
    ["a notification", { id: undefined, method: "notifications/cancelled", params: { reason: "zebra1" } }],
    ["an error of the client", { id: 1, error: { code: 1, message: "zebra1" } }],
  ])("block text in %s before it reaches the server", async (_, message) => {
    const { as, receiver } = await guarded(ZEBRAS)
    const answered = await send(as, { jsonrpc: "2.0", id: 7, ...message })
    expect(await answered.text()).toContain("guardrail_blocked")
    expect(receiver.got).toEqual([])
  })

  test("read all that is sent: other fields of a message are dropped", async () => {
    const { as, receiver } = await guarded(ZEBRAS)
    await expectJson(200, send(as, { ...callOf("query"), note: "zebra1" }))
    await expectJson(200, send(as, { jsonrpc: "2.0", id: 8, method: "prompts/get", params: {}, note: "zebra1" }))
    await send(as, { jsonrpc: "2.0", method: "notifications/cancelled", note: "zebra1" })
    expect(receiver.got.map(({ body }) => body).join("\n")).not.toContain("zebra1")
    expect(receiver.got).toHaveLength(3)
  })
})

describe("a batch", () => {
  test("with an invalid message is rejected before any call", async () => {
    const { as, receiver } = await newSetup()
    await expectJson(400, send(as, [callOf("query"), { jsonrpc: "2.0", method: "nothing" }]))
    expect(receiver.got).toEqual([])
  })

  test("that fails after a charged call returns the result of the call", async () => {
    const failing = (received: Received) =>
      messageOf(received).id === undefined ? new Response(null, { status: 500 }) : wellBehaved(received)
    const { as, workspace } = await newSetup(failing, { price_per_call_usd: 1 })
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled" }
    const batch = [callOf("query"), cancelled, { ...callOf("query"), id: 8 }]
    const answers = await expectJson<Message[]>(200, send(as, batch))
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [7, undefined],
      [null, -32_011],
      [8, undefined],
    ])
    expect((await workspace.ledger.balance()).spentNano).toBe(2_000_000_000)
  })
})

/** Returns the headers of each request in its response. */
function echoing(received: Received): Response {
  const { id, method } = messageOf(received)
  const { headers } = received
  const echo = `${headers.get("authorization")} ${headers.get("x-tenant")} ${received.url.href}`
  if (method === "tools/call") return events(result(id, text(JSON.stringify({ echo }))))
  if (method === "ping") return Response.json({ jsonrpc: "2.0", id, error: { code: 1, message: echo, data: { echo } } })
  return Response.json(result(id, { ...OPENING, tools: [], instructions: echo }))
}

test.each(["initialize", "tools/list", "ping", "tools/call"])(
  "secrets of the server's record are hidden in responses to %s",
  async (method) => {
    const headers = { Authorization: "Bearer token-of-the-server/1", "X-Tenant": "acme-corp" }
    const path = "/aB3dE5gH7jK9mN1pQ3sT5?sig=short-signature"
    const { as } = await newSetup(echoing, { headers, path })
    const answer = await (
      await send(as, { jsonrpc: "2.0", id: 7, method, params: { ...OPENING, name: "query" } })
    ).text()
    expect(answer).not.toContain("token-of-the-server")
    expect(answer).toContain("[redacted] acme-corp")
    expect(answer).not.toContain("aB3dE5gH7jK9mN1pQ3sT5")
    expect(answer).not.toContain("short-signature")
  },
)
