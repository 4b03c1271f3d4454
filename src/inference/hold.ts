import { newMeter } from "../formats/chat/meter.ts"
import type { FreeLimits } from "../ledger/free-requests.ts"
import type { GenerationDraft } from "../ledger/generation.ts"
import type { CostRange } from "../ledger/limits.ts"
import type { ProviderHolds, ProviderVerdict } from "../ledger/provider-limits.ts"
import type { RateRequest } from "../ledger/rates.ts"
import { MAX_NANO } from "../money/money.ts"
import { type Caller, limitsOf, rateLimitsOf } from "../policy/call-policy.ts"
import { routingMetadata } from "../routing/metadata.ts"
import { type Target, targetKey } from "../routing/target.ts"
import { holdOrByok } from "./upstream/attempts.ts"
import type { HeldCall, PlannedCall } from "./call.ts"
import { completionCap, costRangeFor, requireFree } from "./accounting/cost-bound.ts"
import type { Deps } from "./deps.ts"
import type { CallContext } from "./inference-request.ts"
import { HoldHeartbeat } from "./upstream/call-timers.ts"
import { DispatchAbort } from "./upstream/dispatch-abort.ts"
import { freeLimitError, isFreeTarget, paidTargets } from "./accounting/free-models.ts"
import { limitError } from "./errors/limit-error.ts"
import { rateLimitError } from "./errors/rate-limit-error.ts"
import { limitsAt, providerHoldsOf, type WithinBudgets, withinBudgets } from "./accounting/provider-budgets.ts"
import { newDraft, requestedModelOf, sessionIdOf } from "./draft.ts"
import { stagesOf, withRoutingMetadata } from "./screening/stages.ts"

/** Step 4: reserves the maximum cost of the call under every limit at once. Fails with 402, 403 or 429. */
export async function placeHold(planned: PlannedCall, deps: Deps): Promise<HeldCall> {
  const { request, meta, caller } = planned
  const { user, bounds } = request
  const pseudonym = user === null ? undefined : await deps.pseudonymOf(`${caller.organizationId}:${user}`)
  const plain = newDraft(draftFieldsOf(planned), meta, caller)
  const granted = await holdFor(planned, plain, deps).catch((rejection: unknown) => {
    throw withRoutingMetadata(rejection, planned, planned.targets)
  })
  const { heldNano, estimateNano, isByok, within, isCountedAsFree } = granted
  const draft = draftFor(plain, isByok)
  const { targets } = within
  const chargeLimitOf = (target: Target) => within.grantOf(target) ?? grantFor(target, heldNano, caller)
  const completionCapOf = (target: Target) => completionCap(target, bounds, chargeLimitOf(target))
  const context = newContext({
    request,
    meta,
    draft,
    chargeLimitOf,
    estimateNano,
    targets,
    deps,
    stages: () => [...stagesOf(planned), ...within.stages],
  })
  return Object.assign(context, {
    completionCapOf,
    pseudonym,
    encoder: request.encoderFor(context),
    heartbeat: new HoldHeartbeat(context),
    heldNano,
    isCountedAsFree,
    limitsAt: (target: Target | undefined) => limitsAt(target, caller),
  })
}

type Grant = {
  heldNano: number
  estimateNano: number
  within: WithinBudgets
  isByok: boolean
  isCountedAsFree: boolean
}

/**
 * The hold of a call and the targets that it covers. If the account or a limit rejects the call, only the targets with
 * a BYOK credential that charge neither remain.
 */
async function holdFor({ targets, request, caller }: PlannedCall, draft: GenerationDraft, deps: Deps): Promise<Grant> {
  const tryHold = async (covered: readonly Target[], isByok: boolean): Promise<Grant> => {
    const costRangeOf = (some: readonly Target[]) =>
      costRangeFor(some, request.bounds, (target) => deps.health.expectedCompletion(targetKey(target)))
    const { estimateNano, estimateTokens, ...amounts } = costRangeOf(covered)
    const providers = providerHoldsOf(covered, caller, costRangeOf)
    const [first] = covered
    const isFree = first !== undefined && isFreeTarget(first, draft.requestedModel)
    if (isFree) await deps.throttleFreeModels()
    const free = isFree ? deps.freeLimits() : undefined
    const limits = rateLimitsOf(caller)
    // A deferred call counts for no concurrency or rate limit: its provider decides when it runs.
    const rates = limits.length > 0 && !deps.deferral ? { limits, tokens: estimateTokens } : undefined
    const takesMaxTokens = draft.apiType === "completions"
    const input = {
      draft: draftFor(draft, isByok),
      wanted: amounts,
      estimateNano,
      caller,
      takesMaxTokens,
      free,
      rates,
      providers,
    }
    const verdict = await hold(input, deps)
    const within = withinBudgets(covered, providers, verdict.providers)
    return { heldNano: verdict.grantedNano, estimateNano, within, isByok, isCountedAsFree: isFree }
  }
  return holdOrByok(targets, tryHold).catch((rejection: unknown) =>
    holdOrByok(paidTargets(targets, draft.requestedModel, rejection), tryHold),
  )
}

