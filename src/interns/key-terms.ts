import type { Principal } from "../access/principal.ts"
import { dailyLimitOf, type KeyLimits, limitOf, remainingUsd } from "../keys/key.ts"
import { type Counters, newCounters } from "../ledger/limits.ts"
import { nanoToUsd, usdToNano } from "../money/money.ts"
import { mayControl, notYours } from "./authority.ts"
import type { Intern, InternChange } from "./schemas.ts"
import type { InternKey, KeyTerms } from "./key-store.ts"
import type { InternColumns } from "./store.ts"
import type { InternRow } from "./table.ts"

type TermsInput = Pick<InternChange, "limit" | "limit_reset" | "daily_limit">

export const TERM_FIELDS = ["limit", "limit_reset", "daily_limit"] as const

/** The terms that a request names, as columns. */
export function toTerms(input: TermsInput): Partial<KeyTerms> {
  const terms: Partial<KeyTerms> = {}
  if (input.limit !== undefined) terms.limitNano = toNano(input.limit)
  if (input.limit_reset !== undefined) terms.limitReset = input.limit_reset
  if (input.daily_limit !== undefined) terms.dailyLimitNano = toNano(input.daily_limit)
  return terms
}

const toNano = (usd: number | null) => (usd === null ? null : usdToNano(usd))

/** The rest of a change: columns of the intern. */
export function toColumns({ name, description, instructions, model }: InternChange): InternColumns {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(instructions !== undefined && { instructions }),
    ...(model !== undefined && { model }),
  }
}

/** Every key of a workspace may change an intern's name or instructions; what it may spend, those who control it. */
export function requireTermsRight(principal: Principal, row: InternRow, terms: Partial<KeyTerms>): void {
  if (Object.keys(terms).length === 0 || mayControl(principal, row)) return
  throw notYours("made this intern")
}

export function toTermFields(key: InternKey): Partial<Intern> {
  return {
    limit: key.limitNano === null ? null : nanoToUsd(key.limitNano),
    limit_reset: key.limitReset,
    daily_limit: key.dailyLimitNano === null ? null : nanoToUsd(key.dailyLimitNano),
  }
}

/** What is spent and left. `counters`: of the key; former keys are added. */
export function toUsageFields(key: InternKey, counters: Counters = newCounters(key.createdAt)): Partial<Intern> {
  const limits: KeyLimits = { ...key, keyHash: key.hash }
  return {
    usage: nanoToUsd(key.spentBeforeNano + counters.total.spent),
    usage_daily: nanoToUsd(counters.daily.spent),
    limit_remaining: remainingUsd(limitOf(limits), counters),
    daily_limit_remaining: remainingUsd(dailyLimitOf(limits), counters),
  }
}
