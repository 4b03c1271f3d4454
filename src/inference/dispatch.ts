import type { ByokCredential } from "../byok/usable-credentials.ts"
import type { Attempt } from "../formats/attempt.ts"
import { type Rejection } from "../providers/refusal.ts"
import { toUpstreamRequest } from "../providers/upstream-request.ts"
import type { Provider } from "../providers/provider.ts"
import type { EndpointHealth } from "../routing/health.ts"
import type { UpstreamPlan } from "./inference-request.ts"
import type { ResponseReader } from "../formats/readers/reader.ts"
import { healthKey, type Target } from "../routing/target.ts"
import { readResponse, type Content, failure, readRejection } from "./upstream-response.ts"

export type DispatchDeps = {
  /** Reaches a provider: the network, or a binding. */
  send: (request: Request, provider: Provider) => Promise<Response>
  /** The caller's own key in clear; undefined where it cannot be opened. */
  openKey: (key: ByokCredential) => Promise<string | undefined>
  health: EndpointHealth
  firstFrameMs: number
  now: () => number
  /** Aborted when the caller has left or the call is over. */
  signal: AbortSignal
}

export type DispatchInput = {
  question: UpstreamPlan
  targets: readonly Target[]
  pseudonym: string | undefined
  capFor: (target: Target) => number | undefined
}

/** The first target's answer: a stream that has shown content, or a whole result that is one. */
export type AcceptedResponse = {
  target: Target
  /** With the key that was sent, to be kept from what the provider says. */
  provider: Provider
  wire: ResponseReader
  /** The provider's own bytes are read, not a translation of them. */
  isOwn: boolean
  upstreamBody: Record<string, unknown>
  answeredAt: number
  counted: (() => unknown) | undefined
} & Content

/** `reached`: a provider said 200, and so may have begun to work, whatever came of it. */
export type DispatchResult = { attempts: Attempt[]; wasReached: boolean } & (
  | { ok: true; accepted: AcceptedResponse }
  | { ok: false; rejections: Rejection[] }
)

/**
 * Ask one target after the other until one shows content. Nothing has gone to the caller yet, so a refusal, an empty
 * stream and an error in the first frame are all the same: the next target's turn.
 */
export async function dispatch(call: DispatchInput, deps: DispatchDeps): Promise<DispatchResult> {
  const attempts: Attempt[] = []
  const refusals: Rejection[] = []
  let reached = false
  const onReached = () => (reached = true)
  /** Models that take no such request, whoever serves them. */
  const unfit = new Set<string>()
  /** A caller who insists on a key of their own pays no other one in its place. */
  let insists = false
  for (const target of call.targets) {
    if (unfit.has(target.model.id) || (insists && !target.byok)) continue
    const startedAt = deps.now()
    const answer = await dispatchTo(call, target, deps, onReached)
    const { endpoint, provider } = target
    const status = "code" in answer ? answer.status : 200
    const latencyMs = deps.now() - startedAt
    attempts.push({
      provider: provider.name,
      model: endpoint.model,
      status,
      latencyMs,
      isByok: target.byok !== undefined,
    })
    if (!("code" in answer)) {
      deps.health.warm(healthKey(target))
      return { ok: true, accepted: answer, attempts, wasReached: reached }
    }
    refusals.push(answer)
    if (deps.signal.aborted) break
    if (answer.blamesKey && (target.byok?.isRequired || target.byok?.isByokOnly)) insists = true
    if (answer.retryable) fail(target, answer, deps)
    else if (answer.isUnfit) unfit.add(target.model.id)
    else break
  }
  return { ok: false, rejections: refusals, attempts, wasReached: reached }
}

function fail(target: Target, { retryAfterMs }: Rejection, { health, now }: DispatchDeps): void {
  const key = healthKey(target)
  health.coolDown(key, retryAfterMs, now())
  health.measured(key, { at: now(), latencyMs: null, tokensPerSecond: null, isGood: false })
}

async function dispatchTo(
  call: DispatchInput,
  target: Target,
  deps: DispatchDeps,
  onReached: () => void,
): Promise<AcceptedResponse | Rejection> {
  const { byok: own, provider } = target
  if (!own) return sendTo(provider, call, target, deps, onReached)
  const apiKey = await deps.openKey(own)
  if (apiKey === undefined) {
    return failure(provider, "provider_failed", `The workspace's own key for ${provider.name} cannot be opened.`, null)
  }
  const answer = await sendTo({ ...provider, apiKey }, call, target, deps, onReached)
  return "code" in answer && answer.blamesKey ? asByokRejection(answer) : answer
}

/** The caller's own key is theirs to mend. Not in the provider's words, which can hold it. */
function asByokRejection(refusal: Rejection): Rejection {
  const { provider, status } = refusal
  const message = `${provider} refused the workspace's own key for it with status ${status}. Check that key and its account there, or change it at PATCH /byok/{id}.`
  return { ...refusal, message }
}

async function sendTo(
  provider: Provider,
  call: DispatchInput,
  target: Target,
  deps: DispatchDeps,
  onReached: () => void,
): Promise<AcceptedResponse | Rejection> {
  const { endpoint } = target
  const { question } = call
  const asked = question.buildUpstreamRequest(provider, {
    upstreamId: endpoint.upstreamId,
    maxCompletionTokens: call.capFor(target),
    pseudonym: call.pseudonym,
  })
  const tooSlow = new AbortController()
  const timer = setTimeout(() => tooSlow.abort(), deps.firstFrameMs)
  const signal = AbortSignal.any([deps.signal, tooSlow.signal])
  try {
    const outgoing = toUpstreamRequest(asked, question.streamed, provider, signal)
    const response = await deps.send(outgoing, provider)
    if (!response.ok) return await readRejection(provider, response, deps.now())
    onReached()
    const answer = await readResponse(response, asked, question.streamed, provider, signal)
    if ("code" in answer) return answer
    const { reader: wire, translate, body, counted } = asked
    return {
      ...answer,
      target,
      provider,
      wire,
      isOwn: !translate,
      upstreamBody: body,
      answeredAt: deps.now(),
      counted,
    }
  } catch {
    // A failed connection, a broken body, a timer: foreign errors, whose words could hold an address or a key.
    if (tooSlow.signal.aborted) return failure(provider, "timeout", `${provider.name} did not answer in time.`, null)
    return failure(provider, "provider_failed", `${provider.name} could not be reached, or broke off its answer.`, null)
  } finally {
    clearTimeout(timer)
  }
}
