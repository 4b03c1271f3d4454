import type { Caller } from "../../policy/call-policy.ts"
import type { CostRange } from "../../ledger/limits.ts"
import { affordableCompletion, maxCost, costOf, type GeneratedUnits, NO_TOKENS } from "../../money/money.ts"
import { highestPrices, type PricedCall, pricedTier, pricesOf } from "../../money/price-list.ts"
import { GatewayError } from "../../errors/errors.ts"
import { estimatePromptTokens } from "../../support/tokens.ts"
import type { Target } from "../../routing/target.ts"
import type { ChatRequest } from "../../formats/schemas.ts"

/**
 * Upper bound of the cost of a call. Pure.
 *
 * A hold must be an upper bound: otherwise concurrent calls can exceed a limit together. A token is at least one byte,
 * so the bytes of the request bound its text; a constant bounds media, and the model's context length the total.
 */

/** Tokens of a chat template and of the text that providers add around tools. */
const TEMPLATE_TOKENS = 512
/** Upper bound of tokens for one image, audio or file part. */
export const TOKENS_PER_MEDIA_PART = 16_384
/** Output bound for a model with unknown output limit and context length. */
const UNKNOWN_MAX_COMPLETION = 16_384
/** A shorter completion is useless, and some providers reject a lower limit. */
const MIN_COMPLETION = 16
/** Estimated output of a call whose isolate is lost, for an endpoint without measurements. */
const ASSUMED_COMPLETION = 64

export type BillableUnits = { images: number } & Partial<GeneratedUnits>

export type CostBounds = {
  priced: PricedCall
  promptBound: number
  /** Units with a price each: images in the prompt, and the maximum that can be generated. */
  pieces: BillableUnits
  /** Maximum that tools of the provider generate; only what it reports is charged. */
  toolUnits?: Partial<GeneratedUnits>
  /** Whether the context length of the model also bounds the prompt. */
  promptLimit: "context" | "none"
  promptEstimate: number
  /** Tokens of one choice. */
  completionBound: (target: Target) => number
  choices: number
  /** The output cannot be shortened: the hold must cover all of it. */
  isIndivisible?: true
  /** Whether the completion bound is an assumption of the gateway that the provider does not enforce. */
  isAssumed: (target: Target) => boolean
}

/** `bodyBytes`: size of the request as received. */
export function costBoundsOf(request: ChatRequest, bodyBytes: number): CostBounds {
  const promptBound = boundPrompt(request, bodyBytes) + TEMPLATE_TOKENS
  const requestedMax = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY
  return {
    priced: { startedAt: Date.now(), serviceTier: pricedTier(request.service_tier) },
    promptBound,
    pieces: { images: countImages(request) },
    promptLimit: "context",
    promptEstimate:
      estimatePromptTokens(request.messages) +
      (request.tools ? Math.ceil(JSON.stringify(request.tools).length / 4) : 0),
    completionBound: ({ endpoint }) => {
      const limit = endpoint.maxCompletionTokens ?? (endpoint.contextLength || UNKNOWN_MAX_COMPLETION)
      return Math.min(requestedMax, limit)
    },
    choices: request.n ?? 1,
    isAssumed: ({ endpoint }) =>
      requestedMax === Number.POSITIVE_INFINITY &&
      endpoint.maxCompletionTokens === null &&
      endpoint.contextLength === 0,
  }
}

/**
 * The bytes of the request, with the payload of each image, audio and file part replaced by its maximum number of
 * tokens. Other fields of a part count as text.
 */
function boundPrompt(request: ChatRequest, bodyBytes: number): number {
  let bound = bodyBytes
  for (const part of partsOf(request)) {
    const bytes = payloadOf(part)?.length ?? 0
    if (part.type === "text" || part.type === "refusal") continue
    bound += tokensOfMedia(part.type, bytes) - bytes
  }
  return Math.max(0, bound)
}

type Part = { type: string } & Record<string, unknown>

function partsOf({ messages }: ChatRequest): Part[] {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Part[]) : []))
}

/** The data or URL of a part, an ASCII string. */
function payloadOf(part: Part): string | undefined {
  const { type } = part
  const content = (part[type] ?? part["video_url"]) as Record<string, unknown> | undefined
  const payload = content?.["url"] ?? content?.["data"] ?? content?.["file_data"]
  return typeof payload === "string" ? payload : undefined
}

/** Base64 bytes of audio and video per token, at least. */
const BYTES_PER_SOUND_TOKEN = 32