type HoldInput = {
  draft: GenerationDraft
  /** Whether `max_tokens` can lower the cost of the call: the error then suggests it. */
  takesMaxTokens: boolean
  wanted: CostRange
  /** Nano-USD to charge if the call is never settled. */
  estimateNano: number
  caller: Caller
  free?: FreeLimits | undefined
  rates?: RateRequest | undefined
  providers?: ProviderHolds | undefined
}

type Granted = { grantedNano: number; providers?: readonly ProviderVerdict[] }

/** Places one hold with the ledger; fails with the error of the limit that rejects it. Nano-USD. */
export async function hold(
  { draft, wanted, estimateNano, caller, takesMaxTokens, free, rates, providers }: HoldInput,
  { ledger, timers }: Pick<Deps, "ledger" | "timers">,
): Promise<Granted> {
  requireFree(caller, wanted, draft.isByok)
  const limits = limitsOf(caller)
  const verdict = await ledger.hold({
    draft,
    wanted,
    estimateNano,
    chargesAccount: !draft.isByok,
    // A call that does not charge the account counts only in limits that include BYOK.
    limits: draft.isByok ? limits.filter(({ includeByok }) => includeByok) : limits,
    ...(free && { free }),
    ...(rates && { rates }),
    ...(providers && { providers }),
    ttlMs: timers.holdTtlMs,
  })
  if (verdict.ok) return verdict
  if ("free" in verdict) throw freeLimitError(verdict.free)
  if ("rate" in verdict) throw rateLimitError(verdict.rate, caller)
  throw limitError(verdict, caller, takesMaxTokens)
}

/** Nano-USD of a grant that a target may use. It bounds a BYOK credential only if a limit includes BYOK. */
export function grantFor({ byok }: Target, heldNano: number, caller: Caller): number {
  return byok && !limitsOf(caller).some(({ includeByok }) => includeByok) ? MAX_NANO : heldNano
}

function draftFor(draft: GenerationDraft, isByok: boolean): GenerationDraft {
  return isByok ? { ...draft, isByok } : draft
}

function draftFieldsOf({ request, meta }: PlannedCall) {
  const { bounds, preparation, apiType, upstream, sessionId, user, trace = null, messages, exported } = request
  return {
    apiType,
    requestedModel: requestedModelOf(request, meta),
    streamed: upstream.streamed,
    sessionId: sessionIdOf(sessionId, meta.sessionId),
    promptEstimate: bounds.promptEstimate,
    user,
    trace,
    hasMessages: messages !== undefined,
    exported,
    ...(preparation?.strategy === "auto" && { router: preparation.requestedModel }),
  }
}

function newContext(facts: Omit<CallContext, "meter" | "servingTarget" | "dispatchAbort" | "metadata">): CallContext {
  const context: CallContext = {
    ...facts,
    meter: newMeter(),
    servingTarget: undefined,
    dispatchAbort: new DispatchAbort(),
    metadata: (attempts) => routingMetadata(context, attempts),
  }
  if (facts.request.messages && storesContent(facts)) context.meter.transcript = { content: "", reasoning: "" }
  abortOnDisconnect(facts.deps.signal, context.dispatchAbort)
  return context
}

/** The signal lives until the settlement is recorded, so its listener must not keep the call in memory. */
function abortOnDisconnect(signal: AbortSignal, dispatchAbort: DispatchAbort): void {
  if (signal.aborted) dispatchAbort.abort()
  else signal.addEventListener("abort", () => dispatchAbort.abort(), { once: true })
}

/** Whether content logging or a destination needs the text of the call. */
function storesContent({ deps, draft }: Pick<CallContext, "deps" | "draft">): boolean {
  return deps.contents?.keeps(draft.id) === true || draft.broadcast?.hasContent === true
}
