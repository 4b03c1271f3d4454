import { and, eq, isNotNull, or } from "drizzle-orm"
import type { KeyKind } from "../access/principal.ts"
import { openDb, readColumns, type StoredRow } from "../support/db.ts"
import { type AncestorRow, chainOf, otherCountedKeys, revokesChildren } from "./lineage.ts"
import { apiKeys } from "./table.ts"

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

/** The ancestors of a key, nearest first, for the batch in which the key is read. */
export function ancestorsStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db
    .prepare(
      `WITH RECURSIVE ${LINEAGE}
       SELECT k.hash, k.label, k.kind, k.limit_nano, k.limit_reset, k.include_byok_in_limit, k.expires_at,
         k.requests_per_minute, k.tokens_per_minute, k.concurrent_requests,
         k.daily_limit_nano, k.spent_before_nano, k.counter_hash, k.limit_increase, k.mcp_tools,
         (k.disabled = 1 OR k.deleted_at IS NOT NULL) AS is_revoked
       FROM lineage l JOIN api_keys k ON k.hash = l.hash WHERE l.depth > 0 ORDER BY l.depth`,
    )
    .bind(hash)
}

const ancestorColumns = {
  hash: apiKeys.hash,
  label: apiKeys.label,
  kind: apiKeys.kind,
  limitNano: apiKeys.limitNano,
  limitReset: apiKeys.limitReset,
  limitIncrease: apiKeys.limitIncrease,
  includeByokInLimit: apiKeys.includeByokInLimit,
  expiresAt: apiKeys.expiresAt,
  requestsPerMinute: apiKeys.requestsPerMinute,
  tokensPerMinute: apiKeys.tokensPerMinute,
  concurrentRequests: apiKeys.concurrentRequests,
  dailyLimitNano: apiKeys.dailyLimitNano,
  spentBeforeNano: apiKeys.spentBeforeNano,
  counterHash: apiKeys.counterHash,
  mcpTools: apiKeys.mcpTools,
}

/** A row of `ancestorsStatement`. */
export function toAncestorRow(stored: StoredRow): AncestorRow {
  return { ...readColumns(ancestorColumns, stored), isRevoked: stored["is_revoked"] === 1 }
}

/**
 * The other keys under which the calls of each key count: its ancestors, and the first key that it or an ancestor
 * replaced. Without keys that have none.
 */
export async function listCountedKeys(db: D1Database, organizationId: string): Promise<Map<string, string[]>> {
  const rows = await openDb(db)
    .select({ hash: apiKeys.hash, parentHash: apiKeys.parentHash, counterHash: apiKeys.counterHash })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.organizationId, organizationId),
        or(isNotNull(apiKeys.parentHash), isNotNull(apiKeys.counterHash)),
      ),
    )
  const parents = new Map(rows.map((row) => [row.hash, row.parentHash]))
  const counters = new Map(rows.map((row) => [row.hash, row.counterHash]))
  return new Map(
    rows.map(({ hash }) => {
      const chain = [hash, ...chainOf(hash, parents)]
      return [hash, otherCountedKeys(chain.map((one) => ({ keyHash: one, counterHash: counters.get(one) ?? null })))]
    }),
  )
}

/** Number of working keys that the deletion of a key revokes, and of keys that it minted and that keep working. */
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

/** Whether the second key created the first, directly or indirectly. */
export async function isDescendant(db: D1Database, hash: string, ofHash: string): Promise<boolean> {
  const row = await db
    .prepare(`WITH RECURSIVE ${LINEAGE} SELECT 1 FROM lineage WHERE depth > 0 AND hash = ?2`)
    .bind(hash, ofHash)
    .first()
  return row !== null
}
