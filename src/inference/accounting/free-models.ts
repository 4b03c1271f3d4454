import { GatewayError } from "../../errors/errors.ts"
import { isFree } from "../../money/price-list.ts"
import type { FreeLimitExceeded } from "../../ledger/free-requests.ts"
import type { Rejection } from "../../providers/responses/rejection.ts"
import { hasVariant } from "../../routing/names.ts"
import type { Target } from "../../routing/target.ts"
import type { Deps } from "../deps.ts"

/**
 * Limits of requests on free models. A call counts once: with its hold if its first target is free, otherwise when
 * failover reaches a free target, because most calls with a free fallback never use it.
 */

/**
 * Whether a target is a `:free` variant with the gateway's key. Models of providers that charge nothing are not
 * limited.
 */
export function isFreeTarget({ model, endpoint, byok }: Target, requested: string): boolean {
  const isVariant = hasVariant(requested, "free") && endpoint.pricing !== null && isFree(endpoint.pricing)
  return !byok && (model.id.endsWith(":free") || isVariant)
}

const FREE_LIMITS = new Set<unknown>(["free_model_limit", "flood"])

/** The targets that are not free, after a limit of free models. Throws any other rejection, and if no target remains. */
export function paidTargets(targets: readonly Target[], requested: string, rejection: unknown): readonly Target[] {
  const isLimit = rejection instanceof GatewayError && FREE_LIMITS.has(rejection.metadata?.["reason"])
  const paid = isLimit ? targets.filter((target) => !isFreeTarget(target, requested)) : []
  if (paid.length === 0 || paid.length === targets.length) throw rejection
  return paid
}

/** Returns a function that counts the call before its first free target, and rejects that target beyond a limit. */
export function freeTargetCheck(
  { draft, isCountedAsFree }: { draft: { requestedModel: string }; isCountedAsFree: boolean },
  deps: Pick<Deps, "ledger" | "freeLimits" | "throttleFreeModels">,
): (target: Target) => Promise<Rejection | undefined> {
  let isCounted = isCountedAsFree
  let rejection: Rejection | undefined
  return async (target) => {
    if (isCounted || !isFreeTarget(target, draft.requestedModel)) return undefined
    if (rejection) return rejection
    try {
      await deps.throttleFreeModels()
      const exceeded = await deps.ledger.countFreeRequest(deps.freeLimits())
      if (exceeded) throw freeLimitError(exceeded)
      isCounted = true
      return undefined
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      rejection = toRejection(thrown, target)
      return rejection
    }
  }
}

function toRejection(error: GatewayError, { provider }: Target): Rejection {
  const seconds = Number(error.headers?.["retry-after"])
  return {
    provider: provider.name,
    status: null,
    code: error.code,
    message: error.message,
    providerCode: null,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : null,
    retryable: true,
    error,
  }
}

/** A 429 of the gateway. Only this one has the `x-ratelimit-*` headers. */
export function freeLimitError({ limit, resetAt, window }: FreeLimitExceeded): GatewayError {
  const seconds = Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000))
  return new GatewayError(
    "rate_limited",
    `This account may make ${limit} requests a ${window} on free models, and has reached that limit. Retry in ${seconds} seconds, or call a paid model.`,
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
