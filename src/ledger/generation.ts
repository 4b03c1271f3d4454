import type { Attempt, Failure } from "../formats/attempt.ts"
import { NO_TOKENS, type Tokens } from "../money/money.ts"
import type { Pricing } from "../money/pricing.ts"
import type { Limit } from "./limits.ts"

/**
 * How a call ended. `unsettled`: the runtime that served it died, and the ledger charged its
 * estimate. `unattributed`: the same of calls so young that the ledger had not heard of them one by one.
 */
export type Ending =
  | "complete"
  | "cancelled"
  | "cut"
  | "stalled"
  | "timeout"
  | "error"
  | "refused"
  | "unsettled"
  | "unattributed"

/** Parameters of a request that destinations get. Absent where the request does not set them. */
export type RequestParameters = {
  temperature?: number
  top_p?: number
  top_k?: number
  frequency_penalty?: number
  presence_penalty?: number
  max_tokens?: number
  seed?: number
  choices?: number
  effort?: string
  stop?: readonly string[]
  output?: "text" | "json"
}

/** Details of a call that only destinations receive. */
export type BroadcastContext = {
  /** Of the hostname it came to, or `global`. */
  region: string
  /** The caller's own name for its user. */
  user: string | null
  /** The caller's `trace`, bounded. */
  trace: Record<string, unknown> | null
  /** What is said is kept for them. */
  hasContent: boolean
  /** Absent in records of older versions and where the request sets none. */
  parameters?: RequestParameters
  /** The call is a run of a server tool. */
  isToolRun?: true
  /** Of a later round of a request with server tools, or of a tool run: the generation of the first round. */
  parentId?: string
  /** Runs of server tools without a price since the round before, which are no calls of their own. */
  toolRuns?: readonly ToolRun[]
}

/** Epoch milliseconds, and how long it took. */
export type ToolRun = { name: string; startedAt: number; durationMs: number; isError: boolean }

/** What is known when a call is held, before any provider was asked. */
export type GenerationDraft = {
  id: string
  organizationId: string
  workspaceId: string
  keyHash: string
  /** The keys that created this one, the nearest first, which it is counted under as well; absent where none did. */
  ancestorKeys?: readonly string[]
  createdAt: number
  requestId: string
  apiType: "completions" | "embeddings" | "rerank" | "image" | "tts" | "stt" | "video" | "realtime"
  /** What the caller asked for. */
  requestedModel: string
  streamed: boolean
  sessionId: string | null
  appUrl: string | null
  appTitle: string | null
  userAgent: string | null
  /** The prompt's tokens, estimated. */
  promptEstimate: number
  /** The preset that the request named. */
  presetId?: string
  /** The router that chose the model, as the request named it. */
  router?: string
  /** The end user: `user` of the request, or whom the key was created for. */
  externalUser?: string
  /** What destinations receive beside the record; absent where the workspace has none. */
  broadcast?: BroadcastContext
  /** Only keys of the organization's own can be asked with: whatever comes of it is not the account's. */
  isByok?: true
}

/** What a guardrail found in a call. `action`: the strongest that it took. The text itself is not kept. */
export type GuardrailFinding = { id: string; name: string; scope: string; action: string; patterns: readonly string[] }

/** What explains a call afterwards. Records of older versions have none of it. */
export type CallStory = {
  /** Nano-USD that were held for the call. */
  heldNano?: number
  /** The limits that it was held against beside the balance; absent for none. */
  limits?: readonly Limit[]
  /** Prices of the endpoint at the time. */
  pricing?: Pricing
  /** Why the call failed; absent where it did not. */
  error?: Failure & { reason?: string }
  /** Guardrails that found something; absent where none did. */
  guardrails?: readonly GuardrailFinding[]
}

/** The whole record of one call. Money is nano-USD. */
export type Generation = Omit<GenerationDraft, "isByok"> & {
  /** What answered; the requested model when nothing did. */
  model: string
  provider: string | null
  /** The provider whose budgets it counts in; absent where no provider of models answered. */
  providerSlug?: string
  /**
   * Of a call that nobody settled: it may have been at each of these providers, by slug. Nano-USD that count in the
   * budgets of each, at most what was held there.
   */
  atProviders?: Readonly<Record<string, number>>
  /** Scopes of guardrails and providers that it counts in, by the ledger; absent from records of older versions. */
  countedIn?: readonly string[]
  upstreamId: string | null
  isByok: boolean
  tokens: Tokens
  /** Where the tokens come from: the provider's own count, or an estimate of what was delivered. */
  tokensFrom: "upstream" | "estimate" | "none"
  costNano: number
  byokCostNano: number
  finishReason: string | null
  /** The provider's own word for it; absent where it is the same. */
  nativeFinishReason?: string
  ending: Ending
  /** The status the caller got, or would have got had the stream not started. */
  status: number
  latencyMs: number | null
  generationMs: number | null
  serviceTier: string | null
  attempts: readonly Attempt[]
  /** Nano-USD of the provider's count above the hold, which are not charged. Absent for none. */
  overrunNano?: number
} & CallStory

/** One that the ledger has charged. */
export type Settled = Generation & { settledAt: number }

/** A generation charged at most so much; what it cost above that is its overrun. Nano-USD. */
export function cappedAt(generation: Generation, mostNano: number): Generation {
  const { costNano, overrunNano = 0 } = generation
  if (costNano <= mostNano) return generation
  return { ...generation, costNano: mostNano, overrunNano: overrunNano + costNano - mostNano }
}

/**
 * The record of a call that nobody settled: its runtime died. It is charged at the last known estimate, not refunded.
 */
export function unsettledGeneration(draft: GenerationDraft, estimateNano: number): Generation {
  return {
    ...draft,
    model: draft.requestedModel,
    provider: null,
    upstreamId: null,
    isByok: draft.isByok ?? false,
    tokens: { ...NO_TOKENS, prompt: draft.promptEstimate },
    tokensFrom: "estimate",
    costNano: draft.isByok ? 0 : estimateNano,
    byokCostNano: draft.isByok ? estimateNano : 0,
    finishReason: null,
    ending: "unsettled",
    status: 500,
    latencyMs: null,
    generationMs: null,
    serviceTier: null,
    attempts: [],
  }
}
