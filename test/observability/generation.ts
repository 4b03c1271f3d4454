import type { Settled } from "../../src/ledger/generation.ts"

/** What the generations of these tests have in common. */
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
