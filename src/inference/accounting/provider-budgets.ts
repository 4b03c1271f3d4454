import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import type { Limit, CostRange } from "../../ledger/limits.ts"
import {
  providerOf,
  type ProviderHold,
  type ProviderHolds,
  type ProviderVerdict,
} from "../../ledger/provider-limits.ts"
import { formatUsd } from "../../money/money.ts"
import { type Caller, limitsOf } from "../../policy/call-policy.ts"
import type { Target } from "../../routing/target.ts"

/** Provider budgets of a call. */

/** The provider limits that a target counts in; empty if there are none. */
export function providerLimitsOf({ provider, byok }: Target, { providerBudgets }: Caller): readonly Limit[] {
  const limits = providerBudgets?.get(provider.slug)
  return (byok ? limits?.byok : limits?.gateway) ?? []
}

/** All limits except the balance that a call counts in if this target serves it. */
export function limitsAt(target: Target | undefined, caller: Caller): readonly Limit[] {
  const limits = limitsOf(caller)
  const added = target ? providerLimitsOf(target, caller) : []
  return added.length > 0 ? [...limits, ...added] : limits
}

/** Holds under the budgets of the targets' providers; undefined if none of them has a budget. */
export function providerHoldsOf(
  targets: readonly Target[],
  caller: Caller,
  costRangeOf: (some: readonly Target[]) => CostRange,
): ProviderHolds | undefined {
  if (caller.providerBudgets === null) return undefined
  const groups = new Map<string, Target[]>()
  const others: Target[] = []
  for (const target of targets) {
    if (providerLimitsOf(target, caller).length === 0) others.push(target)
    else groups.set(groupOf(target), [...(groups.get(groupOf(target)) ?? []), target])
  }
  // Sorted, so that calls with the same candidates share a lease.
  const limited = [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => toHold(group, caller, costRangeOf))
  return limited.length > 0 ? { limited, others: others.length > 0 ? costRangeOf(others) : null } : undefined
}

function toHold(
  group: readonly Target[],
  caller: Caller,
  costRangeOf: (some: readonly Target[]) => CostRange,
): ProviderHold {
  const [first] = group
  const { leastNano, mostNano } = costRangeOf(group)
  return {
    provider: first?.provider.slug ?? "",
    isByok: first?.byok !== undefined,
    limits: first ? providerLimitsOf(first, caller) : [],
    wanted: { leastNano, mostNano },
  }
}

const groupOf = ({ provider, byok }: Target) => groupName(provider.slug, byok !== undefined)
const groupName = (provider: string, isByok: boolean): string => (isByok ? `${provider} byok` : provider)

/** The targets that remain under provider budgets. */
export type WithinBudgets = {
  targets: readonly Target[]
  /** Nano-USD that a target may use under its provider's budgets; undefined if they do not bound it. */
  grantOf: (target: Target) => number | undefined
  /** Why targets were removed, for routing metadata. */
  stages: readonly PipelineStage[]
}

/** `verdicts`: from the ledger, in the order of `holds`; absent if every provider budget covers its targets. */
export function withinBudgets(
  targets: readonly Target[],
  holds: ProviderHolds | undefined,
  verdicts: readonly ProviderVerdict[] | undefined,
): WithinBudgets {
  if (!holds || !verdicts) return { targets, grantOf: () => undefined, stages: [] }
  const decided = new Map(
    holds.limited.map(({ provider, isByok }, at) => [groupName(provider, isByok), verdicts[at]?.verdict] as const),
  )
  const rejected = verdicts.filter(({ verdict }) => !verdict.ok)
  return {
    targets: targets.filter((target) => decided.get(groupOf(target))?.ok !== false),
    grantOf: (target) => {
      const verdict = decided.get(groupOf(target))
      return verdict?.ok ? verdict.grantedNano : undefined
    },
    stages: rejected.length > 0 ? [toStage(rejected)] : [],
  }
}

function toStage(rejected: readonly ProviderVerdict[]): PipelineStage {
  const skipped = rejected.flatMap(({ scope, verdict }) =>
    verdict.ok ? [] : [{ provider: providerOf(scope) ?? scope, interval: verdict.interval ?? "lifetime", verdict }],
  )
  const each = skipped.map(
    ({ provider, interval, verdict }) =>
      `${provider} skipped, ${formatUsd(verdict.remainingNano)} USD are left of its ${interval} budget`,
  )
  return {
    type: "plugin",
    name: "provider-budget",
    summary: each.join("; "),
    data: { reason: "provider_budget", providers: [...new Set(skipped.map(({ provider }) => provider))] },
  }
}
