import type { Attempt } from "../../formats/attempt.ts"
import { GatewayError } from "../../errors/errors.ts"
import type { Caller } from "../../policy/call-policy.ts"
import type { Rejection } from "../../providers/responses/rejection.ts"
import { type Provider, providerUrl } from "../../providers/provider.ts"
import { credentialHeader } from "../../providers/upstream-request.ts"
import { healthKey, type Target } from "../../routing/target.ts"
import { newId } from "../../support/ids.ts"
import type { PlannableRequest } from "../inference-request.ts"
import { holdOrByok, requiresByok, sendWithKey, toAttempt } from "../upstream/attempts.ts"
import type { Deps, RequestMeta } from "../deps.ts"
import { responseHeadersOf } from "../reply.ts"
import { planTargets } from "../plan.ts"
import { resolveAliases } from "../presets/alias.ts"
import { rejectionError } from "../errors/rejection-error.ts"
import { failure, readRejection } from "../upstream/upstream-response.ts"
import { Conversation } from "./events/conversation.ts"
import { type HeldResponse, type HoldContext, holdResponse } from "./holds.ts"
import { toGeneration } from "./record.ts"
import { sliceOf } from "./events/slice.ts"
import { plainCall } from "../../money/price-list.ts"

/** Opens a session: policy, plan, hold, and a connection to the first provider that accepts it. */

/** `isBeta`: the client uses the event format of the beta API. */
export type SessionRequest = { model: string; isBeta: boolean }

export type OpenedSession = {
  /** Session id in the generations of its responses. */
  id: string
  /** Socket to the provider, not accepted yet. */
  socket: WebSocket
  /** Includes the key that was sent. */
  target: Target
  held: HeldResponse
  hold: HoldContext
  conversation: Conversation
  attempts: readonly Attempt[]
}

type Opening = { deps: Deps; meta: RequestMeta; caller: Caller }

/** Throws the error of the rejection. */
export async function openSession(request: SessionRequest, { deps, meta, caller }: Opening): Promise<OpenedSession> {
  requireReadable(caller)
  const { targets, meta: resolved } = planSession(request.model, { deps, meta, caller })
  const id = meta.sessionId ?? `sess-${newId()}`
  const requestedModel = resolved.alias ?? request.model
  const hold: HoldContext = { deps, meta: resolved, requestedModel, sessionId: id }
  const conversation = new Conversation()
  const sliceFor = (some: readonly Target[]) => sliceOf(some, conversation)
  const held = await holdOrByok(targets, (some) => holdResponse(some, sliceFor, caller, hold))
  const covered = held.within.targets
  const dialed = await dial(covered, request, deps)
  if ("socket" in dialed) return { id, ...dialed, held, hold, conversation }
  throw await recordRejection(held, covered, dialed, deps)
}

/** The targets that may serve the session, best first. Throws if no target remains. */
export function planSession(model: string, { deps, meta, caller }: Opening) {
  const call = resolveAliases({ body: { model }, meta, caller })
  return planTargets({ ...call, request: plannable(call.body.model) }, deps)
}

