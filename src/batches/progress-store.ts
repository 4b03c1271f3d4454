import { and, eq, inArray, lt, sql } from "drizzle-orm"
import { openDb } from "../support/db.ts"
import { type BatchProgress, type BatchStatus, UNFINISHED_STATUSES } from "./batch.ts"
import { batches, type BatchRow } from "./table.ts"

/** Reads and writes of the object to its batch's row. Apart from a cancellation, only the object changes the status. */

export async function readBatch(db: D1Database, id: string): Promise<BatchRow | undefined> {
  const [row] = await openDb(db).select().from(batches).where(eq(batches.id, id))
  return row
}

type Step = Partial<Pick<BatchRow, "outputFileId" | "errorFileId" | "errors" | "progress">>

/** Moves a batch to a status from one of these; undefined if it has another status. */
export async function moveBatch(
  db: D1Database,
  id: string,
  { from, to, now, ...step }: { from: readonly BatchStatus[]; to: BatchStatus; now: number } & Step,
): Promise<BatchRow | undefined> {
  const [row] = await openDb(db)
    .update(batches)
    .set({
      ...step,
      status: to,
      reached: sql`json_set(${batches.reached}, ${`$.${to}`}, ${now})`,
      updatedAt: now,
    })
    .where(and(eq(batches.id, id), inArray(batches.status, [...from])))
    .returning()
  return row
}

export async function saveProgress(
  db: D1Database,
  id: string,
  { progress, errors, now }: { progress: BatchProgress; errors?: BatchRow["errors"]; now: number },
): Promise<BatchRow | undefined> {
  const [row] = await openDb(db)
    .update(batches)
    .set({ progress, ...(errors && { errors }), updatedAt: now })
    .where(and(eq(batches.id, id), inArray(batches.status, [...UNFINISHED_STATUSES])))
    .returning()
  return row
}

/** Batches of all organizations without progress since `before`. */
export async function listStalledBatches(db: D1Database, before: number, limit: number): Promise<string[]> {
  const rows = await openDb(db)
    .select({ id: batches.id })
    .from(batches)
    .where(and(inArray(batches.status, [...UNFINISHED_STATUSES]), lt(batches.updatedAt, before)))
    .orderBy(batches.updatedAt)
    .limit(limit)
  return rows.map(({ id }) => id)
}
