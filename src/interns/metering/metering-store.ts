import { and, asc, eq, gte } from "drizzle-orm"
import { generations } from "../../generations/table.ts"
import type { Generation } from "../../ledger/generation.ts"
import { openDb } from "../../support/db.ts"

const MAX_CALLS = 1_000

/** Calls of a key charged since `since`, oldest first. */
export async function findCallsOfKey(
  db: D1Database,
  { organizationId, keyHash }: { organizationId: string; keyHash: string },
  since: number,
): Promise<Generation[]> {
  const rows = await openDb(db)
    .select({ record: generations.record })
    .from(generations)
    .where(
      and(
        eq(generations.organizationId, organizationId),
        eq(generations.keyHash, keyHash),
        gte(generations.settledAt, since),
      ),
    )
    .orderBy(asc(generations.settledAt), asc(generations.id))
    .limit(MAX_CALLS)
  return rows.map(({ record }) => record)
}
