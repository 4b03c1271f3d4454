import { type Caller, callerOf } from "../policy/call-policy.ts"
import type { Context } from "hono"
import { throttleFreeModels } from "../access/flood.ts"
import { hostsIn } from "../outbound/settings.ts"
import { withoutRestrictions } from "../byok/usable-credentials.ts"
import { openByokCredential, byokRoutesOf } from "../policy/byok-routes.ts"
import { findStoredFile } from "../files/stored-file.ts"
import { freeLimits } from "../ledger/free-requests.ts"
import { openLedger } from "../ledger/client.ts"
import { contentChecksOf } from "../guardrails/checks/settings.ts"
import { GatewayError } from "../errors/errors.ts"
import { regionOf } from "../http/request/region.ts"
import { TIMING_HEADER } from "../http/timing.ts"
import { failures } from "../http/schema.ts"
import type { Env } from "../config/env.ts"
import type { App } from "../access/app.ts"
import { type Content, putContent } from "../generations/content.ts"
import type { Generation } from "../ledger/generation.ts"
import { loadCatalogue, loadReachableCatalogue } from "../models/compile.ts"
import { configOf } from "../config/config.ts"
import type { Config } from "../config/variables.ts"
import { toDataPoint } from "../observability/metrics/metrics.ts"
import { type CallText, saveCallContent, toCallContent } from "../observability/call-content.ts"
import { configuredModeration } from "../plugins/moderation.ts"
import { loadPreset } from "../presets/active.ts"
import { configuredProviders } from "../providers/configured.ts"
import { fetchReadable } from "../providers/responses/readable-body.ts"
import type { Provider } from "../providers/provider.ts"
import { CACHE_DIRECTIVES, CACHE_HEADER, cacheRequestOf } from "../response-cache/request.ts"
import { ResponseStore } from "../response-cache/store.ts"
import { toolDepsOf } from "../server-tools/settings.ts"
import { userPseudonym } from "../secrets/signature.ts"
import { storesContent } from "../workspaces/settings.ts"
import { EndpointHealth } from "../routing/health.ts"
import { MAX_SESSION_ID_LENGTH } from "../formats/schemas.ts"
import { timersOf } from "../config/timers.ts"
import { isLongerThan } from "../support/text/text-length.ts"
import { logCall } from "./accounting/call-log.ts"
import { isSettlementAwaited } from "./accounting/awaited-settlement.ts"
import { sessionIdOf } from "./draft.ts"
import { deferralOf, keptCallOf } from "./deferred/deferral.ts"
import type { RequestMeta, Deps } from "./deps.ts"

/** Shared by the inference routes: their failures, and the dependencies and metadata for the pipeline. */

/** Fits a long conversation with images. The 128 MB of an isolate hold several of these at once. */
export const MAX_INFERENCE_BYTES = 16 * 1024 * 1024

/** How an inference call can fail. */
export const FAILURES = failures(
  "invalid_request",
  "unauthenticated",
  "payment_required",
  "forbidden",
  "not_found",
  "timeout",
  "payload_too_large",
  "unsupported_media_type",
  "unprocessable",
  "rate_limited",
  "internal",
  "provider_failed",
  "unavailable",
  "provider_timeout",
  "provider_overloaded",
)

function headerParameter(name: string, description: string, rule: { maxLength?: number; pattern?: string } = {}) {
  return { name, in: "header" as const, required: false, description, schema: { type: "string" as const, ...rule } }
}

/** For the API document only. `requestMetaOf` checks the values. */
export const ROUTING_HEADERS = [
  headerParameter(
    "X-Service-Metadata",
    "`enabled` adds routing metadata to the response. `X-Service-Experimental-Metadata` is read too.",
  ),
  headerParameter(
    "X-Service-Timing",
    "`enabled` adds `Server-Timing`: the time before the response by cause, in milliseconds.",
  ),
  headerParameter(
    "X-Response-Cache",
    "Response cache: `on`, `off`, `refresh`, `ttl=<seconds>` and `tools`, separated by commas.",
    { pattern: CACHE_DIRECTIVES },
  ),
  headerParameter("X-Session-Id", "The session, if the body names none.", { maxLength: MAX_SESSION_ID_LENGTH }),
]

