import type { Ancestor, Principal } from "../../access/principal.ts"
import { dailyLimitOf, type KeyLimits, limitOf, remainingUsd } from "../../keys/key.ts"
import { type Counters, newCounters } from "../../ledger/limits.ts"
import { nanoToUsd, usdToNano } from "../../money/money.ts"
import { includesPattern, type ToolPatterns } from "../../support/mcp-tools.ts"
import { mayControl, noControlError } from "./authority.ts"
import type { Intern, InternChange } from "../schemas.ts"
import type { InternKey, KeyTerms } from "./key-store.ts"
import { internError } from "../lifecycle/reasons.ts"
import type { InternColumns } from "../store.ts"
import type { InternRow } from "../table.ts"

type TermsInput = Pick<InternChange, "limit" | "limit_reset" | "daily_limit" | "mcp_tools">

export const TERM_FIELDS = ["limit", "limit_reset", "daily_limit", "mcp_tools"] as const

/** The terms in a request as columns. */
export function toTerms(input: TermsInput): Partial<KeyTerms> {
  const terms: Partial<KeyTerms> = {}
  if (input.limit !== undefined) terms.limitNano = toNano(input.limit)
  if (input.limit_reset !== undefined) terms.limitReset = input.limit_reset
  if (input.daily_limit !== undefined) terms.dailyLimitNano = toNano(input.daily_limit)
  if (input.mcp_tools !== undefined) terms.mcpTools = input.mcp_tools
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

/** Every key of a workspace may change an intern's name or instructions; its limits need control of the intern. */
export function requireTermsRight(principal: Principal, row: InternRow, terms: Partial<KeyTerms>): void {
  if (Object.keys(terms).length === 0 || mayControl(principal, row)) return
  throw noControlError("created this intern")
}

/**
 * A key can only grant tools that it has itself, except management keys, and only tools that the key which created the
 * intern has. `maker`: that key; undefined if it belongs to the organization.
 */
export function requireToolsRight(
  principal: Pick<Principal, "kind" | "mcpTools">,
  creator: Pick<Ancestor, "mcpTools"> | undefined,
  tools: KeyTerms["mcpTools"] | undefined,
): void {
  const lacks = (list: ToolPatterns | null) => tools?.find((pattern) => !includesPattern(list ?? [], pattern))
  const foreign = principal.kind === "management" ? undefined : lacks(principal.mcpTools)
  if (foreign !== undefined) {
    throw internError("forbidden", `mcp_tools: this key has no ${foreign} in its own mcp_tools, so it cannot give it.`)
  }
  const excess = creator && lacks(creator.mcpTools)
  if (excess === undefined) return
  throw internError(
    "forbidden",
    `mcp_tools: the key that created this intern has no ${excess} in its mcp_tools. Give it to that key first.`,
  )
}

export function toTermFields(key: InternKey): Partial<Intern> {
  return {
    limit: key.limitNano === null ? null : nanoToUsd(key.limitNano),
    limit_reset: key.limitReset,
    daily_limit: key.dailyLimitNano === null ? null : nanoToUsd(key.dailyLimitNano),
    mcp_tools: key.mcpTools,
  }
}

/** Spent and remaining amounts. `counters`: those that the key counts in. */
export function toUsageFields(key: InternKey, counters: Counters = newCounters(key.createdAt)): Partial<Intern> {
  const limits: KeyLimits = { ...key, keyHash: key.hash }
  return {
    usage: nanoToUsd(key.spentBeforeNano + counters.total.spent),
    usage_daily: nanoToUsd(counters.daily.spent),
    limit_remaining: remainingUsd(limitOf(limits), counters),
    daily_limit_remaining: remainingUsd(dailyLimitOf(limits), counters),
  }
}
