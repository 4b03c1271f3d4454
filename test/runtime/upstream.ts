import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"

/** The provider's behavior for one call. */
export type Script = {
  pieces: readonly string[]
  /** Between two pieces; 0 writes as fast as the gateway reads. */
  paceMs?: number
  /** Before any output, including headers. */
  silenceMs?: number
  reportsUsage?: boolean
  /** After the pieces: a call of an intern's shell. */
  command?: string
  /** After the last piece: a good end, a connection broken within an event, or silence with an open connection. */
  ending?: "good" | "broken" | "silent"
}

/** One call as received by the provider. */
export type Exchange = {
  id: string
  script: Script
  /** Settles when the call has arrived, before any response. */
  arrived: Promise<void>
  /** Pieces that were sent, and all bytes of the body. */
  generated: string[]
  sent: string
  /** The gateway accepts no more data for now. */
  isHeldBack: boolean
  closed: boolean
}

export type Upstream = {
  baseUrl: string
  /** An expected call, identified by the text of the user's message. */
  expect: (script: Script) => Exchange
  close: () => Promise<void>
}

export const PRICES = { prompt: "0.000001", completion: "0.000002" }

/** A scripted provider of the OpenAI chat format; the test controls its timing and its end of the connection. */
export async function startUpstream(): Promise<Upstream> {
  const exchanges = new Map<string, Exchange & { onArrived: () => void }>()
  const server = http.createServer((request, response) => {
    void readJson(request).then((body) => {
      const exchange = exchanges.get(body.messages.at(-1)?.content ?? "")
      if (!exchange) throw new Error("Nobody expected this call.")
      exchange.onArrived()
      return respond(exchange, body.model, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    expect: (script) => {
      const id = crypto.randomUUID()
      const { promise: arrived, resolve: onArrived } = Promise.withResolvers<void>()
      const exchange = { id, script, arrived, onArrived, generated: [], sent: "", isHeldBack: false, closed: false }
      exchanges.set(id, exchange)
      return exchange
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

type Body = { model: string; messages: { content: string }[] }

async function readJson(request: http.IncomingMessage): Promise<Body> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString()) as Body
}

async function respond(exchange: Exchange, model: string, response: http.ServerResponse): Promise<void> {
  const { script } = exchange
  response.on("error", () => undefined)
  const closed = new Promise<void>((resolve) => {
    response.once("close", () => {
      exchange.closed = true
      resolve()
    })
  })
  const startedAt = Date.now()
  if (script.silenceMs) await wait(script.silenceMs)
  if (exchange.closed) return

  const send = async (text: string) => {
    exchange.sent += text
    if (response.write(text) || exchange.closed) return
    exchange.isHeldBack = true
    await Promise.race([once(response, "drain").catch(() => undefined), closed])
    exchange.isHeldBack = false
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  const chunk = toChunk(exchange, model)
  await send(toFrame(chunk({ role: "assistant", content: "" })))
  for (const [at, piece] of script.pieces.entries()) {
    // Counted from the start, so that the pace does not drift.
    if (script.paceMs) await wait(Math.max(0, startedAt + (script.silenceMs ?? 0) + at * script.paceMs - Date.now()))
    if (exchange.closed) return
    exchange.generated.push(piece)
    await send(toFrame(chunk({ content: piece })))
  }
  if (script.ending === "silent") return
  if (script.ending === "broken") {
    const half = toFrame(chunk({ content: "never whole" }))
    // Destroyed only after the half was sent: bytes written in the same turn as a reset are lost.
    response.write(half.slice(0, half.length / 2), () => setTimeout(() => response.destroy(), 20))
    return
  }
  const { command } = script
  if (command !== undefined) {
    const called = { name: "shell", arguments: JSON.stringify({ command }) }
    await send(toFrame(chunk({ tool_calls: [{ index: 0, id: "call_0", type: "function", function: called }] })))
  }
  await send(toFrame(chunk({}, command === undefined ? "stop" : "tool_calls")))
  if (script.reportsUsage) await send(toFrame({ ...chunk({}), choices: [], usage: usageOf(exchange) }))
  await send("data: [DONE]\n\n")
  response.end()
}

function toChunk({ id }: Exchange, model: string) {
  return (delta: object, finishReason: string | null = null) => ({
    id: `chatcmpl-${id}`,
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  })
}

function toFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

const PROMPT_TOKENS = 7

function usageOf({ generated }: Exchange) {
  const completion = countTokens(generated)
  return {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: completion,
    total_tokens: PROMPT_TOKENS + completion,
  }
}

/** Tokens by the provider's count: at least one per piece, and one per four units. */
export function countTokens(pieces: readonly string[]): number {
  return Math.max(Math.ceil(pieces.join("").length / 4), pieces.filter((piece) => piece !== "").length)
}
