import http from "node:http"
import type { AddressInfo } from "node:net"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Gateway, newModel, type Organization, startGateway } from "./gateway.ts"

/**
 * A provider that compresses, although the gateway asks for `identity`. The runtime decodes gzip and brotli, the gateway
 * deflate, and other spellings of gzip.
 */

let gateway: Gateway
let upstream: http.Server
let organization: Organization
const asked: unknown[] = []

const COMPRESSIONS: Record<string, { header: string; compress: (text: string) => Uint8Array }> = {
  gzip: { header: "gzip", compress: gzipSync },
  "gzip by its former name": { header: "x-gzip", compress: gzipSync },
  br: { header: "br", compress: brotliCompressSync },
  deflate: { header: "deflate", compress: deflateSync },
  "deflate without its header": { header: "deflate", compress: deflateRawSync },
  "gzip in capitals": { header: "GZIP", compress: gzipSync },
  "gzip beside identity": { header: "identity, gzip", compress: gzipSync },
  "identity in capitals": { header: "Identity", compress: (text: string) => Buffer.from(text) },
  none: { header: "none", compress: (text: string) => Buffer.from(text) },
  "utf-8": { header: "utf-8", compress: (text: string) => Buffer.from(text) },
}

const COMPLETION = {
  id: "up-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "unpacked" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
}
const CHUNK = {
  ...COMPLETION,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: { role: "assistant", content: "unpacked" }, finish_reason: "stop" }],
}

beforeAll(async () => {
  upstream = http.createServer(async (request, response) => {
    asked.push(request.headers["accept-encoding"])
    let received = ""
    for await (const part of request.setEncoding("utf8")) received += part
    const { stream, messages } = JSON.parse(received) as { stream?: boolean; messages: [{ content: string }] }
    const text = stream ? `data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n` : JSON.stringify(COMPLETION)
    const { header, compress } = COMPRESSIONS[messages[0].content] ?? {
      header: messages[0].content,
      compress: gzipSync,
    }
    const body = compress(text)
    response.writeHead(200, {
      "content-type": stream ? "text/event-stream" : "application/json",
      "content-encoding": header,
      "content-length": body.byteLength,
    })
    response.end(body)
  })
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
  gateway = await startGateway(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`)
  organization = await gateway.newOrganization()
})

afterAll(async () => {
  await gateway.stop()
  upstream.closeAllConnections()
  upstream.close()
})

test.each(Object.keys(COMPRESSIONS).flatMap((name) => [[name, false] as const, [name, true] as const]))(
  "a response with content-encoding %s reaches the client decoded, and without the header (stream: %s)",
  async (encoding, stream) => {
    const response = await fetch(`${gateway.url}/api/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${organization.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: newModel(), stream, messages: [{ role: "user", content: encoding }] }),
    })
    const text = await response.text()
    expect(response.status, text).toBe(200)
    expect(response.headers.get("content-encoding")).toBeNull()
    expect(text).toContain("unpacked")
    expect(text).toContain('"completion_tokens":2')
    expect(asked).toContain("identity")
  },
)

test.each(["BR", "zstd", "gzip, gzip"])(
  "a response with content-encoding %s is a 502 that names it",
  async (encoding) => {
    const response = await fetch(`${gateway.url}/api/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${organization.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: newModel(), messages: [{ role: "user", content: encoding }] }),
    })
    expect(response.status).toBe(502)
    expect(await response.text()).toContain(`encoded its response as ${encoding.toLowerCase()}, `)
  },
)
