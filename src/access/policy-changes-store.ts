import { asc, gte } from "drizzle-orm"
import { openDb } from "../support/db.ts"
import { policyChanges } from "./table.ts"

/** The newest revision, as a column of a statement that reads a policy. */
export const NEWEST_REVISION = "(SELECT coalesce(max(revision), 0) FROM policy_changes)"

/** The last change of each organization, from a revision on, the earliest first. */
export async function readChangesFrom(
  db: D1Database,
  revision: number,
  limit: number,
): Promise<{ organizationId: string; revision: number }[]> {
  return openDb(db)
    .select()
    .from(policyChanges)
    .where(gte(policyChanges.revision, revision))
    .orderBy(asc(policyChanges.revision))
    .limit(limit)
}
