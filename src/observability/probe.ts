import { NO_TOKENS } from "../money/money.ts"
import { newGenerationId } from "../support/ids.ts"
import type { DestinationRow } from "./destination.ts"
import { type CallEvent, newEvent } from "./event.ts"

/** A fictitious call to test a destination. */
export function newProbe({ id, organization_id, workspace_id }: DestinationRow, now: number): CallEvent {
  const generation = {
    id: newGenerationId(),
    organizationId: organization_id,
    workspaceId: workspace_id,
    keyHash: "",
    createdAt: now,
    settledAt: now,
    requestId: `req-${crypto.randomUUID()}`,
    apiType: "completions" as const,
    requestedModel: "test",
    streamed: false,
    sessionId: null,
    appUrl: null,
    appTitle: null,
    userAgent: null,
    promptEstimate: 0,
    broadcast: { region: "global", user: null, trace: { generation_name: "connection test" }, hasContent: false },
    model: "test",
    provider: null,
    upstreamId: null,
    isByok: false,
    tokens: NO_TOKENS,
    tokensFrom: "none" as const,
    costNano: 0,
    byokCostNano: 0,
    finishReason: null,
    ending: "complete" as const,
    status: 200,
    latencyMs: 0,
    generationMs: 0,
    serviceTier: null,
    attempts: [],
  }
  return newEvent(id, generation, null, null)
}
