import http from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Format } from "../differential/conversation.ts"
import { Random } from "../random.ts"
import { type Garbage, newGarbage } from "./garbage.ts"
import { newValid } from "./valid.ts"

export type GarbageUpstream = {
  baseUrl: string
  /** Sets the seed of the next responses of a model's provider. */
  plan: (model: string, seed: number) => void
  /** Its responses since then. */
  sent: (model: string) => Garbage[]
  close: () => Promise<void>
}

const FORMATS: Readonly<Record<string, Format>> = { completions: "chat", responses: "responses", messages: "messages" }

/** A provider of every API format, whose responses are broken at random. */
export async function startGarbageUpstream(): Promise<GarbageUpstream> {
  const plans = new Map<string, { random: Random; sent: Garbage[] }>()
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("error", () => undefined)
    request.on("end", () => {
      const { model, stream } = JSON.parse(Buffer.concat(parts).toString()) as { model: string; stream?: boolean }
      const plan = plans.get(model)
      if (!plan) throw new Error(`No plan for ${model}.`)
      const format = FORMATS[request.url?.split("/").at(-1) ?? ""] ?? "chat"
      const garbage = newGarbage(newValid(format, plan.random, stream === true), plan.random)
      plan.sent.push(garbage)
      if (response.socket) write(garbage, response.socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    plan: (model, seed) => void plans.set(model, { random: new Random(seed), sent: [] }),
    sent: (model) => plans.get(model)?.sent ?? [],
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Writes to the socket itself: an HTTP server would not send broken responses. */
function write(garbage: Garbage, socket: Socket): void {
  socket.on("error", () => undefined)
  socket.setNoDelay(true)
  socket.write(`${headOf(garbage)}\r\n\r\n`)
  for (const piece of piecesOf(garbage)) socket.write(piece)
  const { ending, framing } = garbage
  if (ending === "silence") return
  if (ending === "reset") return void socket.write("", () => socket.resetAndDestroy())
  socket.end(framing === "chunked" ? "0\r\n\r\n" : "")
}

function headOf({ status, headers, body, framing }: Garbage): string {
  const framed: Record<Garbage["framing"], Record<string, string>> = {
    chunked: { "transfer-encoding": "chunked" },
    "bad chunks": { "transfer-encoding": "chunked" },
    length: { "content-length": String(body.length) },
    long: { "content-length": String(body.length + 10) },
    short: { "content-length": String(Math.floor(body.length / 2)) },
    close: {},
  }
  const all = { ...headers, ...framed[framing], connection: "close" }
  return [`HTTP/1.1 ${status} X`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)].join("\r\n")
}

function piecesOf({ body, framing, pieceBytes }: Garbage): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += pieceBytes) pieces.push(body.subarray(at, at + pieceBytes))
  if (framing === "chunked") return pieces.map(toChunk)
  if (framing !== "bad chunks") return pieces
  return [...pieces.slice(0, 2).map(toChunk), Buffer.from("zz\r\nbroken\r\n")]
}

const toChunk = (piece: Buffer) =>
  Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")])
