import { and, eq, sql } from "drizzle-orm"
import { apiKeys, type KeyRow } from "../../keys/table.ts"
import { openDb } from "../../support/db.ts"

/** Grants of an intern's owner to its key: limits, and tools of MCP servers. */
export type KeyTerms = Pick<KeyRow, "limitNano" | "limitReset" | "dailyLimitNano" | "mcpTools">
/** `spentBeforeNano`: amount spent by previous keys of the intern that have other counters. */
export type InternKey = KeyTerms &
  Pick<KeyRow, "hash" | "limitIncrease" | "includeByokInLimit" | "spentBeforeNano" | "counterHash" | "createdAt">

/** Key fields for the records of interns. */
export async function findInternKeys(
  db: D1Database,
  organizationId: string,
  hashes: readonly string[],
): Promise<InternKey[]> {
  if (hashes.length === 0) return []
  return openDb(db)
    .select({
      hash: apiKeys.hash,
      limitNano: apiKeys.limitNano,
      limitReset: apiKeys.limitReset,
      limitIncrease: apiKeys.limitIncrease,
      dailyLimitNano: apiKeys.dailyLimitNano,
      includeByokInLimit: apiKeys.includeByokInLimit,
      spentBeforeNano: apiKeys.spentBeforeNano,
      counterHash: apiKeys.counterHash,
      mcpTools: apiKeys.mcpTools,
      createdAt: apiKeys.createdAt,
    })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.organizationId, organizationId),
        sql`${apiKeys.hash} IN (SELECT value FROM json_each(${JSON.stringify(hashes)}))`,
      ),
    )
}

/** A key of an intern, also if it was deleted: its limits and rules apply to the key that replaces it. */
export async function findReplacedKey(
  db: D1Database,
  organizationId: string,
  hash: string,
): Promise<KeyRow | undefined> {
  const [row] = await openDb(db)
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizationId), eq(apiKeys.hash, hash)))
  return row
}
