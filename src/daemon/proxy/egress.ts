import http, { type IncomingMessage } from "node:http"
import https from "node:https"
import { pipeline } from "node:stream/promises"
import {
  decodeResponse,
  EGRESS_REQUEST_HEADER,
  EGRESS_RESPONSE_HEADER,
  encodeEnvelope,
  MAX_ENVELOPE_LENGTH,
  type RequestEnvelope,
  type ResponseEnvelope,
} from "../../vault/egress-envelope.ts"

/** The response of a host, or of the gateway instead. */
export type EgressResult =
  | { is: "host"; envelope: ResponseEnvelope; body: IncomingMessage }
  | { is: "rejection"; status: number; reason: string; isUnbound: boolean }

/**
 * Sends a request with placeholders to the gateway, which inserts the values. `body`: streamed if the envelope requests it.
 */
export type Egress = (envelope: RequestEnvelope, body: IncomingMessage, signal: AbortSignal) => Promise<EgressResult>

/** Shorter than the idle timeout of the gateway. */
const IDLE_MS = 3_000
const MAX_HEADER_BYTES = 2 * MAX_ENVELOPE_LENGTH
const MAX_REJECTION_BYTES = 65_536
const BAD_GATEWAY = 502

export function gatewayEgress(endpoint: () => URL, joinToken: string): Egress {
  const settings = { keepAlive: true, timeout: IDLE_MS }
  const agents = { "http:": new http.Agent(settings), "https:": new https.Agent(settings) }
  return async (envelope, body, signal) => {
    const url = endpoint()
    const header = encodeEnvelope(envelope)
    if (header.length > MAX_ENVELOPE_LENGTH) {
      return { is: "rejection", status: 431, reason: "The URL and headers are too large.", isUnbound: false }
    }
    const length = body.headers["content-length"]
    const open = (isRetry: boolean): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const isSecure = url.protocol === "https:"
        const request = (isSecure ? https : http).request(url, {
          method: "POST",
          agent: agents[isSecure ? "https:" : "http:"],
          maxHeaderSize: MAX_HEADER_BYTES,
          signal,
          headers: {
            authorization: `Bearer ${joinToken}`,
            [EGRESS_REQUEST_HEADER]: header,
            "content-type": "application/octet-stream",
            ...(!envelope.hasBody && { "content-length": "0" }),
            ...(envelope.hasBody && length !== undefined && { "content-length": length }),
          },
        })
        request.on("response", resolve)
        request.on("error", (cause: NodeJS.ErrnoException) => {
          // The gateway closed the idle connection at the same time. A request without a body can be sent again.
          const isStale = request.reusedSocket && cause.code === "ECONNRESET" && !envelope.hasBody && !isRetry
          if (isStale) open(true).then(resolve, reject)
          else reject(cause)
        })
        // A host may respond before it has read the complete body.
        if (envelope.hasBody) pipeline(body, request).catch(() => request.destroy())
        else request.end()
      })
    return toResult(await open(false))
  }
}

async function toResult(response: IncomingMessage): Promise<EgressResult> {
  const header = response.headers[EGRESS_RESPONSE_HEADER]
  const envelope = typeof header === "string" ? decodeResponse(header) : undefined
  if (envelope) return { is: "host", envelope, body: response }
  const { message, reason } = await readRejection(response)
  // A gateway error about the token or its own state is not a status of the host.
  const status = response.statusCode === 403 ? 403 : BAD_GATEWAY
  return { is: "rejection", status, reason: message, isUnbound: reason === "host_not_bound" }
}

async function readRejection(response: IncomingMessage): Promise<{ message: string; reason: string | undefined }> {
  let text = ""
  for await (const part of response) {
    text += String(part)
    if (text.length > MAX_REJECTION_BYTES) break
  }
  try {
    type Failure = { error?: { message?: string; metadata?: { reason?: string } } }
    const { error } = JSON.parse(text) as Failure
    return { message: error?.message ?? "The gateway failed.", reason: error?.metadata?.reason }
  } catch {
    return { message: `The gateway returned ${response.statusCode}.`, reason: undefined }
  }
}
