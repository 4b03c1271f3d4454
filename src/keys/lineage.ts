import type { Ancestor, Principal, KeyKind } from "../access/principal.ts"
import { type RateLimits, rateLimitsOf } from "../money/rate-limits.ts"
import { type LimitTerms, limitTermsOf } from "./limit-terms.ts"
import type { KeyRow } from "./table.ts"

/**
 * A key that spends is the parent of the keys it creates: app keys and interns' own keys. Provisioning keys, and
 * management keys with a limit, are the parents of the keys they mint.
 *
 * Limits and guardrails of every ancestor apply to a key, read live. Revoking an ancestor that spends revokes its
 * descendants; keys that management and provisioning keys minted are records of the organization, and outlive them.
 */

/**
 * The parent to record for a key that this principal creates; null if none of the principal's limits can apply to it.
 */
export function parentOf({ kind, isOperator, keyHash, limitNano }: Principal): string | null {
  const isUnlimited = kind === "management" && limitNano === null
  return isOperator || isUnlimited ? null : keyHash
}

/** Whether keys that a key of this kind created stop working with it. */
export function revokesChildren(kind: KeyKind): boolean {
  return kind === "normal" || kind === "free_tier"
}

/** An ancestor of a key. `isRevoked`: it is disabled or deleted. */
export type AncestorRow = Pick<
  KeyRow,
  "hash" | "label" | "kind" | keyof LimitTerms | "mcpTools" | "expiresAt" | keyof RateLimits
> & { isRevoked: boolean }

export type Lineage = {
  ancestors: readonly Ancestor[]
  /** An ancestor that spends is disabled or deleted. */
  isRevoked: boolean
  /** The earliest expiry of an ancestor that spends, in epoch milliseconds; null for none. */
  expiresAt: number | null
}

export function toLineage(rows: readonly AncestorRow[]): Lineage {
  const binding = rows.filter(({ kind }) => revokesChildren(kind))
  return {
    ancestors: rows.map((row) => ({
      keyHash: row.hash,
      label: row.label,
      kind: row.kind,
      ...limitTermsOf(row),
      mcpTools: row.mcpTools,
      rates: rateLimitsOf(row),
    })),
    isRevoked: binding.some(({ isRevoked }) => isRevoked),
    expiresAt: earliest(binding.map(({ expiresAt }) => expiresAt)),
  }
}

/** The earliest of these instants; null if all are null. */
export function earliest(instants: readonly (number | null)[]): number | null {
  const defined = instants.filter((at) => at !== null)
  return defined.length === 0 ? null : Math.min(...defined)
}

/** The ancestors of a key, nearest first. */
export function chainOf(hash: string, parents: ReadonlyMap<string, string | null>): string[] {
  const chain: string[] = []
  for (let at = parents.get(hash); at != null && !chain.includes(at); at = parents.get(at)) chain.push(at)
  return chain
}

/** The other keys under which the calls of the first key count. `lineage`: the key and its ancestors. */
export function otherCountedKeys(lineage: readonly Pick<Ancestor, "keyHash" | "counterHash">[]): string[] {
  const counted = lineage.flatMap(({ keyHash, counterHash }) =>
    counterHash === null ? [keyHash] : [keyHash, counterHash],
  )
  return [...new Set(counted)].slice(1)
}
