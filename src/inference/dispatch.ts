import type { OwnKey } from "../byok/usable-credentials.ts"
import type { ErrorName } from "../errors/errors.ts"
import type { Attempt } from "../formats/attempt.ts"
import { type Refusal, toRefusal, redactedCode } from "../providers/refusal.ts"
import { toUpstreamRequest } from "../providers/upstream-request.ts"
import type { Provider } from "../providers/provider.ts"
import { isObject } from "../support/json.ts"
import type { EndpointHealth } from "../routing/health.ts"
import type { Question } from "./inference-request.ts"
import type { Asked } from "../formats/upstream.ts"
import type { Wire } from "../formats/readers/reader.ts"
import { healthKey, type Target } from "../routing/target.ts"
import { type Opening, readOpening } from "../formats/sse/stream-head.ts"
import { readAtMost } from "../support/bytes.ts"

export type AskWorld = {
  /** Reaches a provider: the network, or a binding. */
  send: (request: Request, provider: Provider) => Promise<Response>
  /** The caller's own key in clear; undefined where it cannot be opened. */
  openKey: (key: OwnKey) => Promise<string | undefined>
  health: EndpointHealth
  firstFrameMs: number
  now: () => number
  /** Aborted when the caller has left or the call is over. */
  signal: AbortSignal
}

export type Ask = {
  question: Question
  targets: readonly Target[]
  pseudonym: string | undefined
  capFor: (target: Target) => number | undefined
}

/** The first target's answer: a stream that has shown content, or a whole result that is one. */
export type Accepted = {
  target: Target
  /** With the key that was sent, to be kept from what the provider says. */
  provider: Provider
  wire: Wire
  /** The provider's own bytes are read, not a translation of them. */
  isOwn: boolean
  upstreamBody: Record<string, unknown>
  answeredAt: number
  counted: (() => unknown) | undefined
} & Content

type Content = { kind: "stream"; opening: Opening } | { kind: "whole"; result: Record<string, unknown> } | Bytes
/** An answer that is no text: what it is, and the whole of it as it comes. */
type Bytes = { kind: "bytes"; contentType: string; body: ReadableStream<Uint8Array> }

/** `reached`: a provider said 200, and so may have begun to work, whatever came of it. */
export type Outcome = { attempts: Attempt[]; reached: boolean } & (
  | { ok: true; accepted: Accepted }
  | { ok: false; refusals: Refusal[] }
)

/**
 * Ask one target after the other until one shows content. Nothing has gone to the caller yet, so a refusal, an empty
 * stream and an error in the first frame are all the same: the next target's turn.
 */
export async function ask(call: Ask, world: AskWorld): Promise<Outcome> {
  const attempts: Attempt[] = []
  const refusals: Refusal[] = []
  let reached = false
  const onReached = () => (reached = true)
  /** Models that take no such request, whoever serves them. */
  const unfit = new Set<string>()
  /** A caller who insists on a key of their own pays no other one in its place. */
  let insists = false
  for (const target of call.targets) {
    if (unfit.has(target.model.id) || (insists && !target.own)) continue
    const startedAt = world.now()
    const answer = await askOne(call, target, world, onReached)
    const { endpoint, provider } = target
    const status = "code" in answer ? answer.status : 200
    const latencyMs = world.now() - startedAt
    attempts.push({
      provider: provider.name,
      model: endpoint.model,
      status,
      latencyMs,
      isByok: target.own !== undefined,
    })
    if (!("code" in answer)) {
      world.health.warm(healthKey(target))
      return { ok: true, accepted: answer, attempts, reached }
    }
    refusals.push(answer)
    if (world.signal.aborted) break
    if (answer.blamesKey && (target.own?.isRequired || target.own?.isByokOnly)) insists = true
    if (answer.retryable) fail(target, answer, world)
    else if (answer.isUnfit) unfit.add(target.model.id)
    else break
  }
  return { ok: false, refusals, attempts, reached }
}

function fail(target: Target, { retryAfterMs }: Refusal, { health, now }: AskWorld): void {
  const key = healthKey(target)
  health.coolDown(key, retryAfterMs, now())
  health.measured(key, { at: now(), latencyMs: null, tokensPerSecond: null, isGood: false })
}

async function askOne(call: Ask, target: Target, world: AskWorld, onReached: () => void): Promise<Accepted | Refusal> {
  const { own, provider } = target
  if (!own) return askWith(provider, call, target, world, onReached)
  const apiKey = await world.openKey(own)
  if (apiKey === undefined) {
    return failure(provider, "provider_failed", `The workspace's own key for ${provider.name} cannot be opened.`, null)
  }
  const answer = await askWith({ ...provider, apiKey }, call, target, world, onReached)
  return "code" in answer && answer.blamesKey ? ofOwnKey(answer) : answer
}

/** The caller's own key is theirs to mend. Not in the provider's words, which can hold it. */
function ofOwnKey(refusal: Refusal): Refusal {
  const { provider, status } = refusal
  const message = `${provider} refused the workspace's own key for it with status ${status}. Check that key and its account there, or change it at PATCH /byok/{id}.`
  return { ...refusal, message }
}

