import type { Caller } from "../policy/call-policy.ts"
import type { Wanted } from "../ledger/limits.ts"
import { MAX_NANO } from "../money/money.ts"
import type { GenerationDraft } from "../ledger/generation.ts"
import type { FreeLimits, FreeLimitExceeded } from "../ledger/free-requests.ts"
import { limitsOf } from "../policy/limits.ts"
import { GatewayError } from "../errors/errors.ts"
import { exportContextOf, type ExportContext } from "../observability/context.ts"
import { newGenerationId } from "../support/ids.ts"
import { limitError } from "./cost-bound.ts"
import type { Target } from "../routing/target.ts"
import type { RequestMeta, Deps } from "./deps.ts"

type About = Pick<
  GenerationDraft,
  "apiType" | "requestedModel" | "streamed" | "sessionId" | "promptEstimate" | "router"
> &
  Partial<ExportContext>

/** What is known of a call before anything is asked. */
export function newDraft(about: About, meta: RequestMeta, caller: Caller): GenerationDraft {
  const { user = null, trace = null, hasMessages = false, ...facts } = about
  const id = newGenerationId()
  const { keyHash } = caller
  const call = { id, keyHash, sessionId: about.sessionId, region: meta.region }
  const externalUser = user ?? caller.externalUser
  const broadcast = exportContextOf(caller.destinations, call, { user, trace, hasMessages })
  return {
    ...facts,
    ...(broadcast && { broadcast }),
    ...(meta.presetId !== undefined && { presetId: meta.presetId }),
    ...(externalUser !== null && { externalUser }),
    id,
    organizationId: caller.organizationId,
    workspaceId: caller.workspaceId,
    keyHash,
    ...(caller.ancestors.length > 0 && { ancestorKeys: caller.ancestors.map((ancestor) => ancestor.keyHash) }),
    createdAt: Date.now(),
    requestId: meta.requestId,
    appUrl: meta.appUrl,
    appTitle: meta.appTitle,
    userAgent: meta.userAgent,
  }
}

/** Reserves what a call can cost, under every limit that applies to it. Returns nano-USD granted; throws where one refuses. */
export async function hold(
  draft: GenerationDraft,
  wanted: Wanted,
  estimateNano: number,
  caller: Caller,
  { ledger, timers }: Pick<Deps, "ledger" | "timers">,
  free?: FreeLimits,
): Promise<number> {
  const limits = limitsOf(caller)
  const verdict = await ledger.hold({
    draft,
    wanted,
    estimateNano,
    chargesAccount: !draft.isByok,
    // What costs the account nothing counts only where a limit says so.
    limits: draft.isByok ? limits.filter(({ includeByok }) => includeByok) : limits,
    ...(free && { free }),
    ttlMs: timers.holdTtlMs,
  })
  if (!verdict.ok) throw "free" in verdict ? tooManyFree(verdict.free) : limitError(verdict, caller)
  return verdict.grantedNano
}

/**
 * The hold of a call, and the targets that it covers. Where the account or a limit refuses, there may be a key of the
 * caller's own, which costs neither anything.
 */
export async function holdFor(
  targets: readonly Target[],
  holdOf: (targets: readonly Target[], isByok: boolean) => Promise<number>,
): Promise<{ heldNano: number; targets: readonly Target[]; isByok: boolean }> {
  const owned = targets.filter(({ byok: own }) => own)
  const isByok = owned.length === targets.length
  try {
    return { heldNano: await holdOf(targets, isByok), targets, isByok }
  } catch (refusal) {
    const isPaid = refusal instanceof GatewayError && ["payment_required", "forbidden"].includes(refusal.code)
    if (isByok || owned.length === 0 || !isPaid) throw refusal
    return { heldNano: await holdOf(owned, true), targets: owned, isByok: true }
  }
}

/** What a target may use of a grant, in nano-USD: a key of the caller's own is bound by it only where a limit counts it. */
export function grantFor({ byok: own }: Target, heldNano: number, caller: Caller): number {
  return own && !limitsOf(caller).some(({ includeByok }) => includeByok) ? MAX_NANO : heldNano
}

/** The gateway's own 429, with the headers that only it carries. */
function tooManyFree({ limit, resetAt, window }: FreeLimitExceeded): GatewayError {
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
