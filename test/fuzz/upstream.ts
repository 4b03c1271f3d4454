import http from "node:http"
import type { AddressInfo } from "node:net"
import { DOCUMENTS, type Shape, STREAMS } from "../runtime/shapes.ts"
import { Random } from "./random.ts"
import { brokenJson, oddValue } from "./values.ts"

const STATUSES = [
  200, 200, 200, 200, 201, 204, 301, 400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529, 599,
]
const TYPES = ["text/event-stream", "application/json", "text/html", "text/plain", "", "application/octet-stream"]

/** A provider with good, bad, partial and missing responses. */
export async function startFaultyUpstream(seed: number): Promise<{ baseUrl: string; close: () => Promise<void> }> {
  const random = new Random(seed)
  const server = http.createServer((request, response) => {
    response.on("error", () => undefined)
    let text = ""
    request.on("data", (part: Buffer) => (text += text.length < 10_000 ? part.toString() : ""))
    request.on("error", () => undefined)
    request.on("end", () => answer(random, /"stream":\s*true/.test(text), response))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function answer(random: Random, isStream: boolean, response: http.ServerResponse): void {
  const kind = random.next()
  const [good = { name: "", body: "" }] = isStream ? STREAMS : DOCUMENTS
  const shape: Shape = kind < 0.5 ? good : random.pick(isStream ? STREAMS : DOCUMENTS)
  const type = shape.type ?? "text/event-stream"
  if (kind < 0.75) {
    response.writeHead(200, { "content-type": type })
    if (shape.breaks) response.write(shape.body, () => setTimeout(() => response.destroy(), 5))
    else response.end(shape.body)
    return
  }
  if (kind < 0.78) return void response.destroy()
  if (kind < 0.8) {
    // Headers, some bytes, and then nothing until the gateway disconnects.
    response.writeHead(200, { "content-type": type })
    response.write(shape.body.slice(0, random.int(shape.body.length + 1)))
    return
  }
  const headers: Record<string, string> = { "content-type": random.pick(TYPES) }
  if (random.chance(0.3)) headers["retry-after"] = random.pick(["1", "-1", "x", "Wed, 21 Oct 2099 07:28:00 GMT"])
  if (random.chance(0.1)) headers["content-encoding"] = "gzip"
  const status = random.pick(STATUSES)
  response.writeHead(status, headers)
  response.end(status === 204 ? undefined : brokenBody(random, shape))
}

function brokenBody(random: Random, shape: Shape): string {
  return random.pick<() => string>([
    () => shape.body,
    () => brokenJson({ error: { message: "no", code: 400 } }, random),
    () => `data: ${JSON.stringify(oddValue(random)).slice(0, 50_000)}\n\n`,
    () => `data: ${JSON.stringify({ choices: oddValue(random) }).slice(0, 50_000)}\n\ndata: [DONE]\n\n`,
    () => JSON.stringify({ choices: [{ index: 0, message: oddValue(random), finish_reason: oddValue(random) }] }),
    () => JSON.stringify({ id: oddValue(random), choices: oddValue(random), usage: oddValue(random) }),
    () => shape.body.replaceAll("\n\n", "\n"),
    () => shape.body.replaceAll("\n", "\r"),
    () => shape.body.slice(random.int(shape.body.length)),
    () => ":".repeat(10_000),
    () => "\ufeff" + shape.body,
    () => "",
  ])()
}