async function askWith(
  provider: Provider,
  call: Ask,
  target: Target,
  world: AskWorld,
  onReached: () => void,
): Promise<Accepted | Refusal> {
  const { endpoint } = target
  const { question } = call
  const asked = question.askOf(provider, {
    upstreamId: endpoint.upstreamId,
    maxCompletionTokens: call.capFor(target),
    pseudonym: call.pseudonym,
  })
  const tooSlow = new AbortController()
  const timer = setTimeout(() => tooSlow.abort(), world.firstFrameMs)
  const signal = AbortSignal.any([world.signal, tooSlow.signal])
  try {
    const outgoing = toUpstreamRequest(asked, question.streamed, provider, signal)
    const response = await world.send(outgoing, provider)
    if (!response.ok) return await refuse(provider, response, world.now())
    onReached()
    const answer = await readAccepted(response, asked, question.streamed, provider, signal)
    if ("code" in answer) return answer
    const { wire, translate, body, counted } = asked
    return {
      ...answer,
      target,
      provider,
      wire,
      isOwn: !translate,
      upstreamBody: body,
      answeredAt: world.now(),
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

async function readAccepted(
  response: Response,
  asked: Asked,
  isStreamed: boolean,
  provider: Provider,
  signal: AbortSignal,
): Promise<Content | Refusal> {
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? ""
  const { wire, translate } = asked
  if (!response.body) return failure(provider, "provider_failed", `${provider.name} answered with an empty body.`)
  if (asked.bytes?.test(type)) {
    const contentType = type === "application/octet-stream" ? (asked.bytesType ?? type) : type
    return { kind: "bytes", contentType, body: response.body }
  }
  // Servers name their streams in many ways; what is no stream shows in its first frame.
  if (isStreamed && type !== "application/json" && type !== "text/html") {
    const body = translate ? translate.stream(response.body) : response.body
    const opening = await readOpening(body, wire, signal)
    return opening.ok ? { kind: "stream", opening } : fromToldError(provider, opening.error, opening.reason)
  }
  if (type === "text/event-stream") {
    const body = translate ? translate.stream(response.body) : response.body
    const { result, error } = wire.toResult(await readAnswerBody(body))
    if (result && wire.isAnswer(result)) return { kind: "whole", result }
    return fromToldError(provider, error, "a stream that broke off")
  }
  if (type !== "application/json" && type !== "") {
    await response.body.cancel()
    return failure(
      provider,
      "provider_failed",
      `${provider.name} answered with ${type || "no content type"} instead of a completion.`,
    )
  }
  return readWhole(new TextDecoder().decode(await readAnswerBody(response.body)), asked, isStreamed, provider)
}

/** A whole answer. Where the caller wanted a stream and the provider does not stream, it is told as one. */
function readWhole(
  body: string,
  { wire, translate }: Asked,
  isStreamed: boolean,
  provider: Provider,
): Content | Refusal {
  const told = parseObject(body)
  if (!told) {
    const what = body === "" ? "an empty body" : "something that is not JSON"
    return failure(provider, "provider_failed", `${provider.name} answered with ${what}.`)
  }
  const result = translate ? translate.whole(told) : told
  const error = wire.errorIn(result)
  if (error) return fromToldError(provider, error, "an error")
  if (!wire.isAnswer(result))
    return failure(provider, "provider_failed", `${provider.name} answered without an answer.`)
  if (!isStreamed) return { kind: "whole", result }
  const opening = wire.toOpening(result)
  return opening
    ? { kind: "stream", opening }
    : failure(provider, "provider_failed", `${provider.name} did not stream its answer.`)
}

function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    return isObject(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

/** An answer of this size is no answer, and several of them fill an isolate's memory. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

async function readAnswerBody(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const bytes = await readAtMost(body, MAX_ANSWER_BYTES)
  if (!bytes) throw new Error("The provider's answer is too large.")
  return bytes
}

async function refuse(provider: Provider, response: Response, now: number): Promise<Refusal> {
  const body = await readStart(response.body)
  return toRefusal(provider, response.status, response.headers, body, now)
}

const MAX_ERROR_BYTES = 65_536

/** The start of an error body; the rest is not read, and the connection is freed. */
async function readStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (!body) return ""
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ""
  try {
    while (text.length < MAX_ERROR_BYTES) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    return text
  } finally {
    reader.cancel().catch(() => undefined)
  }
  return text
}

function failure(provider: Provider, code: ErrorName, message: string, status: number | null = 200): Refusal {
  return {
    provider: provider.name,
    status,
    code,
    message,
    providerCode: null,
    retryAfterMs: null,
    retryable: true,
  }
}

/** An error inside a 200 means what it says: its own status where it has one. */
function fromToldError(
  provider: Provider,
  error: { message: string; code: string | null; status: number | null } | null,
  reason: string,
): Refusal {
  if (!error) return failure(provider, "provider_failed", `${provider.name} answered with ${reason}.`)
  const body = JSON.stringify({ error: { message: error.message } })
  const refusal = toRefusal(provider, error.status ?? 502, new Headers(), body, 0)
  const providerCode = error.code === null ? null : redactedCode(error.code, provider.apiKey)
  return { ...refusal, status: 200, providerCode }
}
