import { parseScope, workspaceScope } from "../ledger/scopes.ts"
import { ACCOUNT, type Counters, keyScope, type Spent } from "../ledger/limits.ts"
import { type ResetInterval, windowStart } from "../money/windows.ts"
import type { Settled } from "../ledger/generation.ts"
import type { KeySums } from "../usage/store.ts"
import { WINDOWS, type Drift, type Window } from "../ledger/reconciliation.ts"

type Windows = Record<Window, Spent>

/** By the hash of a key, the hashes of the keys that created it: their counters have its generations, too. */
export type Ancestors = ReadonlyMap<string, readonly string[]>

/** The scopes whose counters follow from a generation alone; those of guardrails also from who was under which. */
function scopesOf(keyHash: string, workspaceId: string, ancestors: Ancestors): string[] {
  const keys = [keyHash, ...(ancestors.get(keyHash) ?? [])].map(keyScope)
  return [ACCOUNT, ...keys, workspaceScope(workspaceId)]
}

/** Sums are by key: they do not say which guardrails and providers a call was under. */
const isComparable = (scope: string) => !["guardrail", "provider"].includes(parseScope(scope).kind)

/** Sums of generations by key: those in the database and those in the outbox. */
export function recordedBy(
  sums: readonly KeySums[],
  onTheirWay: readonly Settled[],
  ancestors: Ancestors,
  now: number,
): Map<string, Windows> {
  const recorded = new Map<string, Windows>()
  const add = (scopes: string[], window: Window, spent: number, byok: number) => {
    for (const scope of scopes) {
      const windows = recorded.get(scope) ?? emptyWindows()
      windows[window] = { spent: windows[window].spent + spent, byok: windows[window].byok + byok }
      recorded.set(scope, windows)
    }
  }
  for (const row of sums) {
    const scopes = scopesOf(row.key_hash, row.workspace_id, ancestors)
    for (const window of WINDOWS) add(scopes, window, row[`${window}_spent`], row[`${window}_byok`])
  }
  for (const generation of onTheirWay) {
    const scopes = scopesOf(generation.keyHash, generation.workspaceId, ancestors)
    for (const window of WINDOWS) {
      const isIn = window === "total" || generation.settledAt >= windowStart(window, now)
      if (isIn) add(scopes, window, generation.costNano, generation.byokCostNano)
    }
  }
  return recorded
}

/**
 * Scopes whose counter differs from its generations. A window before the current one, after a clock ran backwards, is
 * skipped.
 */
export function driftsOf(
  charged: ReadonlyMap<string, Counters>,
  recorded: ReadonlyMap<string, Windows>,
  now: number,
): Drift[] {
  const drifts: Drift[] = []
  for (const scope of new Set([...charged.keys(), ...recorded.keys()])) {
    if (!isComparable(scope)) continue
    const [counters, records] = [charged.get(scope), recorded.get(scope) ?? emptyWindows()]
    for (const window of WINDOWS) {
      if (counters && window !== "total" && counters[window].start !== windowStart(window, now)) continue
      for (const measure of ["spent", "byok"] as const) {
        const [chargedNano, recordedNano] = [counters?.[window][measure] ?? 0, records[window][measure]]
        if (chargedNano !== recordedNano) {
          drifts.push({ scope, window, measure, chargedNano, recordedNano, isRepaired: false })
        }
      }
    }
  }
  return drifts
}

/**
 * A counter below its generations has lost a charge and is raised. A counter above them is lowered only if requested.
 */
export function mayRepair({ chargedNano, recordedNano }: Drift, lowers: boolean): boolean {
  return chargedNano < recordedNano || lowers
}

/** Adds the difference, not the sum: calls went on being charged while the two were compared. */
export function repaired(counters: Counters, { window, measure, chargedNano, recordedNano }: Drift): Counters {
  const before = counters[window]
  return { ...counters, [window]: { ...before, [measure]: before[measure] + recordedNano - chargedNano } }
}

function emptyWindows(): Windows {
  const nothing = { spent: 0, byok: 0 }
  const intervals: Record<ResetInterval, Spent> = { daily: nothing, weekly: nothing, monthly: nothing }
  return { total: nothing, ...intervals }
}
