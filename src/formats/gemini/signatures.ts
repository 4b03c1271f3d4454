import { type Json, isObject } from "../../support/text/json.ts"
import { decodeBase64, toBase64 } from "../../support/text/encoding.ts"
import { CALL_FIELDS, fieldsOf, toFieldsDetail } from "../responses/call-fields.ts"
import { decodeBlob, encodeBlob } from "../responses/opaque-blob.ts"
import type { ReasoningDetail } from "../reasoning-detail.ts"

/**
 * `thoughtSignature` of a part: bytes in base64 that clients send back. It contains what a provider verifies and a part
 * cannot express: the reasoning, and further fields of a tool call.
 */

export function toSignature(details: readonly ReasoningDetail[], call?: Json): string | undefined {
  const fields = call && fieldsOf(call)
  const all = fields ? [...details, toFieldsDetail(String(call["id"]), fields)] : details
  return all.length === 0 ? undefined : toBase64(new TextEncoder().encode(encodeBlob(all)))
}

export type Signed = { details: ReasoningDetail[]; callFields: Json | undefined }

/** The content of a signature. One of Google's own becomes the field of its chat format. */
export function readSignature(signature: string): Signed {
  const bytes = decodeBase64(signature)
  const carried = bytes && decodeBlob(new TextDecoder().decode(bytes))
  if (!carried) return { details: [], callFields: { extra_content: { google: { thought_signature: signature } } } }
  const fields = carried.find(({ type }) => type === CALL_FIELDS)?.["fields"]
  return {
    details: carried.filter(({ type }) => type !== CALL_FIELDS),
    callFields: isObject(fields) ? fields : undefined,
  }
}
