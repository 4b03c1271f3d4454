import { redact, redactCode } from "../../../providers/responses/rejection.ts"
import type { Target } from "../../../routing/target.ts"
import { isObject, type Json } from "../../../support/text/json.ts"
import type { RealtimeEvent } from "./events.ts"

/** Provider events for the client. Pure. */

/** Errors about the gateway's key or its account at the provider. */
const ABOUT_ACCOUNT =
  /api[ _-]?key|auth|quota|billing|balance|organization|project|credit|account|permission|\b(?:sk|Bearer)[-_ ]/i

/** A provider's `error` event, without anything about the gateway's key and account. */
export function toClientError(event: RealtimeEvent, { provider }: Target): RealtimeEvent {
  const { error } = event
  const { type, code, message, param = null, event_id: causedBy = null } = isObject(error) ? error : {}
  const text = typeof message === "string" ? message : ""
  if ([type, code, text].some((one) => typeof one === "string" && ABOUT_ACCOUNT.test(one))) {
    const rule = `${provider.name} rejected the event because of the gateway's account there.`
    const passed = { type: "server_error", code: "provider_failed", message: rule, param: null, event_id: causedBy }
    return { type: "error", event_id: event["event_id"] ?? null, error: passed }
  }
  const clean = (value: unknown) => (typeof value === "string" ? redactCode(value, provider.apiKey) : null)
  const passed = { type: clean(type), code: clean(code), message: redact(text, provider), param: clean(param) }
  return { type: "error", event_id: clean(event["event_id"]), error: { ...passed, event_id: clean(causedBy) } }
}

/** A `session` of the provider with the gateway's model name. */
export function toClientSession(event: RealtimeEvent, { model }: Target): RealtimeEvent {
  const { session } = event
  if (!isObject(session) || !("model" in session)) return event
  return { ...event, session: { ...session, model: model.id } }
}

export function sessionOf({ session }: RealtimeEvent): Json | undefined {
  return isObject(session) ? session : undefined
}
