import * as z from "zod"
import { decodeBase64, toBase64Url } from "../support/text/encoding.ts"

/**
 * Encoding of a request that the daemon's proxy intercepted, and of its response: method, URL and headers in one header
 * each way, so that both bodies are streamed unchanged.
 */

export const EGRESS_REQUEST_HEADER = "x-egress-request"
/** Marks responses of the host; the gateway's own responses do not have it. */
export const EGRESS_RESPONSE_HEADER = "x-egress-response"
/** Limit of the encoded header. Cloudflare accepts 128 KB of headers. */
export const MAX_ENVELOPE_LENGTH = 65_536

const Headers = z.array(z.tuple([z.string(), z.string()])).max(1_000)
const RequestEnvelope = z.object({
  method: z.string().min(1).max(32),
  url: z.string().max(32_768),
  headers: Headers,
  hasBody: z.boolean(),
})
export type RequestEnvelope = z.infer<typeof RequestEnvelope>

const ResponseEnvelope = z.object({ status: z.int().min(200).max(599), headers: Headers })
export type ResponseEnvelope = z.infer<typeof ResponseEnvelope>

export function encodeEnvelope(envelope: RequestEnvelope | ResponseEnvelope): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(envelope)))
}

export function decodeRequest(header: string): RequestEnvelope | undefined {
  return decode(header, RequestEnvelope)
}

export function decodeResponse(header: string): ResponseEnvelope | undefined {
  return decode(header, ResponseEnvelope)
}

function decode<T>(header: string, schema: z.ZodType<T>): T | undefined {
  const bytes = header.length > MAX_ENVELOPE_LENGTH ? undefined : decodeBase64(header)
  if (!bytes) return undefined
  try {
    return schema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data
  } catch {
    return undefined
  }
}