/** A file can consist of text only. The tokens of an image do not grow with its bytes. */
function tokensOfMedia(type: string, bytes: number): number {
  if (type === "image_url") return TOKENS_PER_MEDIA_PART
  return Math.max(TOKENS_PER_MEDIA_PART, type === "file" ? bytes : Math.ceil(bytes / BYTES_PER_SOUND_TOKEN))
}

function countImages(request: ChatRequest): number {
  return partsOf(request).filter(({ type }) => type === "image_url").length
}

function promptBoundFor({ endpoint }: Target, bounds: CostBounds): number {
  return endpoint.contextLength > 0 && bounds.promptLimit === "context"
    ? Math.min(bounds.promptBound, endpoint.contextLength)
    : bounds.promptBound
}

function maxUnits({ pieces, toolUnits }: CostBounds): BillableUnits {
  if (!toolUnits) return pieces
  const sum = (name: keyof GeneratedUnits) => (pieces[name] ?? 0) + (toolUnits[name] ?? 0)
  return { ...pieces, pictures: sum("pictures"), searches: sum("searches") }
}

/**
 * Amounts to hold: enough for the most expensive target, since any of them may serve the call. `expectedOf`: measured
 * tokens of a response; undefined for a target without measurements.
 */
export function costRangeFor(
  targets: readonly Target[],
  bounds: CostBounds,
  expectedOf: (target: Target) => number | undefined,
): CostRange & { estimateNano: number; estimateTokens: number } {
  const range = { leastNano: 0, mostNano: 0, estimateNano: 0, estimateTokens: 0 }
  const { choices } = bounds
  const pieces = maxUnits(bounds)
  for (const target of targets) {
    const prompt = promptBoundFor(target, bounds)
    const completion = bounds.completionBound(target)
    const { pricing } = target.endpoint
    const highest = highestPrices(pricing, prompt, bounds.priced)
    const leastCompletion = bounds.isIndivisible ? completion : Math.min(completion, MIN_COMPLETION)
    const minCost = maxCost(prompt, leastCompletion * choices, highest, pieces)
    const maxCostNano = maxCost(prompt, completion * choices, highest, pieces)
    const tokens = {
      ...NO_TOKENS,
      ...pieces,
      prompt: bounds.promptEstimate,
      completion: Math.min(completion, expectedOf(target) ?? ASSUMED_COMPLETION) * choices,
    }
    range.leastNano = Math.max(range.leastNano, minCost)
    range.mostNano = Math.max(range.mostNano, maxCostNano)
    range.estimateNano = Math.max(range.estimateNano, costOf(tokens, pricesOf(pricing, tokens.prompt, bounds.priced)))
    range.estimateTokens = Math.max(range.estimateTokens, tokens.prompt + tokens.completion)
  }
  return range
}

/**
 * The output limit to send to a target if the grant covers less than the client requested; otherwise undefined.
 */
export function completionCap(target: Target, bounds: CostBounds, grantedNano: number): number | undefined {
  const prompt = promptBoundFor(target, bounds)
  const highest = highestPrices(target.endpoint.pricing, prompt, bounds.priced)
  const completionNano = grantedNano - maxCost(prompt, 0, highest, maxUnits(bounds))
  const affordable = Math.floor(affordableCompletion(completionNano, highest) / bounds.choices)
  const bound = bounds.completionBound(target)
  // Sending an assumed bound makes the provider enforce it. Needed only if exceeding it would cost.
  if (bounds.isAssumed(target) && affordable !== Number.POSITIVE_INFINITY)
    return Math.max(1, Math.min(affordable, bound))
  return affordable < bound ? Math.max(1, affordable) : undefined
}

/** A free-tier key may only use models that cost nothing. */
export function requireTier(caller: Caller, targets: readonly Target[], bounds: CostBounds): Target[] {
  if (caller.kind !== "free_tier") return [...targets]
  const { promptBound, pieces, priced } = bounds
  const mostOf = (target: Target) =>
    maxCost(
      promptBound,
      bounds.completionBound(target),
      highestPrices(target.endpoint.pricing, promptBound, priced),
      pieces,
    )
  const free = targets.filter((target) => target.byok !== undefined || mostOf(target) === 0)
  if (free.length > 0) return free
  throw new GatewayError(
    "payment_required",
    "This key is on the free tier. Call a model whose price is 0, such as a :free variant.",
  )
}

/** Also rejects what has no targets to choose from: paid tools, services and realtime responses. */
export function requireFree({ kind }: Pick<Caller, "kind">, { mostNano }: CostRange, isByok = false): void {
  if (kind !== "free_tier" || isByok || mostNano === 0) return
  throw new GatewayError("payment_required", "This key is on the free tier. It can use only what costs nothing.")
}
