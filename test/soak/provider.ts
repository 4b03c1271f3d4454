import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"

/** USD a token. */
export const PRICES = { prompt: "0.000001", completion: "0.000002" }
const PROMPT_TOKENS = 50
const EMBEDDED_TOKENS = 4

/** One response as the provider served it. */
export type Served = {
  id: string
  startedAt: number
  endedAt: number
  /** Nano-USD of the sent tokens. */
  costNano: number
  /** Whether all of it was sent, with its usage. */
  isComplete: boolean
}

export type Provider = { baseUrl: string; served: readonly Served[]; close: () => Promise<void> }

type Body = {
  model: string
  stream?: boolean
  input?: unknown
  messages?: { role: string; content: unknown }[]
  tools?: { function: { name: string } }[]
}

/**
 * An OpenAI-compatible provider on this machine that records what it served. `slow` sends its stream over three seconds;
 * a request with tools gets a call of the first one, and then text.
 */
export async function startProvider(): Promise<Provider> {
  const served: Served[] = []
  const server = http.createServer((request, response) => {
    void readJson(request).then(
      (body) => respond(body, response, served),
      () => response.destroy(),
    )
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    served,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

async function readJson(request: http.IncomingMessage): Promise<Body> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString()) as Body
}

const PIECES = Array.from({ length: 20 }, (_, at) => ` word${at}`)
const PACE_MS = 150

const costOf = (completion: number) => PROMPT_TOKENS * 1_000 + completion * 2_000
const usageOf = (completion: number) => ({
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: completion,
  total_tokens: PROMPT_TOKENS + completion,
})

async function respond(body: Body, response: http.ServerResponse, served: Served[]): Promise<void> {
  const id = `up-${served.length + 1}-${crypto.randomUUID()}`
  const one: Served = { id, startedAt: Date.now(), endedAt: 0, costNano: costOf(0), isComplete: false }
  served.push(one)
  response.on("error", () => undefined)
  response.once("close", () => (one.endedAt = Date.now()))
  if (body.stream === true) return stream(body, response, one)
  await wait(5)
  const document = body.input === undefined ? toDocument(body, one) : toEmbeddings(one)
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document), () => {
    one.isComplete = true
  })
}

function toEmbeddings(one: Served): object {
  one.costNano = EMBEDDED_TOKENS * 1_000
  return {
    id: one.id,
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [0.1, 0.2, 0.3] }],
    usage: { prompt_tokens: EMBEDDED_TOKENS, total_tokens: EMBEDDED_TOKENS },
  }
}

/** The tool to call; undefined if there is none or it was called. */
function toolOf({ tools, messages }: Body): object[] | undefined {
  const name = tools?.[0]?.function.name
  if (name === undefined || messages?.at(-1)?.role === "tool") return undefined
  const given = JSON.stringify({ command: "echo done", why: "asked", timezone: "UTC" })
  return [{ index: 0, id: `call_${crypto.randomUUID()}`, type: "function", function: { name, arguments: given } }]
}

function toDocument(body: Body, one: Served): object {
  const calls = toolOf(body)
  const completion = PIECES.length
  one.costNano = costOf(completion)
  const message = {
    role: "assistant",
    ...(calls ? { content: null, tool_calls: calls } : { content: PIECES.join("") }),
  }
  return {
    id: one.id,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1_000),
    model: body.model,
    choices: [{ index: 0, message, finish_reason: calls ? "tool_calls" : "stop" }],
    usage: usageOf(completion),
  }
}

async function stream(body: Body, response: http.ServerResponse, one: Served): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" })
  const head = { id: one.id, object: "chat.completion.chunk", created: Math.floor(Date.now() / 1_000) }
  const send = (more: object) =>
    response.write(`data: ${JSON.stringify({ ...head, model: body.model, choices: [], ...more })}\n\n`)
  const chunk = (delta: object, finish: string | null = null) =>
    send({ choices: [{ index: 0, delta, finish_reason: finish }] })
  const calls = toolOf(body)
  chunk({ role: "assistant", content: "" })
  for (const [at, piece] of PIECES.entries()) {
    if (body.model === "slow") await wait(PACE_MS)
    if (response.destroyed) return
    chunk(calls ? (at === 0 ? { tool_calls: calls } : {}) : { content: piece })
    one.costNano = costOf(at + 1)
  }
  chunk({}, calls ? "tool_calls" : "stop")
  send({ usage: usageOf(PIECES.length) })
  response.end("data: [DONE]\n\n", () => (one.isComplete = true))
}
