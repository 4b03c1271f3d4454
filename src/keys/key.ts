import type * as z from "zod"
import { hashKey, newKey, toLabel } from "../access/key.ts"
import type { Principal, KeyKind } from "../access/principal.ts"
import { type Counters, keyScope, type Limit, newCounters, remaining } from "../ledger/limits.ts"
import { RATE_NAMES, toRateFields } from "../ledger/rate-schemas.ts"
import { formatUsd, nanoToUsd, usdToNano } from "../money/money.ts"
import { GatewayError } from "../errors/errors.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { ApiKey, ApiKeyChange, NewApiKey } from "./schemas.ts"
import { increaseNano, toIncrease } from "./limit-increase.ts"
import type { LimitTerms } from "./limit-terms.ts"
import { parentOf } from "./lineage.ts"
import type { KeyChange } from "./store.ts"
import type { KeyRow, NewKeyRow } from "./table.ts"

/** Kinds of keys that each kind may mint: never one with more rights. */
const MINTS: Record<KeyKind, readonly KeyKind[]> = {
  management: ["normal", "management", "provisioning", "free_tier"],
  provisioning: ["normal", "free_tier"],
  normal: [],
  free_tier: [],
}

export function mayMint(minter: KeyKind, kind: KeyKind): boolean {
  return MINTS[minter].includes(kind)
}

/** A new key as requested. Throws if it would exceed the rights of the key that creates it. */
export function mintKey(
  input: NewApiKey,
  minter: Principal,
  workspaceId: string,
  now: number,
): { secret: string | undefined; row: NewKeyRow } {
  const kind = input.kind ?? "normal"
  if (!mayMint(minter.kind, kind)) {
    throw new GatewayError("forbidden", `A ${minter.kind} key cannot create a ${kind} key.`)
  }
  requireMcpGrant(minter, input.mcp_tools)
  const limitNano = input.limit == null ? null : usdToNano(input.limit)
  const limitReset = input.limit_reset ?? null
  requireWithin(minter, { limitNano, limitReset, includeByokInLimit: input.include_byok_in_limit ?? false })
  const expiresAt = input.expires_at == null ? null : Date.parse(input.expires_at)
  if (expiresAt !== null && expiresAt <= now) {
    throw new GatewayError("invalid_request", "expires_at: must be in the future.")
  }
  if (minter.expiresAt !== null && (expiresAt === null || expiresAt > minter.expiresAt)) {
    const latest = toTimestamp(minter.expiresAt)
    throw new GatewayError("forbidden", `expires_at: this key may create keys that expire by ${latest}.`)
  }
  const importedKey = input.external?.api_key
  const credential = importedKey === undefined ? newKey() : { hash: hashKey(importedKey), label: toLabel(importedKey) }
  return {
    secret: "secret" in credential ? credential.secret : undefined,
    row: {
      hash: credential.hash,
      organizationId: minter.organizationId,
      workspaceId,
      kind,
      name: input.name,
      label: credential.label,
      creatorUserId: input.creator_user_id ?? minter.creatorUserId,
      externalUser: input.external?.user ?? null,
      limitNano,
      limitReset,
      includeByokInLimit: input.include_byok_in_limit ?? false,
      requestsPerMinute: input.requests_per_minute ?? null,
      tokensPerMinute: input.tokens_per_minute ?? null,
      concurrentRequests: input.concurrent_requests ?? null,
      overBudgetModels: input.over_budget_models ?? null,
      mcpTools: input.mcp_tools ?? null,
      expiresAt,
      createdAt: now,
      parentHash: parentOf(minter),
      source: "created",
    },
  }
}

/** Tools of MCP servers cost money and have effects: only a management key allows them. Any minter may remove them. */
export function requireMcpGrant({ kind }: Pick<Principal, "kind">, tools: readonly string[] | null | undefined): void {
  if (kind === "management" || !tools || tools.length === 0) return
  throw new GatewayError("forbidden", "mcp_tools: only a management key may allow tools of MCP servers.")
}

type Cap = Pick<Principal, "limitNano" | "limitReset" | "includeByokInLimit">

/** From the widest cap over time to the tightest, which never resets. */
const RESETS = ["daily", "weekly", "monthly", null]

