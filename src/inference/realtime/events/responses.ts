import { GatewayError } from "../../../errors/errors.ts"
import type { Attempt } from "../../../formats/attempt.ts"
import type { Ending } from "../../../ledger/generation.ts"
import { costOf, type Tokens } from "../../../money/money.ts"
import { plainCall, pricesOf } from "../../../money/price-list.ts"
import type { Caller } from "../../../policy/call-policy.ts"
import type { Target } from "../../../routing/target.ts"
import { isObject, type Json, objectsOf } from "../../../support/text/json.ts"
import { UNITS_PER_TOKEN } from "../../../support/tokens.ts"
import type { Transcript } from "../../../formats/transcript.ts"
import type { Conversation } from "./conversation.ts"
import type { RealtimeEvent } from "./events.ts"
import { covers, type HeldResponse, type HoldContext, holdResponse, releaseHold } from "../holds.ts"
import { type ResponseEnd, toGeneration, type ResponseUsage } from "../record.ts"
import { settleGeneration, type SettleDeps } from "../settle.ts"
import { sliceOf } from "./slice.ts"
import { appendCalls, appendDelta, type Message } from "./transcript.ts"
import { tokensOf } from "./usage.ts"

/** A running response. */
type Running = {
  held: HeldResponse
  startedAt: number
  firstAt: number | null
  /** Estimated prompt. */
  prompt: Tokens
  /** Prompt bound of the conversation when the response began. */
  boundBefore: number
  characters: number
  audioTokens: number
  isCancelled: boolean
  /** Text of its input and output. */
  messages: Message[]
  output: Transcript
}

export type ResponsesContext = HoldContext & {
  deps: SettleDeps
  target: Target
  conversation: Conversation
  caller: () => Caller
  attempts: readonly Attempt[]
}

/**
 * The responses of a session and their holds. There is always one more hold than running responses, since a provider
 * that detects the end of speech starts a response by itself. A response takes a hold when it begins and is settled
 * under it when it ends.
 */
export class Responses {
  readonly #context: ResponsesContext
  readonly #running = new Map<string, Running>()
  readonly #finished = new Set<string>()
  readonly #spares: HeldResponse[]
  /** Responses that the client requested and that have not begun. */
  #requested = 0
  /** Input was sent since the last response ended, so a response may have begun that is not announced yet. */
  #hasInput = false

  constructor(first: HeldResponse, context: ResponsesContext) {
    this.#context = context
    this.#spares = [first]
    this.#watch(first)
  }

  get isRunning(): boolean {
    return this.#running.size > 0
  }