/** Health of the endpoints, as this isolate measured it. */
const health = new EndpointHealth()

/** A request that enters the pipeline from the router or from the hot path. */
export type IncomingCall = {
  request: Request
  env: Env
  executionCtx: Pick<ExecutionContext, "waitUntil">
  requestId: string
  caller: Caller
  /** Region of the hostname of the request; null for a hostname without one. */
  region: string | null
}

export function incomingCall(c: Context<App>): IncomingCall {
  const { env, executionCtx } = c
  const request = c.req.raw
  const caller = callerOf(c.var.principal)
  return { request, env, executionCtx, requestId: c.var.requestId, caller, region: regionOf(request, env) }
}

/** Shared by all calls of a deployment; parsed from its variables once. */
type Deployment = Pick<Deps, "providers" | "timers" | "sharesProviderStorage" | "unpricedTools"> &
  Pick<Config, "LOG_CALLS">

const deployments = new WeakMap<Env, Deployment>()

function deploymentOf(env: Env): Deployment {
  const cached = deployments.get(env)
  if (cached) return cached
  const { LOG_CALLS, PROVIDER_STORAGE, UNPRICED_TOOLS } = configOf(env)
  const deployment = {
    providers: configuredProviders(env),
    timers: timersOf(env),
    LOG_CALLS,
    sharesProviderStorage: PROVIDER_STORAGE === "shared",
    unpricedTools: new Set(UNPRICED_TOOLS ?? []),
  }
  deployments.set(env, deployment)
  return deployment
}

/** Makes the next call parse the variables again. For tests that change them. */
export function clearDeployment(env: Env): void {
  deployments.delete(env)
}

export async function createDeps({ request, env, executionCtx, caller }: Omit<IncomingCall, "region">): Promise<Deps> {
  const { defaults, keyHash } = caller
  const { METRICS: metrics } = env
  const { providers, timers, LOG_CALLS, sharesProviderStorage, unpricedTools } = deploymentOf(env)
  const later = (work: Promise<unknown>) => executionCtx.waitUntil(work)
  const deferral = deferralOf(executionCtx)
  const received = deferral && "response" in deferral ? deferral : undefined
  const byok = received ? [received.byok ?? []].flat().map(withoutRestrictions) : caller.byok
  const byokRoutes = byok.length > 0 ? byokRoutesOf({ ...caller, byok }, env) : undefined
  return {
    // The hold of a deferred call outlives this isolate. A call of an intern's schedule needs a separate hold because
    // leases would use up the limit of the schedule.
    ledger: openLedger(env, caller.organizationId, {
      waitUntil: deferral || caller.runLimits.length > 0 ? undefined : later,
      settlesAtOnce: isSettlementAwaited(executionCtx),
    }),
    catalogue: await (byokRoutes ? loadReachableCatalogue(env) : loadCatalogue(env)),
    providers,
    byok: byokRoutes,
    sharesProviderStorage,
    unpricedTools,
    openKey: (key) => openByokCredential(key, env),
    // The response of a batch is no evidence of the current health of its endpoint.
    health: deferral ? new EndpointHealth() : health,
    timers: deferral ? { ...timers, holdTtlMs: deferral.holdTtlMs } : timers,
    freeLimits: () => freeLimits(env),
    throttleFreeModels: () => throttleFreeModels(env.RATE, caller.organizationId),
    send: received ? async () => received.response() : (url, init, provider) => send(url, init, provider, env),
    tools: () => toolDepsOf(env, { fetch: (...one) => fetch(...one), now: Date.now, signal: request.signal }),
    moderation: () => configuredModeration(env),
    mediaHosts: () => ({
      allowedHosts: hostsIn(env, "WEB_FETCH_ALLOWED_HOSTS"),
      privateHosts: hostsIn(env, "PRIVATE_HOSTS"),
    }),
    findFile: (id) => findStoredFile(env, caller, id),
    presetOf: (slug) => loadPreset(env.DB, caller, slug, Date.now()),
    presetCache: (seconds) => cacheRequestOf(request.headers.get(CACHE_HEADER), seconds, caller),
    logCall: (generation) => logCall(LOG_CALLS, generation, caller.label),
    pseudonymOf: (user) => userPseudonym(env.MASTER_KEY ?? "", caller.organizationId, user),
    waitUntil: later,
    signal: request.signal,
    ...(deferral && { deferral }),
    ...(defaults.contentLogging && {
      contents: {
        keeps: (id: string) => storesContent(defaults, keyHash, id),
        put: (call: { id: string; createdAt: number }, content: Content) => putContent(env.FILES, call, content),
      },
    }),
    ...(caller.destinations.length > 0 && {
      exports: {
        toContent: (text: CallText) => JSON.stringify(toCallContent(text)),
        put: (id: string, content: string) => saveCallContent(env.FILES, id, content),
      },
    }),
    // A response in a provider batch is already paid for, so the cache is not read.
    ...(!deferral && { responses: new ResponseStore(env.FILES) }),
    ...(metrics && { recordMetric: (generation: Generation) => metrics.writeDataPoint(toDataPoint(generation)) }),
  }
}

