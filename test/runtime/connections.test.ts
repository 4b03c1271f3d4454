import http from "node:http"
import net, { type AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { type Gateway, startGateway } from "./gateway.ts"
import { toNano } from "./setup.ts"

/** Connections that providers close, and providers that do not respond, over real sockets. */

const PRICES = { prompt: "0.000001", completion: "0.000002" }
const MODELS = ["closed", "closing", "slow", "left"].map((id) => ({ id, model: `acme/${id}`, ...PRICES }))
const DOCUMENT = {
  id: "up-1",
  object: "chat.completion",
  created: 1,
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
}
const COST_NANO = 20_000
const eventOf = (content: string, usage: object | null) => ({
  ...DOCUMENT,
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  usage,
})
const EVENTS = [eventOf("Hello", null), eventOf(" world", null), eventOf("", DOCUMENT.usage)]

type Respond = (socket: net.Socket, nthOfConnection: number) => void

let respond: Respond = (socket) => socket.destroy()
let requests = 0
let gateway: Gateway
const servers: net.Server[] = []
/** The response that the next request of the other server gets. */
let answer: (response: http.ServerResponse) => void = (response) => void response.end()

async function listen(server: net.Server): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

beforeAll(async () => {
  const raw = net.createServer((socket) => {
    let received = ""
    let count = 0
    socket.on("error", () => undefined)
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1")
      const end = received.indexOf("\r\n\r\n")
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
      if (end === -1 || received.length < end + 4 + length) return
      received = received.slice(end + 4 + length)
      requests += 1
      count += 1
      respond(socket, count)
    })
  })
  const other = http.createServer((request, response) => {
    request.resume().on("end", () => answer(response))
  })
  const provider = { api_key: "sk-scripted", models: MODELS }
  const [first, second] = [await listen(raw), await listen(other)]
  const providers = [
    { slug: "first", base_url: first, ...provider },
    { slug: "second", base_url: second, ...provider },
  ]
  gateway = await startGateway("", { CUSTOM_PROVIDERS: JSON.stringify(providers), FIRST_BYTE_TIMEOUT_MS: "300" })
})

afterAll(async () => {
  await gateway.stop()
  for (const server of servers) server.close()
})

function sendDocument(socket: net.Socket): void {
  const body = JSON.stringify(DOCUMENT)
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
}

const bodyOf = (model: string, order: string[], more = {}) => ({
  model,
  messages: [{ role: "user", content: "Hi" }],
  provider: { order, allow_fallbacks: order.length > 1 },
  ...more,
})

const chargedTo = async (apiKey: string) => toNano((await gateway.get<{ usage: number }>(apiKey, "/key")).usage)

test("a request on a connection that the provider has closed is sent once more on a new one", async () => {
  const { apiKey } = await gateway.newOrganization()
  requests = 0
  respond = (socket, count) => (count === 1 ? sendDocument(socket) : void socket.destroy())
  for (let call = 1; call <= 3; call++) {
    const response = await gateway.post(apiKey, "/chat/completions", bodyOf("acme/closed", ["first"]))
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Hello")])
  }
  // Each call but the first begins on the connection of the one before.
  expect(requests).toBe(5)
  expect(await chargedTo(apiKey)).toBe(3 * COST_NANO)
})

test("a provider that closes every connection gets a request twice, and the client an error without a charge", async () => {
  const { apiKey } = await gateway.newOrganization()
  requests = 0
  respond = (socket) => socket.destroy()
  const response = await gateway.post(apiKey, "/chat/completions", bodyOf("acme/closing", ["first"]))
  expect(response.status).toBe(502)
  expect(requests).toBe(2)
  expect(await chargedTo(apiKey)).toBe(0)
})

test("a stream whose provider sends no headers passes to the next provider", async () => {
  const { apiKey } = await gateway.newOrganization()
  requests = 0
  respond = () => undefined
  answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(`${EVENTS.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`)
  }
  const body = bodyOf("acme/slow", ["first", "second"], { stream: true })
  const response = await gateway.post(apiKey, "/chat/completions", body)
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining(" world")])
  expect(requests).toBe(1)
  expect(await chargedTo(apiKey)).toBe(COST_NANO)
})

test("a client that disconnects from a JSON call before its response is charged once, for what was generated", async () => {
  const { id, apiKey } = await gateway.newOrganization()
  const arrived = Promise.withResolvers<http.ServerResponse>()
  answer = (response) => arrived.resolve(response)
  const abort = new AbortController()
  const call = fetch(`${gateway.url}/api/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(bodyOf("acme/left", ["second"])),
    signal: abort.signal,
  })
  const response = await arrived.promise
  abort.abort()
  await expect(call).rejects.toThrow()
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(DOCUMENT))
  const [row, ...others] = await eventually(async () => {
    const rows = await gateway.rows(id)
    expect(rows).not.toEqual([])
    return rows
  })
  expect(others).toEqual([])
  // The runtime may report the disconnect: then the provider's response is not read, and only an estimate is charged.
  expect(row?.cost_nano).toBe(await chargedTo(apiKey))
  if (row?.ending === "complete") expect(row.cost_nano).toBe(COST_NANO)
  else expect(row?.ending).toBe("cancelled")
  expect(await gateway.holds(id)).toEqual([])
})
