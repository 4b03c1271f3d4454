import type { IncomingMessage, ServerResponse } from "node:http"
import https from "node:https"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { ReadableStream as NodeStream } from "node:stream/web"
import {
  decodeRequest,
  EGRESS_REQUEST_HEADER,
  EGRESS_RESPONSE_HEADER,
  encodeEnvelope,
} from "../../src/vault/egress-envelope.ts"
import { egressToBound } from "../../src/vault/egress-fetch.ts"
import type { ReleasedSecret } from "../../src/vault/secret.ts"

/** The gateway's egress endpoint without its Worker: the same module, with one server as the internet. */
export type EgressHost = { secrets: () => readonly ReleasedSecret[]; fetch: typeof fetch }

export async function answerEgress(
  request: IncomingMessage,
  response: ServerResponse,
  host: EgressHost,
): Promise<void> {
  const requests = decodeRequest(String(request.headers[EGRESS_REQUEST_HEADER]))
  if (!requests) return void response.writeHead(400).end()
  const disconnecting = new AbortController()
  response.on("close", () => disconnecting.abort())
  const { hasBody, ...rest } = requests
  const body = hasBody ? (Readable.toWeb(request) as ReadableStream<Uint8Array>) : undefined
  const sent = await egressToBound(
    { ...rest, ...(body && { body }) },
    {
      fetch: host.fetch,
      resolve: () => Promise.resolve(["93.184.216.34"]),
      isGuarded: true,
      secrets: () => Promise.resolve(host.secrets()),
      signal: disconnecting.signal,
      testHosts: new Map(),
      onRelease: () => {},
    },
  )
  if (!sent.ok) {
    const reason = sent.why === "unbound" ? "host_not_bound" : sent.why
    const error = { code: 403, message: sent.reason, metadata: { reason } }
    response.writeHead(sent.why === "failed" ? 502 : 403, { "content-type": "application/json" })
    return void response.end(JSON.stringify({ error }))
  }
  const { status, headers, body: answer, hidden } = sent.response
  response.writeHead(200, { [EGRESS_RESPONSE_HEADER]: encodeEnvelope({ status, headers }) })
  response.flushHeaders()
  const hiddenBody = answer?.pipeThrough(hidden.stream())
  if (!hiddenBody) return void response.end()
  await pipeline(Readable.fromWeb(hiddenBody as NodeStream<Uint8Array>), response).catch(() => response.destroy())
}

/** `fetch` to any host through one local port, which has a certificate of `ca` for each. */
export function fetchFrom(port: () => number, ca: readonly string[]): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const headers = Object.fromEntries(new Headers(init?.headers))
    const body = init?.body as string | ReadableStream<Uint8Array> | undefined
    const request = https.request({
      host: "127.0.0.1",
      port: port(),
      servername: url.hostname,
      ca: [...ca],
      method: init?.method ?? "GET",
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        ...headers,
        ...(body instanceof ReadableStream && { "transfer-encoding": "chunked" }),
      },
      signal: init?.signal ?? undefined,
      agent: false,
    })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on("response", resolve)
      request.on("error", reject)
      if (body instanceof ReadableStream) pipeline(Readable.fromWeb(body as NodeStream), request).catch(reject)
      else request.end(body)
    })
    const reported = new Headers()
    for (const [name, values] of Object.entries(response.headersDistinct)) {
      for (const value of values ?? []) reported.append(name, value)
    }
    const status = response.statusCode ?? 0
    const hasBody = init?.method !== "HEAD" && ![204, 304].includes(status)
    const stream = hasBody ? (Readable.toWeb(response) as ReadableStream<Uint8Array>) : null
    return new Response(stream, { status, headers: reported })
  }
}
