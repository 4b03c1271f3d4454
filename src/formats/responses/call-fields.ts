import { isObject, type Json, withoutNulls } from "../../support/text/json.ts"
import type { ReasoningDetail } from "../reasoning-detail.ts"

/**
 * Fields of a chat call that other formats do not have, such as the signature of the reasoning before it. Some
 * providers reject the call without them, so they are stored in an opaque detail that names the call.
 */

export const CALL_FIELDS = "gateway.call_fields"

/** The nonstandard fields of a call or a call delta; null if there are none. */
export function fieldsOf(call: unknown): Json | null {
  if (!isObject(call)) return null
  const { index: _, id: __, type: ___, function: fn, ...rest } = call
  const { name: ____, arguments: _____, ...inside } = isObject(fn) ? fn : {}
  const inner = withoutNulls(inside)
  const fields = { ...withoutNulls(rest), ...(Object.keys(inner).length > 0 && { function: inner }) }
  return Object.keys(fields).length > 0 ? fields : null
}

export function toFieldsDetail(callId: string, fields: Json): ReasoningDetail {
  return { type: CALL_FIELDS, tool_call_id: callId, fields }
}

/** Adds the stored fields to a call. Fields that the call has itself are kept. */
export function addFields(call: Json, fields: unknown): void {
  if (!isObject(fields)) return
  const { function: inner, ...rest } = fields
  const fn = isObject(call["function"]) ? call["function"] : {}
  Object.assign(call, { ...rest, ...call, function: { ...(isObject(inner) && inner), ...fn } })
}
