import type { Attempt } from "../formats/attempt.ts"
import type { UpstreamRequest } from "../formats/upstream.ts"
import type { Rejection } from "../providers/responses/rejection.ts"
import { type Provider, providerUrl } from "../providers/provider.ts"
import { adaptProvider } from "../providers/responses/adaptation.ts"
import { cloudAccess, toCloudRequest } from "../providers/cloud/access.ts"
import { CredentialError } from "../providers/cloud/cloud.ts"
import { exhaustedUntil } from "../providers/responses/quota.ts"
import { upstreamInit } from "../providers/upstream-request.ts"
import { buildUpstreamRequest } from "./upstream/build-request.ts"
import { healthKey, isSibling, type Target } from "../routing/target.ts"
import type { Json } from "../support/text/json.ts"
import { logError, logWarning } from "../support/log.ts"
import { Capture } from "../response-cache/capture.ts"
import { rememberQuirks, withLearned } from "./upstream/learned-quirks.ts"
import { requiresByok, sendWithKey, toAttempt } from "./upstream/attempts.ts"
import type { AcceptedResponse } from "./upstream/accepted-response.ts"
import { AttemptTimer } from "./upstream/call-timers.ts"
import { type HeldCall, logFieldsOf } from "./call.ts"
import { cacheKeyOf, findCached } from "./upstream/cached-response.ts"
import type { Deps } from "./deps.ts"
import { freeTargetCheck } from "./accounting/free-models.ts"
import { failure, readRejection, readResponse } from "./upstream/upstream-response.ts"

/** `reached`: the last target that returned 200. It may have started to generate even if the attempt failed later. */
export type DispatchResult = { attempts: Attempt[]; reached: Target | undefined } & (
  | { ok: true; accepted: AcceptedResponse }
  | { ok: false; rejections: Rejection[] }
)

/** Step 5: sends the call to the first target and fails over to the next one until one shows content. Never rejects. */
export async function dispatch(call: HeldCall, deps: Deps): Promise<DispatchResult> {
  try {
    return await failover(call, deps)
  } catch (cause) {
    logError("dispatch failed", logFieldsOf(call.draft), cause)
    return { ok: false, rejections: [], attempts: [], reached: undefined }
  }
}

/**
 * Nothing has been sent to the client yet, so a rejection, an empty stream and an error in the first frame all lead to
 * the next target.
 */
async function failover(call: HeldCall, deps: Deps): Promise<DispatchResult> {
  const attempts: Attempt[] = []
  const rejections: Rejection[] = []
  let reached: Target | undefined
  const attempt = { call, deps, onReached: (target: Target) => (reached = target) }
  /** By model, the longest context that was too short for the request; Infinity if no endpoint can serve it. */
  const tooShort = new Map<string, number>()
  // Set when a BYOK credential marked required was rejected: failover must not use the gateway's key.
  let needsByok = false
  // Endpoints that failed for reasons other than the key: their other keys would fail as well.
  const failed: Target[] = []
  const countIfFree = freeTargetCheck(call, deps)
  for (const [at, target] of call.targets.entries()) {
    if (isTooShort(target, tooShort) || (needsByok && !target.byok)) continue
    if (failed.some((one) => isSibling(one, target))) continue
    const rejected = await countIfFree(target)
    if (rejected) {
      rejections.push(rejected)
      continue
    }
    const startedAt = Date.now()
    const hasFallback = call.targets.slice(at + 1).some((other) => !isSibling(other, target))
    const result = await sendWithKey(target, deps.openKey, (provider) =>
      send(provider, { ...attempt, target, hasFallback }),
    )
    const isRejected = "code" in result
    attempts.push(toAttempt(target, startedAt, isRejected ? result : { status: 200, cache: result.cache }))
    if (!isRejected) {
      deps.health.warm(healthKey(target))
      return { ok: true, accepted: result, attempts, reached }
    }
    rejections.push(result)
    if (call.dispatchAbort.aborted) break
    if (requiresByok(target, result)) needsByok = true
    if (!isAboutKey(result)) failed.push(target)
    if (result.retryable) startCooldown(target, result, call, deps)
    else if (!result.mismatch) break
    else if (result.mismatch !== "provider") recordMismatch(target, result.mismatch, tooShort)
  }
  return { ok: false, rejections, attempts, reached }
}

function isTooShort({ model, endpoint }: Target, tooShort: ReadonlyMap<string, number>): boolean {
  const rejected = tooShort.get(model.id)
  if (rejected === undefined) return false
  // 0 means an unknown length.
  return endpoint.contextLength === 0
    ? !Number.isFinite(rejected) || rejected === 0
    : endpoint.contextLength <= rejected
}

function recordMismatch(
  { model, endpoint }: Target,
  mismatch: "model" | "context",
  tooShort: Map<string, number>,
): void {
  const length = mismatch === "context" ? endpoint.contextLength : Number.POSITIVE_INFINITY
  tooShort.set(model.id, Math.max(length, tooShort.get(model.id) ?? 0))
}

/** Whether another key of the same endpoint may succeed. */
const isAboutKey = ({ blamesKey, code }: Rejection) => blamesKey === true || code === "rate_limited"

function startCooldown(target: Target, rejection: Rejection, { targets, draft }: HeldCall, { health }: Deps): void {
  const key = healthKey(target)
  const now = Date.now()
  const cooled = isAboutKey(rejection) ? [] : targets.filter((other) => isSibling(other, target))
  for (const failed of [target, ...cooled]) health.startCooldown(healthKey(failed), rejection.retryAfterMs, now)
  health.measured(key, { at: now, latencyMs: null, tokensPerSecond: null, isGood: false })
  if (rejection.blamesKey && target.keyNumber !== undefined) {
    const { provider, keyNumber } = target
    logWarning("a provider rejected one of its keys", { ...logFieldsOf(draft), provider: provider.slug, keyNumber })
  }
}

