import type { Attempt, Failure } from "../formats/attempt.ts"
import { NO_TOKENS, type Tokens } from "../money/money.ts"
import type { Pricing } from "../money/pricing.ts"
import type { Limit } from "./limits.ts"

/**
 * How a call ended. `unsettled`: its runtime died, and the ledger charged its estimate. `unattributed`: the same for
 * short calls under a lease that were not registered with the ledger.
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

/** Request parameters for destinations. Absent if the request does not set them. */
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
  /** Region of the requested hostname, or `global`. */
  region: string
  /** The client's id of its end user. */
  user: string | null
  /** The client's `trace`, bounded. */
  trace: Record<string, unknown> | null
  /** The content is stored for destinations. */
  hasContent: boolean
  /** Absent in records of older versions and for requests without parameters. */
  parameters?: RequestParameters
  /** The call is a run of a server tool. */
  isToolRun?: true
  /** The generation of the first round, for later rounds of a request with server tools and for tool runs. */
  parentId?: string
  /** Free server tool runs since the previous round, which are not recorded as calls. */
  toolRuns?: readonly ToolRun[]
}

/** `startedAt`: epoch milliseconds. */
export type ToolRun = { name: string; startedAt: number; durationMs: number; isError: boolean }

/** Fields of a call that are known when it is held, before dispatch. */
export type GenerationDraft = {
  id: string
  organizationId: string
  workspaceId: string
  keyHash: string
  /**
   * Other keys under which the call counts: those that created this one, and the first keys that they or this one
   * replaced. Absent if there are none.
   */
  ancestorKeys?: readonly string[]
  createdAt: number
  requestId: string
  apiType: "completions" | "embeddings" | "rerank" | "decisions" | "image" | "tts" | "stt" | "video" | "realtime"
  /** The model that the client requested. */
  requestedModel: string
  streamed: boolean
  sessionId: string | null
  appUrl: string | null
  appTitle: string | null
  userAgent: string | null
  /** Estimated prompt tokens. */
  promptEstimate: number
  /** The preset that the request named. */
  presetId?: string
  /** The router that chose the model, by the name in the request. */
  router?: string
  /** The end user: `user` of the request, or the user for whom the key was created. */
  externalUser?: string
  /** Additional data for destinations; absent if the workspace has none. */
  broadcast?: BroadcastContext
  /** All targets use BYOK credentials, so the call never charges the account. */
  isByok?: true
}

/** Finding of a guardrail in a call. `action`: the strongest action taken. The matched text is not stored. */
export type GuardrailFinding = { id: string; name: string; scope: string; action: string; patterns: readonly string[] }

/** Data for later diagnosis of a call. Absent in records of older versions. */
export type CallStory = {
  /** Nano-USD held for the call. */
  heldNano?: number
  /** The limits of the hold except the balance; absent if there are none. */
  limits?: readonly Limit[]
  /** Prices of the endpoint at the time of the call. */
  pricing?: Pricing
  /** Error of a failed call. */
  error?: Failure & { reason?: string }
  /** Guardrails with findings; absent if there are none. */
  guardrails?: readonly GuardrailFinding[]
}

/** The complete record of one call. Money is nano-USD. */
export type Generation = Omit<GenerationDraft, "isByok"> & {
  /** The model that responded, or the requested model if none did. */
  model: string
  provider: string | null
  /** The provider whose budgets the call counts in; absent if no model provider responded. */
  providerSlug?: string
  /**
   * For an unsettled call: nano-USD that count in the budgets of each provider that it may have reached, by slug, at
   * most the amount held there.
   */
  atProviders?: Readonly<Record<string, number>>
  /** Guardrail and provider scopes in which the ledger counted the call; absent in records of older versions. */
  countedIn?: readonly string[]
  upstreamId: string | null
  isByok: boolean
  tokens: Tokens
  /** Source of the token counts: the provider, or an estimate of the delivered content. */
  tokensFrom: "upstream" | "estimate" | "none"
  costNano: number
  byokCostNano: number
  finishReason: string | null
  /** The provider's finish reason; absent if it is the same. */
  nativeFinishReason?: string
  ending: Ending
  /** HTTP status for the client, or the status it would have been if the stream had not started. */
  status: number
  latencyMs: number | null
  generationMs: number | null
  serviceTier: string | null
  attempts: readonly Attempt[]
  /** Nano-USD of the provider's count above the hold, which are not charged. Absent if there are none. */
  overrunNano?: number
} & CallStory

/** A generation that the ledger has charged. */
export type Settled = Generation & { settledAt: number }

/** Limits the cost of a generation to `mostNano`; the rest becomes its overrun. */
export function capCost(generation: Generation, mostNano: number): Generation {
  const { costNano, overrunNano = 0 } = generation
  if (costNano <= mostNano) return generation
  return { ...generation, costNano: mostNano, overrunNano: overrunNano + costNano - mostNano }
}

/**
 * The record of an unsettled call, whose runtime died. It is charged at the last known estimate, not refunded.
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
