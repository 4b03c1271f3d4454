import { partsAtProviders } from "../ledger/provider-limits.ts"
import { workspaceScope } from "../ledger/scopes.ts"
import { ACCOUNT, type Counters, keyScope, type Spent } from "../ledger/limits.ts"
import { type ResetInterval, windowStart } from "../money/windows.ts"
import type { Settled } from "../ledger/generation.ts"
import type { ScopeSums } from "../usage/scope-store.ts"
import type { KeySums } from "../usage/store.ts"
import type { WindowSums } from "../usage/sums.ts"
import { WINDOWS, type Drift, type Window } from "../ledger/reporting/reconciliation.ts"

type Windows = Record<Window, Spent>

/** Other keys by key hash: their counters include the key's generations. */
export type CountedKeys = ReadonlyMap<string, readonly string[]>

/** The scopes that every call of a key counts in. */
function scopesOf(keyHash: string, workspaceId: string, countedKeys: CountedKeys): string[] {
  const keys = [keyHash, ...(countedKeys.get(keyHash) ?? [])].map(keyScope)
  return [ACCOUNT, ...keys, workspaceScope(workspaceId)]
}

/** Sums of an organization's generations. */
export type Sums = {
  /** Sums of the generations in the database, by key. */
  keys: readonly KeySums[]
  /** Sums of the same generations, by guardrail and provider. */
  scopes: readonly ScopeSums[]
  /** Counted under these scopes before generations named them. */
  opening: ReadonlyMap<string, Counters>
  /** Generations in the outbox. */
  undelivered: readonly Settled[]
}

/** The sum of each scope. */
export function sumsByScope(
  { keys, scopes, opening, undelivered }: Sums,
  countedKeys: CountedKeys,
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
  const addRow = (scopeNames: string[], row: WindowSums) => {
    for (const window of WINDOWS) add(scopeNames, window, row[`${window}_spent`], row[`${window}_byok`])
  }
  for (const row of keys) addRow(scopesOf(row.key_hash, row.workspace_id, countedKeys), row)
  for (const row of scopes) addRow([row.scope], row)
  for (const [scope, counters] of opening) {
    for (const window of WINDOWS) add([scope], window, counters[window].spent, counters[window].byok)
  }
  for (const generation of undelivered) {
    const { keyHash, workspaceId, settledAt, costNano, byokCostNano } = generation
    const countedScopes = [...scopesOf(keyHash, workspaceId, countedKeys), ...(generation.countedIn ?? [])]
    for (const window of WINDOWS) {
      if (window !== "total" && settledAt < windowStart(window, now)) continue
      add(countedScopes, window, costNano, byokCostNano)
      // A generation without scopes is included in the opening.
      const parts = generation.countedIn ? partsAtProviders(generation) : []
      for (const [scope, { spent, byok }] of parts) add([scope], window, spent, byok)
    }
  }
  return recorded
}

/**
 * Scopes whose counter differs from its generations. Skips windows before the current one, which a clock that ran
 * backwards can cause.
 */
export function driftsOf(
  charged: ReadonlyMap<string, Counters>,
  recorded: ReadonlyMap<string, Windows>,
  now: number,
): Drift[] {
  const drifts: Drift[] = []
  for (const scope of new Set([...charged.keys(), ...recorded.keys()])) {
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

/** Adds the difference, not the sum: calls were charged while the two were compared. */
export function repairCounters(counters: Counters, { window, measure, chargedNano, recordedNano }: Drift): Counters {
  const before = counters[window]
  return { ...counters, [window]: { ...before, [measure]: before[measure] + recordedNano - chargedNano } }
}

function emptyWindows(): Windows {
  const nothing = { spent: 0, byok: 0 }
  const intervals: Record<ResetInterval, Spent> = { daily: nothing, weekly: nothing, monthly: nothing }
  return { total: nothing, ...intervals }
}
