import { isContextError } from "../../formats/context-error.ts"
import type { ProviderError } from "../../formats/chat/provider-error.ts"
import type { ErrorName, GatewayError } from "../../errors/errors.ts"
import { furtherSecrets, type Provider } from "../provider.ts"
import { redactorFor, withoutFragments } from "../../outbound/redactor.ts"
import { secretsIn } from "../cloud/credentials.ts"
import { parseRetryAfter, retryHintInText } from "../../support/time/retry-after.ts"
import { readErrorBody } from "./error-body.ts"
import { retryHintInQuota } from "./quota.ts"

/** Why a target rejected a call. A value, not an exception, since the next target may accept it. */
export type Rejection = {
  provider: string
  /** The provider's HTTP status; null without a response. */
  status: number | null
  /** The error code for the client if no other target accepts the call. */
  code: ErrorName
  /** The provider's message if it helps the client and contains no secret; otherwise a message of the gateway. */
  message: string
  providerCode: string | null
  /** The provider's retry delay in milliseconds; null without a hint. */
  retryAfterMs: number | null
  /** Whether another target may succeed. False only if the request itself is at fault. */
  retryable: boolean
  /** The key is at fault, or the account behind it. */
  blamesKey?: boolean
  /**
   * `model`: another model may accept the request. `provider`: another provider may. `context`: an endpoint with a
   * longer context may.
   */
  mismatch?: "model" | "provider" | "context"
  /** A limit of the gateway rejected the target: the provider received nothing. */
  error?: GatewayError
}

type Rule = { code: ErrorName; retryable: boolean; relay: boolean }

/**
 * The error code and retry rule for the status of a provider. 401, 402 and 403 are about the gateway's account at the
 * provider, never about the client's key, so they become `provider_failed`. Details of 5xx responses are not relayed.
 */
const RULES: Record<number, Rule> = {
  400: { code: "invalid_request", retryable: false, relay: true },
  401: { code: "provider_failed", retryable: true, relay: false },
  402: { code: "provider_failed", retryable: true, relay: false },
  403: { code: "provider_failed", retryable: true, relay: false },
  404: { code: "not_found", retryable: true, relay: true },
  408: { code: "timeout", retryable: true, relay: true },
  413: { code: "payload_too_large", retryable: true, relay: true },
  422: { code: "unprocessable", retryable: false, relay: true },
  429: { code: "rate_limited", retryable: true, relay: true },
  503: { code: "unavailable", retryable: true, relay: true },
  524: { code: "provider_timeout", retryable: true, relay: false },
  529: { code: "provider_overloaded", retryable: true, relay: true },
}
const ANYTHING_ELSE: Rule = { code: "provider_failed", retryable: true, relay: false }

