import type * as z from "zod"
import { hashKey, newKey, toLabel } from "../access/key.ts"
import type { Principal, KeyKind } from "../access/principal.ts"
import { type Counters, keyScope, type Limit, newCounters, remaining } from "../ledger/limits.ts"
import { formatUsd, nanoToUsd, usdToNano } from "../money/money.ts"
import { GatewayError } from "../errors/errors.ts"
import { toTimestamp } from "../support/time.ts"
import type { ApiKey, ApiKeyChange, NewApiKey } from "./schemas.ts"
import { parentOf } from "./lineage.ts"
import type { KeyChange, KeyRow } from "./store.ts"

/** What each kind of key may mint: never a kind that may do more than itself. */
const MINTS: Record<KeyKind, readonly KeyKind[]> = {
  management: ["normal", "management", "provisioning", "free_tier"],
  provisioning: ["normal", "free_tier"],
  normal: [],
  free_tier: [],
}

export function mayMint(minter: KeyKind, kind: KeyKind): boolean {
  return MINTS[minter].includes(kind)
}

/** A new key as the minter asked for it, or a refusal where it would exceed the minter. */
export function mintKey(
  input: NewApiKey,
  minter: Principal,
  workspaceId: string,
  now: number,
): { secret: string | undefined; row: KeyRow } {
  const kind = input.kind ?? "normal"
  if (!mayMint(minter.kind, kind)) {
    throw new GatewayError("forbidden", `A ${minter.kind} key cannot create a ${kind} key.`)
  }
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
  const brought = input.external?.api_key
  const made = brought === undefined ? newKey() : { hash: hashKey(brought), label: toLabel(brought) }
  return {
    secret: "secret" in made ? made.secret : undefined,
    row: {
      hash: made.hash,
      organization_id: minter.organizationId,
      workspace_id: workspaceId,
      kind,
      name: input.name,
      label: made.label,
      creator_user_id: input.creator_user_id ?? minter.creatorUserId,
      external_user: input.external?.user ?? null,
      limit_nano: limitNano,
      limit_reset: limitReset,
      include_byok_in_limit: input.include_byok_in_limit ? 1 : 0,
      disabled: 0,
      expires_at: expiresAt,
      created_at: now,
      updated_at: null,
      parent_hash: parentOf(minter),
      source: "created",
      disabled_by: null,
    },
  }
}

type Cap = Pick<Principal, "limitNano" | "limitReset" | "includeByokInLimit">

/** From the most that a cap allows over time to the least: a cap that never resets is the tightest. */
const RESETS = ["daily", "weekly", "monthly", null]

/** A cap that a key with a cap of its own makes or changes must be no wider than that. */
export function requireWithin(maker: Cap, made: Cap): void {
  if (maker.limitNano === null) return
  const most = formatUsd(maker.limitNano)
  if (made.limitNano === null || made.limitNano > maker.limitNano) {
    throw new GatewayError("forbidden", `limit: this key may set a limit of at most ${most} USD.`)
  }
  if (RESETS.indexOf(made.limitReset) < RESETS.indexOf(maker.limitReset)) {
    const own = maker.limitReset ?? "null"
    throw new GatewayError(
      "forbidden",
      `limit_reset: this key's own limit resets less often: set ${own}, or less often still.`,
    )
  }
  if (maker.includeByokInLimit && !made.includeByokInLimit) {
    throw new GatewayError("forbidden", "include_byok_in_limit: must be true, as it is for this key.")
  }
}

function capOf(row: Pick<KeyRow, "limit_nano" | "limit_reset" | "include_byok_in_limit">): Cap {
  return {
    limitNano: row.limit_nano,
    limitReset: row.limit_reset,
    includeByokInLimit: row.include_byok_in_limit === 1,
  }
}

const CAP_COLUMNS = ["limit_nano", "limit_reset", "include_byok_in_limit"] as const