/** A cap that is set by a key with a cap must not be wider than that. */
export function requireWithin(creator: Cap, created: Cap): void {
  if (creator.limitNano === null) return
  const maxUsd = formatUsd(creator.limitNano)
  if (created.limitNano === null || created.limitNano > creator.limitNano) {
    throw new GatewayError("forbidden", `limit: this key may set a limit of at most ${maxUsd} USD.`)
  }
  if (RESETS.indexOf(created.limitReset) < RESETS.indexOf(creator.limitReset)) {
    const creatorReset = creator.limitReset ?? "null"
    throw new GatewayError(
      "forbidden",
      `limit_reset: this key's own limit resets less often: set ${creatorReset} or a longer interval.`,
    )
  }
  if (creator.includeByokInLimit && !created.includeByokInLimit) {
    throw new GatewayError("forbidden", "include_byok_in_limit: must be true, as it is for this key.")
  }
}

const CAP_COLUMNS = ["limitNano", "limitReset", "includeByokInLimit"] as const

/**
 * Throws 403 if a change would give a key more than the principal may give. A principal with a limit sets limits within
 * its own on keys that it created; for other keys, which its limit does not cover, it can only lower them, and their
 * rate limits. A provisioning key does not enable a key that a management key disabled.
 */
export function requireChangeWithin(principal: Principal, row: KeyRow, isDescendant: boolean, change: KeyChange): void {
  if (CAP_COLUMNS.some((column) => column in change) && principal.limitNano !== null) {
    const after = { ...row, ...change }
    requireWithin(principal, after)
    if (!isDescendant) requireWithin(row, after)
  }
  if (principal.limitNano !== null && !isDescendant) requireLowerRates(row, change)
  const isEnabled = row.disabled && change.disabled === false
  if (isEnabled && !mayEnable(principal.kind, row)) {
    throw new GatewayError(
      "forbidden",
      "disabled: a management key disabled this key. Only a management key enables it.",
    )
  }
}

/** Whether a key of this kind may make a disabled key, or one that replaces it, work again. */
export function mayEnable(kind: KeyKind, { disabledBy }: Pick<KeyRow, "disabledBy">): boolean {
  return kind === "management" || (kind === "provisioning" && disabledBy === "provisioning")
}

const RATE_COLUMNS = {
  requestsPerMinute: "requests_per_minute",
  tokensPerMinute: "tokens_per_minute",
  concurrentRequests: "concurrent_requests",
} as const

function requireLowerRates(row: KeyRow, change: KeyChange): void {
  for (const column of Object.keys(RATE_COLUMNS) as (keyof typeof RATE_COLUMNS)[]) {
    const { [column]: before } = row
    const { [column]: after } = change
    if (before === null || after === undefined || (after !== null && after <= before)) continue
    const rule = `${RATE_COLUMNS[column]}: this key may only lower the limit of ${before} of a key that it did not create.`
    throw new GatewayError("forbidden", rule)
  }
}

/** Fields whose values the audit log records. A key chosen by the client is not among them. */
export const AUDITED_FIELDS = [
  "name",
  "kind",
  "disabled",
  "limit",
  "limit_reset",
  "limit_increase",
  "include_byok_in_limit",
  ...RATE_NAMES,
  "over_budget_models",
  "mcp_tools",
  "expires_at",
  "creator_user_id",
]

/** A change as column values. */
export function toKeyChange(input: ApiKeyChange, principal: Principal, row: KeyRow): KeyChange {
  const change: KeyChange = {}
  if (input.name !== undefined) change.name = input.name
  if (input.disabled !== undefined) change.disabled = input.disabled
  // A key that a management key disabled stays disabled by management, even if another key disables it again.
  const by = principal.kind === "management" || row.disabledBy === "management" ? "management" : "provisioning"
  const stays = row.disabled && input.disabled === true && principal.kind !== "management"
  if (input.disabled !== undefined && !stays) change.disabledBy = input.disabled ? by : null
  if (input.include_byok_in_limit !== undefined) change.includeByokInLimit = input.include_byok_in_limit
  if (input.limit_reset !== undefined) change.limitReset = input.limit_reset
  if (input.requests_per_minute !== undefined) change.requestsPerMinute = input.requests_per_minute
  if (input.tokens_per_minute !== undefined) change.tokensPerMinute = input.tokens_per_minute
  if (input.concurrent_requests !== undefined) change.concurrentRequests = input.concurrent_requests
  if (input.over_budget_models !== undefined) change.overBudgetModels = input.over_budget_models
  if (input.mcp_tools !== undefined) change.mcpTools = input.mcp_tools
  if (input.limit !== undefined) change.limitNano = input.limit === null ? null : usdToNano(input.limit)
  return change
}

