import type { Caller } from "../access/caller.ts"
import type { Wanted } from "../credits/ledger.ts"
import type { GenerationDraft } from "../generations/generation.ts"
import type { FreeLimits, FreeRefusal } from "../credits/free-requests.ts"
import { limitsOf } from "../credits/limits.ts"
import { GatewayError } from "../edge/errors.ts"
import { newGenerationId } from "../support/ids.ts"
import { toRefusal } from "./admit.ts"
import type { Arrival, World } from "./world.ts"

type About = Pick<GenerationDraft, "apiType" | "requestedModel" | "streamed" | "sessionId" | "promptEstimate">

/** What is known of a call before anything is asked. */
export function newDraft(about: About, arrival: Arrival, caller: Caller): GenerationDraft {
  return {
    ...about,
    id: newGenerationId(),
    organizationId: caller.organizationId,
    workspaceId: caller.workspaceId,
    keyHash: caller.keyHash,
    createdAt: Date.now(),
    requestId: arrival.requestId,
    appUrl: arrival.appUrl,
    appTitle: arrival.appTitle,
    userAgent: arrival.userAgent,
  }
}

/** Reserves what a call can cost, under every limit that applies to it. Returns nano-USD granted; throws where one refuses. */
export async function hold(
  draft: GenerationDraft,
  wanted: Wanted,
  estimateNano: number,
  caller: Caller,
  { ledger, timers }: Pick<World, "ledger" | "timers">,
  free?: FreeLimits,
): Promise<number> {
  const verdict = await ledger.hold({
    draft,
    wanted,
    estimateNano,
    chargesAccount: true,
    limits: limitsOf(caller),
    ...(free && { free }),
    ttlMs: timers.holdTtlMs,
  })
  if (!verdict.ok) throw "free" in verdict ? tooManyFree(verdict.free) : toRefusal(verdict, caller)
  return verdict.grantedNano
}

/** The gateway's own 429, with the headers that only it carries. */
function tooManyFree({ limit, resetAt, window }: FreeRefusal): GatewayError {
  const seconds = Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000))
  return new GatewayError(
    "rate_limited",
    `This account may make ${limit} requests a ${window} on free models, and has made them. Wait ${seconds} seconds, or call a model that is paid for.`,
    {
      metadata: { reason: "free_model_limit", retryable: true },
      headers: {
        "x-ratelimit-limit": String(limit),
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(resetAt),
        "retry-after": String(seconds),
      },
    },
  )
}
