import { NO_TOKENS } from "../../src/money/money.ts"
import type { Settled } from "../../src/ledger/generation.ts"

/** Fields that the generations of these tests share. */
export const CALL = {
  id: "gen-01a1fed6-f156-71f0-9e2f-d3a472f3d414",
  organizationId: "o",
  workspaceId: "w",
  keyHash: "k",
  createdAt: 1_763_000_000_000,
  settledAt: 1_763_000_001_000,
  requestId: "req-d368672b-ed2c-4093-aa8b-617b83da0c5c",
  apiType: "completions",
  requestedModel: "acme/chat",
  streamed: true,
  sessionId: "s-1",
} satisfies Partial<Settled>

/** A call that completed. */
export const ANSWERED: Settled = {
  ...CALL,
  appUrl: null,
  appTitle: null,
  userAgent: null,
  promptEstimate: 3,
  model: "acme/chat-1",
  provider: "Acme",
  upstreamId: "up-1",
  isByok: false,
  tokens: { ...NO_TOKENS, prompt: 10, completion: 20, reasoning: 5, cached: 2 },
  tokensFrom: "upstream",
  costNano: 1_500_000,
  byokCostNano: 0,
  finishReason: "stop",
  ending: "complete",
  status: 200,
  latencyMs: 300,
  generationMs: 500,
  serviceTier: null,
  attempts: [],
}

/** The flags with which a destination receives every field. */
export const ALL_FLAGS = {
  broadcast_generation_cost: 1,
  broadcast_generation_identity: 1,
  broadcast_generation_request_context: 1,
}
