import type { Generation } from "./generation.ts"
import { type Counters, decideHold, type Limit, type Spent, type Verdict, type CostRange } from "./limits.ts"

/**
 * Limits of one provider. A call may have several candidates, so its hold is placed under the limits of each of their
 * providers; candidates whose provider has too little left are removed from the call. Pure.
 */

/** Candidates of one provider, with gateway keys or with BYOK credentials, and the amounts they need. */
export type ProviderHold = { provider: string; isByok: boolean; limits: readonly Limit[]; wanted: CostRange }

/** `others`: amounts for candidates without provider limits; null if there are none. */
export type ProviderHolds = { limited: readonly ProviderHold[]; others: CostRange | null }

/** Result of one `ProviderHold`. `scope`: scope of the provider. */
export type ProviderVerdict = { scope: string; verdict: Verdict }

type State = { countersOf: (scope: string) => Counters; heldOf: (scope: string) => number }

/**
 * Decides a hold under the limits of a call and of its providers. It covers the most expensive remaining candidate, and
 * fails if none remains or a limit of the call rejects it. `providers` are in the order of the request.
 */
export function decideWithProviders(
  { limited, others }: ProviderHolds,
  limits: readonly Limit[],
  { countersOf, heldOf }: State,
): { verdict: Verdict; providers: ProviderVerdict[] } {
  const providers = limited.map((one) => {
    return { scope: providerScope(one.provider), verdict: decideHold(one.wanted, one.limits, countersOf, heldOf) }
  })
  const left = limited.flatMap(({ wanted }, at): CostRange[] => {
    const verdict = providers[at]?.verdict
    return verdict?.ok ? [{ leastNano: wanted.leastNano, mostNano: verdict.grantedNano }] : []
  })
  const candidates = others ? [others, ...left] : left
  const rejection = providers.find(({ verdict }) => !verdict.ok)
  if (candidates.length === 0 && rejection) return { verdict: rejection.verdict, providers }
  const highestAmounts = {
    leastNano: Math.max(0, ...candidates.map(({ leastNano }) => leastNano)),
    mostNano: Math.max(0, ...candidates.map(({ mostNano }) => mostNano)),
  }
  const verdict = decideHold(highestAmounts, limits, countersOf, heldOf)
  return { verdict, providers: verdict.ok ? providers.map((one) => capVerdict(one, verdict.grantedNano)) : providers }
}

function capVerdict({ scope, verdict }: ProviderVerdict, mostNano: number): ProviderVerdict {
  if (!verdict.ok) return { scope, verdict }
  return { scope, verdict: { ok: true, grantedNano: Math.min(verdict.grantedNano, mostNano) } }
}

/** Nano-USD held at each provider: only one candidate serves the call. */
export function heldOfProviders(providers: readonly ProviderVerdict[]): Map<string, number> {
  const held = new Map<string, number>()
  for (const { scope, verdict } of providers) {
    if (verdict.ok) held.set(scope, Math.max(held.get(scope) ?? 0, verdict.grantedNano))
  }
  return held
}

const PREFIX = "provider:"

/** Scope of all calls of an organization at a provider. */
export function providerScope(provider: string): string {
  return PREFIX + provider
}

/** The provider of a scope; undefined for other scopes. */
export function providerOf(scope: string): string | undefined {
  return scope.startsWith(PREFIX) ? scope.slice(PREFIX.length) : undefined
}

/** Amounts that an unsettled call counts at each provider, by scope. */
export function partsAtProviders({
  atProviders = {},
  isByok,
}: Pick<Generation, "atProviders" | "isByok">): [scope: string, Spent][] {
  return Object.entries(atProviders).map(([slug, nano]) => [
    providerScope(slug),
    isByok ? { spent: 0, byok: nano } : { spent: nano, byok: 0 },
  ])
}