type UpstreamAttempt = {
  call: HeldCall
  deps: Deps
  target: Target
  onReached: (target: Target) => void
  /** Whether another target follows. */
  hasFallback: boolean
}

/** Servers name one field at a time that they do not know. */
const MAX_ADAPTATIONS = 4

/** Sends the request, and again without the fields that the provider says it does not know. */
async function send(provider: Provider, attempt: UpstreamAttempt): Promise<AcceptedResponse | Rejection> {
  const { call, target } = attempt
  const isAdaptable = call.request.routing.provider?.require_parameters !== true
  let current = withLearned(provider, call.draft, target)
  for (let times = 0; ; times += 1) {
    let sent: Json = {}
    const result = await sendOnce(current, { ...attempt, onSent: (body) => (sent = body) })
    if (!("code" in result)) {
      if (times > 0) rememberQuirks(current.quirks, call.draft, target)
      return result
    }
    const adapted = isAdaptable && times < MAX_ADAPTATIONS ? adaptProvider(current, result, sent) : undefined
    if (!adapted || call.dispatchAbort.aborted) return result
    current = adapted
  }
}

async function sendOnce(
  provider: Provider,
  { call, deps, target, onReached, onSent, hasFallback }: UpstreamAttempt & { onSent: (body: Json) => void },
): Promise<AcceptedResponse | Rejection> {
  const { upstream, screening } = call.request
  const filter = screening?.providerMessage
  const built = buildUpstreamRequest(call, target, provider)
  const request = provider.cloud ? toCloudRequest(provider, built, upstream.streamed) : built
  onSent(request.body)
  const abort = new AbortController()
  const { signal } = abort
  call.dispatchAbort.follow(abort)
  const { firstByteMs, firstFrameMs } = deps.timers
  const limitsFirstByte = upstream.streamed && hasFallback && firstByteMs < firstFrameMs
  const timer = new AttemptTimer(abort, call.heartbeat, limitsFirstByte ? firstByteMs : firstFrameMs)
  try {
    const key = call.meta.cache && cacheKeyOf(call, target, request)
    const stored = key && (await findCached(call, key))
    const response = stored ?? (await sendTo(provider, request, { streamed: upstream.streamed, signal }, deps))
    timer.extendTo(firstFrameMs)
    if (target.sharesLoad && !stored) recordQuota(target, response.headers, deps)
    if (!response.ok) return await readRejection(provider, response, filter)
    if (!stored) onReached(target)
    const pending = key && !stored && response.body ? { key, capture: new Capture(response, response.body) } : undefined
    const expected = { request, isStreamed: upstream.streamed, provider, signal, filter }
    const content = await readResponse(pending?.capture.response ?? response, expected)
    if ("code" in content) {
      pending?.capture.drop()
      return content
    }
    return {
      target,
      provider,
      reader: request.reader,
      upstreamBody: request.body,
      respondedAt: Date.now(),
      counted: request.counted,
      ...(key && { cache: stored ? "hit" : "miss" }),
      ...(pending && { pending }),
      ...content,
    }
  } catch (cause) {
    if (cause instanceof CredentialError) return asCredentialRejection(provider, cause)
    // Do not pass on messages of connection errors, broken bodies or timeouts: they can contain an address or a key.
    if (timer.hasFired) {
      return failure(provider, "timeout", `${provider.name} did not respond in time.`, null)
    }
    const message = `${provider.name} could not be reached, or closed the connection before the response was complete.`
    return failure(provider, "provider_failed", message, null)
  } finally {
    timer.stop()
  }
}

async function sendTo(
  provider: Provider,
  request: UpstreamRequest,
  { streamed, signal }: { streamed: boolean; signal: AbortSignal },
  { send: sendRequest, waitUntil }: Deps,
): Promise<Response> {
  const init = upstreamInit(request, streamed, provider, signal)
  const url = providerUrl(provider, request.path)
  if (!provider.cloud) return sendWithOneResend(() => sendRequest(url, init, provider), signal)
  const upstreamRequest = {
    method: "POST" as const,
    path: request.path,
    ...(typeof init.body === "string" && { body: init.body }),
  }
  const deps = { fetch: (...one: Parameters<typeof fetch>) => fetch(...one), now: Date.now, waitUntil }
  const access = await cloudAccess(provider, upstreamRequest, deps)
  const sent = { ...init, headers: { ...init.headers, ...access.headers } }
  return sendWithOneResend(() => sendRequest(access.url, sent, provider), signal)
}

/** The owner of the credential must fix it; the client's request is not at fault. */
function asCredentialRejection(provider: Provider, { message }: CredentialError): Rejection {
  const content = `The credential of ${provider.name} cannot be used: ${message}.`
  return { ...failure(provider, "provider_failed", content, null), blamesKey: true }
}

function recordQuota(target: Target, headers: Headers, { health }: Deps): void {
  const until = exhaustedUntil(headers, Date.now())
  if (until !== null) health.exhausted(healthKey(target), until)
}

/** A pooled connection that the provider closed while idle fails at once. */
const RESEND_WITHIN_MS = 1_000

/**
 * Sends a request, and resends it once if the connection was lost before any byte of a response: the runtime reuses
 * connections, and the provider may have closed one at the same moment.
 */
async function sendWithOneResend(send: () => Promise<Response>, signal: AbortSignal): Promise<Response> {
  const startedAt = Date.now()
  try {
    return await send()
  } catch (cause) {
    if (signal.aborted || Date.now() - startedAt > RESEND_WITHIN_MS) throw cause
    return send()
  }
}
