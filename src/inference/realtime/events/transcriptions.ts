import type { Tokens } from "../../../money/money.ts"
import { highestPrices, plainCall, pricesOf } from "../../../money/price-list.ts"
import { costOf, maxCost, NO_TOKENS } from "../../../money/money.ts"
import type { Caller } from "../../../policy/call-policy.ts"
import type { Target } from "../../../routing/target.ts"
import { isObject } from "../../../support/text/json.ts"
import { UNITS_PER_TOKEN } from "../../../support/tokens.ts"
import type { Conversation } from "./conversation.ts"
import type { RealtimeEvent } from "./events.ts"
import { type HeldResponse, type HoldContext, holdResponse, releaseHold } from "../holds.ts"
import { toGeneration } from "../record.ts"
import { settleGeneration, type SettleDeps } from "../settle.ts"
import type { Slice } from "./slice.ts"
import { tokensOf } from "./usage.ts"

/** Bounds of one transcription: at most five minutes of audio, at least half a minute. */
const MOST = { prompt: 3_000, completion: 2_000, seconds: 300 }
const LEAST = { prompt: 300, completion: 200, seconds: 30 }
const TOKENS_PER_SECOND = 10

type Context = {
  hold: HoldContext
  deps: SettleDeps
  caller: () => Caller
  conversation: Conversation
}

/** Transcriptions of the session's input by a separate model. Each is held, charged and recorded as a call. */
export class Transcriptions {
  readonly #context: Context
  #target: Target | undefined
  #held: HeldResponse | undefined

  constructor(context: Context) {
    this.#context = context
  }

  /** Holds the next transcription. Called before the session is changed. Rejects if that fails. */
  async use(target: Target): Promise<void> {
    if (this.#target?.model.id === target.model.id && this.#held) return
    await this.end()
    this.#target = target
    this.#held = await this.#hold(target)
  }

  /** The provider transcribed a part of the input. Rejects if the next cannot be held. */
  async finish({ usage, transcript, item_id: id }: RealtimeEvent): Promise<void> {
    const [target, held] = [this.#target, this.#held]
    if (!target || !held) return
    this.#held = undefined
    held.stopTracking()
    const usageUnits = readTokens(usage)
    const characters = typeof transcript === "string" ? transcript.length : 0
    const used = { tokens: usageUnits ?? this.#estimated(characters), isCounted: usageUnits !== undefined }
    const times = { startedAt: Date.now(), firstAt: null, attempts: [] }
    const upstreamId = typeof id === "string" ? id : null
    const end = { ending: "complete", status: 200, upstreamId, finishReason: null, used, ...times } as const
    settleGeneration(toGeneration(held, end, target, held.chargeLimitOf(target)), this.#context.deps)
    this.#context.conversation.takeAudioSeconds()
    this.#held = await this.#hold(target)
  }

  async end(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    this.#target = undefined
    if (held) await releaseHold(held, this.#context.deps)
  }

  async #hold(target: Target): Promise<HeldResponse> {
    const { hold, caller } = this.#context
    const { pricing } = target.endpoint
    const call = plainCall()
    const highest = highestPrices(pricing, MOST.prompt, call)
    const slice: Slice = {
      wanted: {
        leastNano: maxCost(LEAST.prompt, LEAST.completion, highest, { seconds: LEAST.seconds }),
        mostNano: maxCost(MOST.prompt, MOST.completion, highest, { seconds: MOST.seconds }),
      },
      estimateNano: 0,
      estimateTokens: 0,
    }
    const context = { ...hold, requestedModel: target.model.id, apiType: "stt" as const }
    const held = await holdResponse([target], () => slice, caller(), context)
    held.estimate = () => {
      const tokens = this.#estimated(0)
      return costOf(tokens, pricesOf(pricing, tokens.prompt, call))
    }
    return held
  }

  /** Estimate for the audio that is not transcribed yet. */
  #estimated(characters: number): Tokens {
    const seconds = this.#context.conversation.audioSeconds
    const audio = Math.ceil(seconds * TOKENS_PER_SECOND)
    return { ...NO_TOKENS, prompt: audio, audio, completion: Math.ceil(characters / UNITS_PER_TOKEN), seconds }
  }
}

/** Reads usage in tokens or in seconds. */
function readTokens(usage: unknown): Tokens | undefined {
  if (!isObject(usage)) return undefined
  const { seconds } = usage
  if (typeof seconds === "number" && seconds >= 0 && Number.isFinite(seconds)) return { ...NO_TOKENS, seconds }
  return tokensOf(usage)
}