/** Matches errors about the gateway's key or account that providers send with status 400 or 422. */
const KEY_STATUSES = [401, 402, 403]
const KEY_AT_FAULT: Rule = { code: "provider_failed", retryable: true, relay: false }
const KEY_TERMS =
  /api[ _-]?key[^.]{0,40}\b(?:not valid|invalid|incorrect|expired|disabled)|\b(?:invalid|incorrect) api[ _-]?key|credit balance|billing|quota|insufficient[ _](?:funds|balance|credit|quota)|(?:does not|do not|don't) have access|not (?:available|enabled|allowed|authorized|authorised) (?:for|in|to|on) (?:your|this) (?:api[ _-]?key|account|key|project|organization|subscription|region|tier|plan)|account\b.{0,60} (?:is|has been) (?:disabled|suspended|deactivated)|account is in good standing|overdue balance|in arrears|location is not supported/i

/** Matches errors that another model could avoid. */
const MODEL_TERMS =
  /model[^.]{0,80}(?:does not|doesn't|do not) (?:support|exist|accept)|not supported (?:by|with|for|on) (?:this|the) model/i

/** Matches errors that another server of the same model could avoid. */
const SUPPORT_TERMS =
  /\b(?:not|n't) support(?:ed)?\b|\bunsupported\b|\bunrecognized\b|\bunknown (?:field|parameter|argument|name)\b|\bnot permitted\b/i

const MAX_MESSAGE_LENGTH = 2_000
/** Maximum of retry hints. */
const MAX_HINT_MS = 300_000

/**
 * A provider's text after the content filters of a call; undefined if it must not be relayed. A provider may quote the
 * request or the response in its errors.
 */
export type MessageFilter = (text: string) => string | undefined

type Reading = { now: number; filter?: MessageFilter | undefined }

/** Maps an error response of a provider. `body` is its text, truncated by the reader. */
export function toRejection(
  provider: RejectingProvider,
  { status, headers, body }: { status: number; headers: Headers; body: string },
  { now, filter }: Reading,
): Rejection {
  const result = readErrorBody(body, now)
  const blamesKey = (status === 400 || status === 422) && result.message !== undefined && KEY_TERMS.test(result.message)
  const rule = blamesKey ? KEY_AT_FAULT : (RULES[status] ?? ANYTHING_ELSE)
  const content = rule.relay && result.message !== undefined ? redact(result.message, provider, filter) : ""
  const statusText = `${provider.name} returned status ${status}.`
  return {
    provider: provider.name,
    status,
    code: rule.code,
    message: content === undefined ? `${statusText} ${BLOCKED_BY_GUARDRAIL}` : content === "" ? statusText : content,
    providerCode: String(status),
    retryAfterMs: capHint(
      parseRetryAfter(headers, now) ??
        result.retryAfterMs ??
        hintInText(status, result.message) ??
        (status === 429 ? retryHintInQuota(headers, now) : null),
    ),
    retryable: rule.retryable,
    blamesKey: blamesKey || KEY_STATUSES.includes(status),
    ...(!rule.retryable && mismatchField(result.message)),
  }
}

/** Converts an error inside a response body to a separate error response. */
export function toErrorResponse({ status, message, retryAfter }: Omit<ProviderError, "code">) {
  const error = { message, ...(retryAfter !== undefined && { retry_after: retryAfter }) }
  return { status: status ?? 502, headers: new Headers(), body: JSON.stringify({ error }) }
}

function mismatchField(message: string | undefined): Pick<Rejection, "mismatch"> {
  if (message === undefined) return {}
  if (isContextError(message)) return { mismatch: "context" }
  if (MODEL_TERMS.test(message)) return { mismatch: "model" }
  return SUPPORT_TERMS.test(message) ? { mismatch: "provider" } : {}
}

type RejectingProvider = { name: string } & Partial<Pick<Provider, "apiKey" | "baseUrl" | "headers" | "query">>

/** Replaces a provider's message that a filter blocks. */
export const BLOCKED_BY_GUARDRAIL = "A guardrail of this key blocks its message."

/**
 * A provider's error text without its key and host, cut to the length for clients; undefined if the filter blocks it.
 * Filters the complete text, because a cut match would not be found.
 */
export function redact(message: string, provider: RejectingProvider): string
export function redact(message: string, provider: RejectingProvider, filter?: MessageFilter): string | undefined
export function redact(
  message: string,
  { apiKey, baseUrl, ...further }: RejectingProvider,
  filter?: MessageFilter,
): string | undefined {
  const known = furtherSecrets(further).filter((secret) => secret.length >= MIN_SECRET_LENGTH)
  const withoutKey = known.reduce(redactSecrets, redactSecrets(message, apiKey))
  const host = baseUrl === undefined ? undefined : URL.parse(baseUrl)?.host
  const text = host === undefined || host === "" ? withoutKey : withoutKey.replaceAll(host, "[redacted]")
  return (filter ? filter(text) : text)?.slice(0, MAX_MESSAGE_LENGTH)
}

/** Shorter values also occur in ordinary text. */
const MIN_SECRET_LENGTH = 8

const MAX_CODE_LENGTH = 100

/** A provider's error code, without its key. */
export function redactCode(code: string, apiKey: string | undefined): string
export function redactCode(code: string, apiKey: string | undefined, filter?: MessageFilter): string | undefined
export function redactCode(code: string, apiKey: string | undefined, filter?: MessageFilter): string | undefined {
  const text = redactSecrets(code, apiKey)
  return (filter ? filter(text) : text)?.slice(0, MAX_CODE_LENGTH)
}

/**
 * Providers quote requests, including the key, also encoded or in part. Redacts before the text is cut, because a cut
 * key would not be found.
 */
function redactSecrets(text: string, apiKey: string | undefined): string {
  const inside = apiKey === undefined ? [] : secretsIn(apiKey)
  const secrets = apiKey === undefined || apiKey === "" ? [] : [apiKey, ...inside]
  const withoutSecrets = secrets.reduce((found, secret) => found.replaceAll(secret, "[redacted]"), text)
  const hidden = secrets.map((value) => ({ value, placeholder: "[redacted]" }))
  const withoutEncoded = redactorFor({ released: [], secrets: hidden }).text(withoutSecrets)
  // Fields of a JSON credential have parts that are no secret, such as addresses.
  return (inside.length > 0 ? withoutEncoded : withoutFragments(withoutEncoded, apiKey ?? ""))
    .replaceAll(/\bya29\.[\w.-]{8,}/g, "[redacted]")
    .replaceAll(/\b(?:sk|gsk|xai|pplx|AIza|key|Bearer)[-_ ][\w.-]{12,}/g, "[redacted]")
}

const STATUSES_WITH_HINT: readonly number[] = [429, 503, 529]

function hintInText(status: number, message: string | undefined): number | null {
  return STATUSES_WITH_HINT.includes(status) && message !== undefined ? retryHintInText(message) : null
}

function capHint(hintMs: number | null): number | null {
  return hintMs === null ? null : Math.min(hintMs, MAX_HINT_MS)
}
