import type { LimitIncrease, Principal } from "../access/principal.ts"
import { GatewayError } from "../errors/errors.ts"
import { nanoToUsd, usdToNano } from "../money/money.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { ApiKeyChange } from "./schemas.ts"
import type { KeyChange } from "./store.ts"
import type { KeyRow } from "./table.ts"

const MAX_DAYS = 366
const MAX_MS = MAX_DAYS * 24 * 60 * 60 * 1_000

/** Nano-USD that an increase adds to a limit now; 0 after its end. */
export function increaseNano(increase: LimitIncrease | null, now: number): number {
  return increase !== null && increase.until > now ? increase.nano : 0
}

/** As the API returns it; null after its end. */
export function toIncrease(increase: LimitIncrease | null, now: number): { amount: number; expires_at: string } | null {
  if (increase === null || increase.until <= now) return null
  return { amount: nanoToUsd(increase.nano), expires_at: toTimestamp(increase.until) }
}

/**
 * The change of a key with the requested increase of its limit. A key without a limit has no increase. Throws 403 for a
 * principal with a limit, which could raise it by keys that it created.
 */
export function withIncrease(
  change: KeyChange,
  input: ApiKeyChange,
  { principal, row, now }: { principal: Pick<Principal, "limitNano">; row: KeyRow; now: number },
): KeyChange {
  const { limit_increase: requested } = input
  const limitNano = change.limitNano === undefined ? row.limitNano : change.limitNano
  if (!requested) {
    const isEnded = requested === null || change.limitNano === null
    return isEnded ? { ...change, limitIncrease: null } : change
  }
  if (principal.limitNano !== null) {
    throw new GatewayError("forbidden", "limit_increase: only a key without a limit may increase limits.")
  }
  if (limitNano === null) {
    throw new GatewayError("invalid_request", "limit_increase: this key has no limit; set limit, too.")
  }
  const until = Date.parse(requested.expires_at)
  if (until <= now || until > now + MAX_MS) {
    const rule = `limit_increase.expires_at: must be in the future, at most ${MAX_DAYS} days from now.`
    throw new GatewayError("invalid_request", rule)
  }
  return { ...change, limitIncrease: { nano: usdToNano(requested.amount), until } }
}