/**
 * Throws 403 where a change would let a key do more than the caller may give. A caller with a limit sets limits within
 * its own on keys that it created; those of other keys, which its limit does not cover, it can only lower. A
 * provisioning key does not enable what a management key disabled.
 */
export function requireChangeWithin(principal: Principal, row: KeyRow, isDescendant: boolean, change: KeyChange): void {
  if (CAP_COLUMNS.some((column) => column in change) && principal.limitNano !== null) {
    const after = capOf({ ...row, ...change })
    requireWithin(principal, after)
    if (!isDescendant) requireWithin(capOf(row), after)
  }
  const isEnabled = row.disabled === 1 && change.disabled === 0
  if (isEnabled && principal.kind !== "management" && row.disabled_by !== "provisioning") {
    throw new GatewayError(
      "forbidden",
      "disabled: a management key disabled this key. Only a management key enables it.",
    )
  }
}

/** What the audit log tells of a key that is made or changed: all of a body but a key of the caller's own making. */
export const TOLD_FIELDS = [
  "name",
  "kind",
  "disabled",
  "limit",
  "limit_reset",
  "include_byok_in_limit",
  "expires_at",
  "creator_user_id",
]

/** A change as columns. */
export function toKeyChange(input: ApiKeyChange, principal: Principal, row: KeyRow): KeyChange {
  const change: KeyChange = {}
  if (input.name !== undefined) change.name = input.name
  if (input.disabled !== undefined) change.disabled = input.disabled ? 1 : 0
  // What a management key disabled stays so, whoever disables it once more.
  const by = principal.kind === "management" || row.disabled_by === "management" ? "management" : "provisioning"
  const stays = row.disabled === 1 && input.disabled === true && principal.kind !== "management"
  if (input.disabled !== undefined && !stays) change.disabled_by = input.disabled ? by : null
  if (input.include_byok_in_limit !== undefined) change.include_byok_in_limit = input.include_byok_in_limit ? 1 : 0
  if (input.limit_reset !== undefined) change.limit_reset = input.limit_reset
  if (input.limit !== undefined) change.limit_nano = input.limit === null ? null : usdToNano(input.limit)
  return change
}

/** The cap of a key as the ledger checks it, or undefined for a key without one. */
export function limitOf(
  key: Pick<Principal, "keyHash" | "limitNano" | "limitReset" | "includeByokInLimit">,
): Limit | undefined {
  if (key.limitNano === null) return undefined
  const { keyHash, limitNano, limitReset, includeByokInLimit } = key
  return { scope: keyScope(keyHash), limitNano, interval: limitReset, includeByok: includeByokInLimit }
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

export function limitFields(limit: Limit | undefined, counters: Counters) {
  return {
    limit: limit ? nanoToUsd(limit.limitNano) : null,
    limit_remaining: limit ? nanoToUsd(Math.max(0, remaining(limit, counters))) : null,
    limit_reset: limit?.interval ?? null,
  }
}

export function toApiKey(row: KeyRow, counters: Counters = newCounters(row.created_at)): z.infer<typeof ApiKey> {
  const limit = limitOf({
    keyHash: row.hash,
    limitNano: row.limit_nano,
    limitReset: row.limit_reset,
    includeByokInLimit: row.include_byok_in_limit === 1,
  })
  return {
    hash: row.hash,
    name: row.name,
    label: row.label,
    kind: row.kind,
    disabled: row.disabled === 1,
    ...limitFields(limit, counters),
    limit_reset: row.limit_reset,
    include_byok_in_limit: row.include_byok_in_limit === 1,
    ...usageFields(counters),
    workspace_id: row.workspace_id,
    creator_user_id: row.creator_user_id,
    external_user: row.external_user,
    parent_hash: row.parent_hash,
    source: row.source,
    expires_at: row.expires_at === null ? null : toTimestamp(row.expires_at),
    created_at: toTimestamp(row.created_at),
    updated_at: row.updated_at === null ? null : toTimestamp(row.updated_at),
  }
}
