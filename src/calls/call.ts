import type * as z from "zod"
import { nanoToUsd, NO_TOKENS } from "../money/money.ts"
import type { Generation } from "../ledger/generation.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { Call } from "./schemas.ts"
import type { StoredCall } from "./store.ts"

export function toCall({ generation, at, keyName, keyLabel }: Omit<StoredCall, "value">): z.infer<typeof Call> {
  // Rejected generations of earlier versions have no tokens.
  const { prompt, completion, cached, reasoning } = { ...NO_TOKENS, ...generation.tokens }
  const { latencyMs, generationMs } = generation
  return {
    id: generation.id,
    request_id: generation.requestId,
    created_at: toTimestamp(generation.createdAt),
    ended_at: toTimestamp(at),
    model: generation.model,
    requested_model: generation.requestedModel,
    provider: generation.provider,
    key: { hash: generation.keyHash, name: keyName, label: keyLabel },
    workspace_id: generation.workspaceId,
    app: generation.appTitle?.trim() || generation.appUrl,
    user: generation.externalUser ?? null,
    session_id: generation.sessionId,
    api_type: generation.apiType,
    streamed: generation.streamed,
    status: generation.status,
    outcome: outcomeOf(generation),
    ending: generation.ending,
    error: generation.error ?? null,
    finish_reason: generation.finishReason,
    tokens: { prompt, completion, cached, reasoning },
    cost: nanoToUsd(generation.costNano),
    byok_cost: nanoToUsd(generation.byokCostNano),
    attempts: generation.attempts.length,
    first_token_ms: latencyMs,
    duration_ms: latencyMs === null ? waitOf(generation, at) : latencyMs + (generationMs ?? 0),
  }
}

/** Milliseconds until a call without content failed or was cancelled. */
function waitOf(generation: Generation, endedAt: number): number | null {
  const isSent = ["failed", "cancelled"].includes(outcomeOf(generation))
  return isSent ? Math.max(0, endedAt - generation.createdAt) : null
}

export const REJECTED_PREFIX = "rej-"

function outcomeOf({ id, ending, status }: Generation) {
  if (id.startsWith(REJECTED_PREFIX)) return "refused"
  if (ending === "cancelled") return "cancelled"
  return ending === "complete" && status < 400 ? "ok" : "failed"
}
