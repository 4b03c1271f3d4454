import type { Signal } from "@preact/signals"
import type { Limit } from "../../api/types.ts"

export type ToolCall = { id: string; name: string; arguments: string }

export type Usage = {
  prompt_tokens: number
  completion_tokens: number
  cost?: number
  prompt_tokens_details?: { cached_tokens?: number }
  completion_tokens_details?: { reasoning_tokens?: number }
}

/** Routing metadata of a call, as `X-Service-Metadata` adds it. */
export type RoutingMetadata = {
  requested: string
  strategy: string
  region: string
  is_byok: boolean
  summary: string
  endpoints: { total: number; available: { model: string; provider: string; selected: boolean }[] }
  attempts: { model: string; provider: string; status: number | null }[]
  pipeline: { type: string; name: string; summary: string; data?: Record<string, unknown>; cost_usd?: number }[]
}

export type RunError = { message: string; status: number; requestId: string | null; isLate: boolean }

export type RunStatus = "waiting" | "streaming" | "done" | "failed" | "stopped"

/** One response: the received part, and data about the call. */
export type Run = {
  model: string
  /** The fault of `sim/*` that was called instead of the model. */
  fault: string | null
  status: RunStatus
  text: string
  reasoning: string
  toolCalls: readonly ToolCall[]
  startedAt: number
  firstTokenMs: number | null
  endMs: number | null
  promptTokens: number
  completionTokens: number
  /** Tokens are estimated from characters until the provider reports them. */
  isEstimated: boolean
  cost: number | null
  held: number | null
  /** The limits that the hold was under, with what they had left; absent in conversations of earlier versions. */
  limits?: readonly Limit[]
  finishReason: string | null
  generationId: string | null
  metadata: RoutingMetadata | null
  timing: readonly { name: string; ms: number; description: string | null }[]
  error: RunError | null
}

export type Turn = { id: number; text: string; images: readonly string[]; run: Signal<Run> }

export type Column = { id: number; model: Signal<string>; turns: Signal<readonly Turn[]> }

/** Request fields besides model and messages, as entered. */
export type Settings = {
  system: string
  temperature: string
  topP: string
  maxTokens: string
  seed: string
  stop: string
  effort: string
  preset: string
  tools: string
  schema: string
  sort: string
  only: string
  fallbacks: string
  zdr: boolean
}
