import http from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { eventually } from "../support/eventually.ts"
import { type Gateway, startGateway } from "./gateway.ts"

const HOLD_TTL_MS = 1_500
const SESSIONS = 10
const PRICES = { prompt: "0.000004", completion: "0.000016", audio: "0.000032", audio_output: "0.000064" }

let gateway: Gateway
const provider = http.createServer()

/** Begins a response for each session and sends deltas until its socket closes. */
function talk(session: WebSocket): void {
  const send = (event: object) => session.send(JSON.stringify(event))
  send({ type: "session.created", session: { model: "live" } })
  session.on("message", () => {
    send({ type: "response.created", response: { id: "r1" } })
    const timer = setInterval(() => send({ type: "response.output_text.delta", response_id: "r1", delta: "word " }), 10)
    session.on("close", () => clearInterval(timer))
  })
}

beforeAll(async () => {
  new WebSocketServer({ server: provider }).on("connection", talk)
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  const models = [{ id: "live", output: ["realtime"], context_length: 32_000, max_completion_tokens: 4_096, ...PRICES }]
  const providers = [{ slug: "talking", base_url: url, api_key: "sk-talking", models }]
  gateway = await startGateway(url, { CUSTOM_PROVIDERS: JSON.stringify(providers), HOLD_TTL_MS: String(HOLD_TTL_MS) })
})
afterAll(async () => {
  await gateway.stop()
  provider.closeAllConnections()
  provider.close()
})

type Client = { events: { type: string }[]; isClosed: () => boolean }

function open(apiKey: string): Client {
  const url = `${gateway.url.replace(/^http/, "ws")}/api/v1/realtime?model=talking/live`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${apiKey}` } })
  const events: { type: string }[] = []
  let isClosed = false
  socket.on("message", (data: Buffer) => events.push(JSON.parse(data.toString()) as { type: string }))
  socket.on("open", () => socket.send(JSON.stringify({ type: "response.create" })))
  socket.on("close", () => (isClosed = true))
  socket.on("error", () => undefined)
  return { events, isClosed: () => isClosed }
}

test("a runtime killed with open sessions charges an estimate of each response once", async () => {
  const organization = await gateway.newOrganization()
  const clients = Array.from({ length: SESSIONS }, () => open(organization.apiKey))
  await eventually(() => {
    for (const { events } of clients) expect(events.length).toBeGreaterThan(20)
  })
  expect(await gateway.holds(organization.id)).toHaveLength(SESSIONS)
  await gateway.killRuntime()
  await eventually(() => expect(clients.every(({ isClosed }) => isClosed())).toBe(true))
  const rows = await eventually(async () => {
    expect(await gateway.holds(organization.id)).toEqual([])
    const found = await gateway.rows(organization.id)
    expect(found.length).toBe(SESSIONS)
    return found
  })
  for (const row of rows) {
    expect(row.ending).toBe("unsettled")
    expect(row.cost_nano).toBeGreaterThan(0)
  }
  const { total_usage: usage } = await gateway.get<{ total_usage: number }>(organization.managementKey, "/credits")
  expect(Math.round(usage * 1e9)).toBe(rows.reduce((sum, row) => sum + row.cost_nano, 0))
  const again = open(organization.apiKey)
  await eventually(() => expect(again.events.length).toBeGreaterThan(2))
})