/** The target for transcriptions, at the session's provider and with its key; undefined if none is allowed. */
export function planTranscription(model: string, session: Target, { deps, meta, caller }: Opening): Target | undefined {
  const request = { ...plannable(model, session.provider.slug), output: "transcription" as const }
  try {
    const { targets } = planTargets({ request, meta, caller }, deps)
    return targets.find(({ byok }) => byok?.id === session.byok?.id)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

/** Content filters and checks cannot read audio, so keys with any of them may not open sessions. */
export function requireReadable({ guardrails }: Caller): void {
  if (!guardrails || guardrails.contentRules().length + guardrails.contentChecks().length === 0) return
  const rule =
    "A guardrail of this key filters content, and the audio of a realtime session cannot be read. Use a key without content filters and checks, or /chat/completions."
  throw new GatewayError("forbidden", rule, { metadata: { reason: "guardrail_unchecked" } })
}

function plannable(model: string, provider?: string): PlannableRequest {
  return {
    output: "realtime",
    routing: { model, ...(provider !== undefined && { provider: { only: [provider] } }) },
    sessionId: null,
    conversation: null,
    signatures: [],
    providerStorage: () => undefined,
    bounds: {
      promptBound: 1,
      pieces: { images: 0 },
      priced: plainCall(),
      promptLimit: "context",
      promptEstimate: 0,
      completionBound: () => 1,
      choices: 1,
      isAssumed: () => false,
    },
    upstream: { unsupportedReason: ({ format, name }) => (format === "openai" ? undefined : notOfferedError(name)) },
  }
}

function notOfferedError(name: string): GatewayError {
  return new GatewayError("not_found", `${name} does not support the OpenAI Realtime API.`)
}

type Dialed =
  | { socket: WebSocket; target: Target; attempts: Attempt[] }
  | { rejections: Rejection[]; attempts: Attempt[] }

async function dial(targets: readonly Target[], request: SessionRequest, deps: Deps): Promise<Dialed> {
  const attempts: Attempt[] = []
  const rejections: Rejection[] = []
  let needsByok = false
  for (const target of targets) {
    if (needsByok && !target.byok) continue
    const startedAt = Date.now()
    const result = await sendWithKey(target, deps.openKey, (provider) => connect(provider, target, request, deps))
    const isRejected = "code" in result
    attempts.push(toAttempt(target, startedAt, isRejected ? result : { status: 101 }))
    if (!isRejected) {
      deps.health.warm(healthKey(target))
      return { socket: result.socket, target: { ...target, provider: result.provider }, attempts }
    }
    rejections.push(result)
    if (requiresByok(target, result)) needsByok = true
    if (!result.retryable) break
    deps.health.startCooldown(healthKey(target), result.retryAfterMs, Date.now())
  }
  return { rejections, attempts }
}

async function connect(
  provider: Provider,
  { endpoint }: Target,
  { isBeta }: SessionRequest,
  deps: Deps,
): Promise<{ socket: WebSocket; provider: Provider } | Rejection> {
  const url = providerUrl(provider, `/realtime?model=${encodeURIComponent(endpoint.upstreamId)}`)
  const headers = {
    upgrade: "websocket",
    "user-agent": "edge-model-gateway",
    ...(isBeta && { "openai-beta": "realtime=v1" }),
    ...credentialHeader(provider),
  }
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), deps.timers.firstByteMs)
  try {
    const init = { headers, redirect: "manual", signal: abort.signal } as const
    const response = await deps.send(url, init, provider)
    if (response.webSocket) return { socket: response.webSocket, provider }
    return await readRejection(provider, response)
  } catch {
    // Do not pass on messages of connection errors: they can contain an address or a key.
    return failure(
      provider,
      "provider_failed",
      `${provider.name} could not be reached, or did not respond in time.`,
      null,
    )
  } finally {
    clearTimeout(timer)
  }
}

/** Records that no provider accepted the session. It costs nothing. */
async function recordRejection(
  held: HeldResponse,
  targets: readonly Target[],
  { rejections, attempts }: Extract<Dialed, { rejections: Rejection[] }>,
  deps: Deps,
): Promise<GatewayError> {
  const error = rejectionError(rejections, responseHeadersOf(held.draft.id))
  held.stopTracking()
  const [target] = targets
  if (target) {
    const end = {
      ending: "refused",
      status: error.status,
      used: undefined,
      upstreamId: null,
      finishReason: null,
    } as const
    const times = { startedAt: held.draft.createdAt, firstAt: null, attempts, error }
    const generation = toGeneration(held, { ...end, ...times }, target, 0)
    deps.logCall(generation)
    await deps.ledger.settle(generation)
  }
  return error
}