export type KeyLimits = Pick<Principal, "keyHash" | keyof LimitTerms>

type CountedKey = Pick<Principal, "keyHash" | "counterHash">

/** The key whose counters this key continues. */
export function counterHashOf({ keyHash, counterHash }: CountedKey): string {
  return counterHash ?? keyHash
}

/** The scope in which the limits of a key count. */
export function counterScope(key: CountedKey): string {
  return keyScope(counterHashOf(key))
}

/** The cap of a key now, in the form of the ledger; undefined without one. */
export function limitOf(key: KeyLimits, now = Date.now()): Limit | undefined {
  const { limitReset: interval, includeByokInLimit: includeByok, spentBeforeNano } = key
  if (key.limitNano === null) return undefined
  const limitNano = key.limitNano + increaseNano(key.limitIncrease, now)
  const remainingNano = interval === null ? Math.max(0, limitNano - spentBeforeNano) : limitNano
  return { scope: counterScope(key), limitNano: remainingNano, interval, includeByok }
}

export function dailyLimitOf(key: KeyLimits): Limit | undefined {
  const { dailyLimitNano: limitNano, includeByokInLimit: includeByok } = key
  if (limitNano === null) return undefined
  return { scope: counterScope(key), limitNano, interval: "daily", includeByok }
}

/** Both caps of a key. */
export function limitsOfKey(key: KeyLimits): Limit[] {
  return [limitOf(key), dailyLimitOf(key)].filter((limit) => limit !== undefined)
}

export function usageFields(counters: Counters) {
  return {
    usage: nanoToUsd(counters.total.spent),
    usage_daily: nanoToUsd(counters.daily.spent),
    usage_weekly: nanoToUsd(counters.weekly.spent),
    usage_monthly: nanoToUsd(counters.monthly.spent),
    byok_usage: nanoToUsd(counters.total.byok),
    byok_usage_daily: nanoToUsd(counters.daily.byok),
    byok_usage_weekly: nanoToUsd(counters.weekly.byok),
    byok_usage_monthly: nanoToUsd(counters.monthly.byok),
  }
}

export function limitFields(key: KeyLimits, counters: Counters) {
  return {
    limit: key.limitNano === null ? null : nanoToUsd(key.limitNano),
    limit_remaining: remainingUsd(limitOf(key), counters),
    limit_reset: key.limitNano === null ? null : key.limitReset,
    limit_increase: toIncrease(key.limitIncrease, Date.now()),
  }
}

export function remainingUsd(limit: Limit | undefined, counters: Counters): number | null {
  return limit ? nanoToUsd(Math.max(0, remaining(limit, counters))) : null
}

/** How much a key has spent, and when its latest recorded call ended. */
export type KeyUse = { counters: Counters | undefined; lastUsedAt: number | undefined }

const UNUSED: KeyUse = { counters: undefined, lastUsedAt: undefined }

export function toApiKey(row: KeyRow, { counters: known, lastUsedAt }: KeyUse = UNUSED): z.infer<typeof ApiKey> {
  const counters = known ?? newCounters(row.createdAt)
  return {
    hash: row.hash,
    name: row.name,
    label: row.label,
    kind: row.kind,
    disabled: row.disabled,
    ...limitFields({ ...row, keyHash: row.hash }, counters),
    limit_reset: row.limitReset,
    include_byok_in_limit: row.includeByokInLimit,
    ...toRateFields(row),
    over_budget_models: row.overBudgetModels,
    mcp_tools: row.mcpTools,
    ...usageFields(counters),
    workspace_id: row.workspaceId,
    creator_user_id: row.creatorUserId,
    external_user: row.externalUser,
    parent_hash: row.parentHash,
    source: row.source,
    expires_at: row.expiresAt === null ? null : toTimestamp(row.expiresAt),
    created_at: toTimestamp(row.createdAt),
    updated_at: row.updatedAt === null ? null : toTimestamp(row.updatedAt),
    last_used_at: lastUsedAt === undefined ? null : toTimestamp(lastUsedAt),
  }
}