  /** A response is running, or requested under a hold: the session can continue without another one. */
  get isHeld(): boolean {
    return this.isRunning || (this.#requested > 0 && this.#spares.length >= this.#requested)
  }

  /** Called before client content is sent. Rejects if a response to it cannot be held. */
  async admitInput(): Promise<void> {
    this.#hasInput = true
    const [spare] = this.#spares
    if (!spare || covers(spare, this.#context.target, this.#slice())) return
    this.#spares.shift()
    await releaseHold(spare, this.#context.deps)
    await this.#hold()
  }

  /** Called before a response request is sent. Rejects if the response cannot be held. */
  async admitRequest(): Promise<void> {
    await this.admitInput()
    if (this.#spares.length <= this.#requested) await this.#hold()
    this.#requested++
  }

  /** The provider rejected an event of the client, which may have been a response request. */
  requestRejected(): void {
    this.#requested = Math.max(0, this.#requested - 1)
  }

  /** Ensures that the next response is held. Rejects if that fails. */
  async refill(): Promise<void> {
    while (this.#spares.length < Math.max(1, this.#requested)) await this.#hold()
  }

  /** The provider started a response. Rejects if there is no hold for it and none can be placed. */
  async begin(id: string, messages: Message[]): Promise<void> {
    if (this.#running.has(id) || this.#finished.has(id)) return
    this.#requested = Math.max(0, this.#requested - 1)
    if (this.#spares.length === 0) await this.#hold()
    const held = this.#spares.shift()
    if (!held) return
    const { conversation } = this.#context
    const facts = { held, startedAt: Date.now(), firstAt: null, prompt: conversation.estimate }
    const generated = { characters: 0, audioTokens: 0, isCancelled: false, output: { content: "", reasoning: "" } }
    const running = { ...facts, ...generated, boundBefore: conversation.bound, messages }
    held.estimate = () => this.#costOf(deliveredTokens(running))
    this.#running.set(id, running)
  }

  /** Counts content of a response. True, once, if the hold is used up and the response must be cancelled. */
  delivered(event: RealtimeEvent, content: { characters: number; audioTokens: number }): boolean {
    const { response_id: id } = event
    const running = typeof id === "string" ? this.#running.get(id) : undefined
    if (!running) return false
    running.firstAt ??= Date.now()
    appendDelta(running.output, event)
    running.characters += content.characters
    running.audioTokens += content.audioTokens
    if (running.isCancelled || this.#costOf(deliveredTokens(running)) < running.held.heldFor(this.#context.target))
      return false
    running.isCancelled = true
    return true
  }

  /** The provider ended a response, possibly unannounced. Rejects if there is no hold for it and none can be placed. */
  async finish(response: Json, messages: () => Message[]): Promise<void> {
    const { status, usage } = response
    const id = typeof response["id"] === "string" ? response["id"] : `unnamed-${this.#finished.size}`
    if (!this.#running.has(id) && !this.#finished.has(id)) await this.begin(id, messages())
    const running = this.#running.get(id)
    if (!running) return
    this.#running.delete(id)
    this.#finished.add(id)
    this.#hasInput = false
    appendCalls(running.output, response)
    const tokens = tokensOf(usage)
    const hasFailed = status === "failed"
    const isEmpty = running.characters === 0 && running.audioTokens === 0
    const estimated = hasFailed && isEmpty ? undefined : { tokens: deliveredTokens(running), isCounted: false }
    const used = tokens ? { tokens, isCounted: true } : estimated
    if (used) this.#context.conversation.counted(used.tokens, running.boundBefore)
    const { provider } = this.#context.target
    const message = `${provider.name} could not complete the response.`
    this.#settle(running, used, {
      ending: hasFailed ? "error" : status === "cancelled" ? "cancelled" : "complete",
      status: hasFailed ? 502 : 200,
      upstreamId: id,
      finishReason: finishReasonOf(response),
      ...(hasFailed && { error: new GatewayError("provider_failed", message) }),
    })
  }

  /** Ends the session: charges running responses as delivered and releases other holds. */
  async end(ending: Ending, error: GatewayError | undefined): Promise<void> {
    for (const [id, running] of this.#running) {
      const used = { tokens: deliveredTokens(running), isCounted: false }
      const end = { ending, status: error?.status ?? 200, upstreamId: id, finishReason: error ? "error" : null }
      this.#settle(running, used, { ...end, ...(error && { error }) })
    }
    this.#running.clear()
    await Promise.all(this.#spares.splice(0).map((spare) => releaseHold(spare, this.#context.deps)))
  }

  #slice() {
    const { target, conversation } = this.#context
    return sliceOf([target], conversation)
  }

  async #hold(): Promise<void> {
    const { target, caller } = this.#context
    const held = await holdResponse([target], () => this.#slice(), caller(), this.#context)
    this.#watch(held)
    this.#spares.push(held)
  }

  /** If the session is lost, an unused hold costs nothing, unless a response may have begun under it. */
  #watch(held: HeldResponse): void {
    held.estimate = () => (this.#hasInput ? this.#costOf(this.#context.conversation.estimate) : 0)
  }

  #costOf(tokens: Tokens): number {
    return costOf(tokens, pricesOf(this.#context.target.endpoint.pricing, tokens.prompt, plainCall()))
  }

  #settle(
    { held, startedAt, firstAt, messages, output }: Running,
    used: ResponseUsage | undefined,
    end: Omit<ResponseEnd, "used" | "attempts" | "startedAt" | "firstAt">,
  ): void {
    const { deps, target, attempts } = this.#context
    held.stopTracking()
    const mostNano = held.chargeLimitOf(target)
    const generation = toGeneration(held, { ...end, used, attempts, startedAt, firstAt }, target, mostNano)
    settleGeneration(generation, deps, { messages, output })
  }
}

function deliveredTokens({ prompt, characters, audioTokens }: Running): Tokens {
  const text = Math.ceil(characters / UNITS_PER_TOKEN)
  const audioOutput = Math.ceil(audioTokens)
  return { ...prompt, completion: text + audioOutput, audioOutput }
}

function finishReasonOf({ status, status_details: details, output }: Json): string | null {
  if (status === "failed") return "error"
  if (status === "cancelled") return null
  if (status === "incomplete") {
    return isObject(details) && details["reason"] === "content_filter" ? "content_filter" : "length"
  }
  return objectsOf(output).some(({ type }) => type === "function_call") ? "tool_calls" : "stop"
}