async function send(url: string, init: RequestInit, { embedded }: Provider, { EMBEDDED }: Env): Promise<Response> {
  return embedded && EMBEDDED ? EMBEDDED.fetch(url, init) : fetchReadable(url, init)
}

/** Bytes of a request body as received, or as serialized if there is no Content-Length. */
export function bodyBytes({ headers }: Request, body: object): number {
  return Number(headers.get("content-length") ?? new TextEncoder().encode(JSON.stringify(body)).byteLength)
}

/** The first one that a request has counts. */
const METADATA_HEADERS = [
  "x-service-metadata",
  "x-openrouter-metadata",
  "x-service-experimental-metadata",
  "x-openrouter-experimental-metadata",
]
const MAX_ATTRIBUTION_LENGTH = 512

export function requestMetaOf({ request, env, executionCtx, requestId, caller, region }: IncomingCall): RequestMeta {
  const { headers } = request
  const header = (...names: string[]) => {
    for (const name of names) {
      const value = headers.get(name)
      if (value) return value.slice(0, MAX_ATTRIBUTION_LENGTH)
    }
    return null
  }
  const sessionId = sessionIdOf(headers.get("x-session-id"))
  if (sessionId !== null && isLongerThan(sessionId, MAX_SESSION_ID_LENGTH)) {
    throw new GatewayError("invalid_request", `x-session-id: must be at most ${MAX_SESSION_ID_LENGTH} characters.`)
  }
  const { responseCacheSeconds } = caller.defaults
  const deferral = deferralOf(executionCtx)
  const { alias, presetId } = keptCallOf(deferral) ?? {}
  const cache = cacheRequestOf(headers.get(CACHE_HEADER), responseCacheSeconds, caller)
  return {
    requestId,
    sessionId,
    appUrl: header("http-referer", "referer"),
    appTitle: header("x-title", "x-service-title", "x-openrouter-title"),
    userAgent: header("user-agent"),
    region,
    contentChecks: contentChecksOf(env),
    wantsTiming: isEnabled(headers.get(TIMING_HEADER)),
    wantsMetadata: isEnabled(header(...METADATA_HEADERS)),
    ...(configOf(env).CLIENT_DIALECT === "openrouter" && { hasChoiceWithUsage: true }),
    ...(cache && { cache }),
    ...(deferral && { generationId: deferral.generationId }),
    ...(alias !== undefined && { alias }),
    ...(presetId !== undefined && { presetId }),
  }
}

function isEnabled(value: string | null): boolean {
  return value?.toLowerCase() === "enabled"
}
