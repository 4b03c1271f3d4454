import net from "node:net"
import { RealtimeAgent, RealtimeSession, OpenAIRealtimeWebSocket as AgentsWebSocket } from "@openai/agents/realtime"
import { OpenAIRealtimeWebSocket } from "openai/realtime/websocket"
import { OpenAIRealtimeWS } from "openai/realtime/ws"
import { beforeAll, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { gatewayUrl, newKey, newOrganization, openai, type Organization, receiptOf, usageOf } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const { hostname, port } = new URL(gatewayUrl)
/** The client supports TLS only; the gateway of the test has none. */
const options = { createConnection: () => net.connect(Number(port), hostname) }

type Done = { response: { id?: string; status?: string; output?: unknown } }

function openSession(apiKey: string, model = "sim/realtime"): OpenAIRealtimeWS {
  return new OpenAIRealtimeWS({ model, options }, openai(apiKey))
}

function sendText(session: OpenAIRealtimeWS | OpenAIRealtimeWebSocket, text: string): void {
  session.send({
    type: "conversation.item.create",
    item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
  })
  session.send({ type: "response.create", response: { output_modalities: ["text"] } })
}

test("OpenAIRealtimeWS holds a conversation, which is charged to its key", async () => {
  const session = openSession(organization.apiKey)
  const text: string[] = []
  const done: Done[] = []
  const errors: unknown[] = []
  session.on("error", (error) => errors.push(error))
  session.on("session.created", () => {
    session.send({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } })
  })
  session.on("session.updated", () => sendText(session, "rivers"))
  session.on("response.output_text.delta", ({ delta }) => text.push(delta))
  session.on("response.done", (event) => done.push(event as Done))
  await eventually(() => expect(done.length, JSON.stringify(errors)).toBe(1))
  expect(text.join("")).toBe("You said: rivers")
  expect(errors).toEqual([])
  session.close()
  const receipt = await receiptOf(organization, done[0]?.response.id ?? "")
  expect(receipt).toMatchObject({ ending: "complete" })
  expect(receipt.total_cost).toBeGreaterThan(0)
  await eventually(async () => expect(await usageOf(organization)).toBeCloseTo(receipt.total_cost, 9))
})

test("OpenAIRealtimeWS sends audio, and the provider responds at the end of speech", async () => {
  const session = openSession(organization.apiKey)
  const audio: string[] = []
  const done: Done[] = []
  session.on("session.created", () => {
    const input = { turn_detection: { type: "server_vad" as const } }
    session.send({ type: "session.update", session: { type: "realtime", audio: { input } } })
  })
  session.on("session.updated", () => {
    for (let part = 0; part < 10; part++) {
      session.send({ type: "input_audio_buffer.append", audio: Buffer.alloc(4_800).toString("base64") })
    }
  })
  session.on("response.output_audio.delta", ({ delta }) => audio.push(delta))
  session.on("response.done", (event) => done.push(event as Done))
  await eventually(() => expect(done.length).toBe(1))
  expect(audio.length).toBeGreaterThan(1)
  session.close()
  const receipt = await receiptOf(organization, done[0]?.response.id ?? "")
  expect(receipt.total_cost).toBeGreaterThan(0)
})

test("OpenAIRealtimeWebSocket, the client for browsers, sends its key as a subprotocol", async () => {
  const Native = globalThis.WebSocket
  globalThis.WebSocket = class extends Native {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(String(url).replace(/^wss:/, "ws:"), protocols)
    }
  }
  try {
    const client = openai(organization.apiKey)
    const session = new OpenAIRealtimeWebSocket({ model: "sim/realtime", dangerouslyAllowBrowser: true }, client)
    const done: Done[] = []
    session.on("session.created", () => sendText(session, "mountains"))
    session.on("response.done", (event) => done.push(event as Done))
    await eventually(() => expect(done.length).toBe(1))
    session.close()
  } finally {
    globalThis.WebSocket = Native
  }
})

test("a page opens a session with a client secret created by the openai client", async () => {
  const client = openai(organization.apiKey)
  const created = await client.realtime.clientSecrets.create({
    expires_after: { anchor: "created_at", seconds: 60 },
    session: { type: "realtime", model: "sim/realtime", instructions: "Be brief." },
  })
  expect(created.value).toMatch(/^ek_/)
  const protocols = ["realtime", `openai-insecure-api-key.${created.value}`]
  const url = `${gatewayUrl.replace(/^http/, "ws")}/realtime?model=sim/realtime`
  const socket = new WebSocket(url, protocols)
  const events: string[] = []
  socket.addEventListener("message", ({ data }) => events.push(String(data)))
  await eventually(() => expect(events.join()).toContain("session.updated"))
  expect(socket.protocol).toBe("realtime")
  expect(events.join()).toContain("Be brief.")
  socket.close()
})

test("a session of a key without credit is rejected with 402 before it opens", async () => {
  const key = await newKey(organization, { limit: 0.000001 })
  const session = openSession(key)
  const errors: Error[] = []
  session.on("error", (error) => errors.push(error))
  await eventually(() => expect(errors.length).toBeGreaterThan(0))
  expect(errors[0]?.message).toContain("402")
})

test("a response that uses up the limit of its key ends the session with an error event", async () => {
  const key = await newKey(organization, { limit: 0.003 })
  const session = openSession(key, "sim/realtime-endless")
  const errors: { error?: { code?: string | null } | null | undefined }[] = []
  const closed: number[] = []
  session.on("error", (error) => errors.push(error))
  session.socket.on("close", (code) => closed.push(code))
  session.on("session.created", () => sendText(session, "rivers"))
  await eventually(() => expect(closed).toEqual([4402]))
  expect(errors.map(({ error }) => error?.code)).toContain("insufficient_credits")
})

test("@openai/agents runs a realtime agent", async () => {
  const agent = new RealtimeAgent({ name: "Guide", instructions: "Be brief." })
  const url = `${gatewayUrl.replace(/^http/, "ws")}/realtime?model=sim/realtime`
  const transport = new AgentsWebSocket({ url })
  const session = new RealtimeSession(agent, {
    transport,
    model: "sim/realtime",
    config: { outputModalities: ["text"] },
  })
  const done: unknown[] = []
  session.on("agent_end", (_, __, output) => done.push(output))
  session.on("error", () => undefined)
  await session.connect({ apiKey: organization.apiKey, url })
  session.sendMessage("rivers")
  await eventually(() => expect(done.length).toBe(1))
  expect(done[0]).toContain("rivers")
  session.close()
})
