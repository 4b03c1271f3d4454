import type { Caller, KeyKind } from "../access/caller.ts"
import type { ResetInterval } from "../credits/windows.ts"

/**
 * A key that spends is the parent of the keys it creates: app keys and interns' own keys. Provisioning keys, and
 * management keys with a limit, are the parents of the keys they mint.
 *
 * Limits and guardrails of every ancestor apply to a key, read live. Revoking an ancestor that spends revokes its
 * descendants; keys that management and provisioning keys minted are records of the organization, and outlive them.
 */
export type Ancestor = Pick<Caller, "keyHash" | "label" | "limitNano" | "limitReset" | "includeByokInLimit">

/** The parent to record for a key that this caller creates; null where none of the caller's limits can apply to it. */
export function parentOf({ kind, isOperator, keyHash, limitNano }: Caller): string | null {
  const isUnlimited = kind === "management" && limitNano === null
  return isOperator || isUnlimited ? null : keyHash
}

/** Whether keys that a key of this kind created stop working with it. */
export function revokesChildren(kind: KeyKind): boolean {
  return kind === "normal" || kind === "free_tier"
}

/** The key `?1` and its ancestors, for a WITH RECURSIVE clause; `depth` is 0 for the key itself. */
export const LINEAGE = `lineage (hash, depth) AS (
  SELECT ?1, 0
  UNION
  SELECT k.parent_hash, l.depth + 1 FROM lineage l JOIN api_keys k ON k.hash = l.hash WHERE k.parent_hash IS NOT NULL)`

/** The key `?1` and its descendants, for a WITH RECURSIVE clause. */
export const DESCENDANTS = `descendants (hash, depth) AS (
  SELECT ?1, 0
  UNION
  SELECT k.hash, d.depth + 1 FROM descendants d JOIN api_keys k ON k.parent_hash = d.hash)`

export type AncestorRow = {
  hash: string
  label: string
  kind: KeyKind
  limit_nano: number | null
  limit_reset: ResetInterval | null
  include_byok_in_limit: number
  expires_at: number | null
  is_revoked: number
}

/** The ancestors of a key, the nearest first, for the batch in which the key is read. */
export function ancestorsStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db
    .prepare(
      `WITH RECURSIVE ${LINEAGE}
       SELECT k.hash, k.label, k.kind, k.limit_nano, k.limit_reset, k.include_byok_in_limit, k.expires_at,
         (k.disabled = 1 OR k.deleted_at IS NOT NULL) AS is_revoked
       FROM lineage l JOIN api_keys k ON k.hash = l.hash WHERE l.depth > 0 ORDER BY l.depth`,
    )
    .bind(hash)
}

export type Lineage = {
  ancestors: readonly Ancestor[]
  /** An ancestor that spends is disabled or deleted. */
  isRevoked: boolean
  /** The first expiry of an ancestor that spends, in epoch milliseconds; null for none. */
  expiresAt: number | null
}

export function toLineage(rows: readonly AncestorRow[]): Lineage {
  const binding = rows.filter(({ kind }) => revokesChildren(kind))
  return {
    ancestors: rows.map((row) => ({
      keyHash: row.hash,
      label: row.label,
      limitNano: row.limit_nano,
      limitReset: row.limit_reset,
      includeByokInLimit: row.include_byok_in_limit === 1,
    })),
    isRevoked: binding.some(({ is_revoked: isRevoked }) => isRevoked === 1),
    expiresAt: earliest(binding.map(({ expires_at: at }) => at)),
  }
}

/** The earliest of these instants; null where there is none. */
export function earliest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((at) => at !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/** The ancestors of every key of an organization that has any, the nearest first. */
export async function listAncestors(db: D1Database, organizationId: string): Promise<Map<string, string[]>> {
  const { results } = await db
    .prepare("SELECT hash, parent_hash FROM api_keys WHERE organization_id = ? AND parent_hash IS NOT NULL")
    .bind(organizationId)
    .all<{ hash: string; parent_hash: string }>()
  const parents = new Map(results.map((row) => [row.hash, row.parent_hash]))
  return new Map([...parents.keys()].map((hash) => [hash, chainOf(hash, parents)]))
}

function chainOf(hash: string, parents: ReadonlyMap<string, string>): string[] {
  const chain: string[] = []
  for (let at = parents.get(hash); at !== undefined && !chain.includes(at); at = parents.get(at)) chain.push(at)
  return chain
}

/** How many working keys the deletion of a key revokes with it, and how many that it minted go on working. */
export async function countChildren(
  db: D1Database,
  organizationId: string,
  { hash, kind }: { hash: string; kind: KeyKind },
): Promise<{ revoked: number; surviving: number }> {
  const count = await db
    .prepare(
      `WITH RECURSIVE ${DESCENDANTS}
       SELECT count(*) AS count FROM descendants d JOIN api_keys k ON k.hash = d.hash
       WHERE d.depth > 0 AND k.organization_id = ?2 AND k.disabled = 0 AND k.deleted_at IS NULL`,
    )
    .bind(hash, organizationId)
    .first<number>("count")
  return revokesChildren(kind) ? { revoked: count ?? 0, surviving: 0 } : { revoked: 0, surviving: count ?? 0 }
}

/** Whether the second key created the first, directly or not. */
export async function isDescendant(db: D1Database, hash: string, ofHash: string): Promise<boolean> {
  const row = await db
    .prepare(`WITH RECURSIVE ${LINEAGE} SELECT 1 FROM lineage WHERE depth > 0 AND hash = ?2`)
    .bind(hash, ofHash)
    .first()
  return row !== null
}
