import type { ApiKey } from "../../api/types.ts"
import { usd } from "../../format/number.ts"
import { absolute } from "../../format/time.ts"
import type { Tone } from "../../ui/status.tsx"
import { resetAt } from "../../format/windows.ts"

/** Describes whether a key works and, if not, why and until when. */
export function stateOf(key: ApiKey, now: number): { tone: Tone; text: string } {
  if (key.disabled) return { tone: "off", text: "disabled" }
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return { tone: "bad", text: "expired" }
  if (key.limit_remaining !== null && key.limit_remaining <= 0) {
    const until = resetAt(key.limit_reset, now)
    return { tone: "bad", text: until === null ? "limit spent" : `spent until ${absolute(until)}` }
  }
  const limit = effectiveLimit(key)
  if (limit !== null && key.limit_remaining !== null && key.limit_remaining / limit < 0.2)
    return { tone: "warn", text: `works, ${usd(key.limit_remaining)} left` }
  return { tone: "good", text: "works" }
}

/** The limit with its temporary increase; null for none. */
export function effectiveLimit({ limit, limit_increase: increase }: ApiKey): number | null {
  return limit === null ? null : limit + (increase?.amount ?? 0)
}

/** Spend in the window of the key's limit. */
export function spentOf(key: ApiKey): number {
  const charged = { daily: key.usage_daily, weekly: key.usage_weekly, monthly: key.usage_monthly }
  const byok = { daily: key.byok_usage_daily, weekly: key.byok_usage_weekly, monthly: key.byok_usage_monthly }
  const window = key.limit_reset
  const isWindow = window === "daily" || window === "weekly" || window === "monthly"
  const spent = isWindow ? charged[window] : key.usage
  return key.include_byok_in_limit ? spent + (isWindow ? byok[window] : key.byok_usage) : spent
}
