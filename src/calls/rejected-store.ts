import { and, eq, inArray, lt } from "drizzle-orm"
import type { Generation } from "../ledger/generation.ts"
import { openDb } from "../support/db.ts"
import { DAY_MS } from "../support/time/time.ts"
import { rejectedCalls } from "./table.ts"

export async function insertRejectedCall(db: D1Database, record: Generation): Promise<void> {
  const { id, organizationId, workspaceId, keyHash, createdAt, model } = record
  await openDb(db).insert(rejectedCalls).values({ id, organizationId, workspaceId, keyHash, createdAt, model, record })
}

export async function findRejectedCall(
  db: D1Database,
  organizationId: string,
  id: string,
): Promise<Generation | undefined> {
  const [row] = await openDb(db)
    .select({ record: rejectedCalls.record })
    .from(rejectedCalls)
    .where(and(eq(rejectedCalls.organizationId, organizationId), eq(rejectedCalls.id, id)))
  return row?.record
}

const PRUNE_BATCH = 500
/** Limit of one run; the rest is left for the next day. */
const PRUNE_BATCHES = 200

/** Deletes rejected calls of all organizations that are older than the retention of generations. Returns how many. */
export async function pruneRejectedCalls(binding: D1Database, now: number, retentionDays: number): Promise<number> {
  const db = openDb(binding)
  const oldest = db
    .select({ id: rejectedCalls.id })
    .from(rejectedCalls)
    .where(lt(rejectedCalls.createdAt, now - retentionDays * DAY_MS))
    .limit(PRUNE_BATCH)
  let removed = 0
  for (let batch = 0; batch < PRUNE_BATCHES; batch++) {
    const { meta } = await db.delete(rejectedCalls).where(inArray(rejectedCalls.id, oldest))
    removed += meta.changes
    if (meta.changes < PRUNE_BATCH) break
  }
  return removed
}
