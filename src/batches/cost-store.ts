import { sql } from "drizzle-orm"
import { openDb } from "../support/db.ts"
import { generations } from "../generations/table.ts"
import type { BatchRow } from "./table.ts"

/**
 * Charges of the calls of batches, in nano-USD: calls with the batch's key and the batch as their session. Calls whose
 * body names another session are not included, nor are calls of another key that name the batch as their session.
 */
export async function costsOf(
  binding: D1Database,
  organizationId: string,
  rows: readonly Pick<BatchRow, "id" | "keyHash" | "workspaceId">[],
): Promise<ReadonlyMap<string, number>> {
  const db = openDb(binding)
  const sums = rows.map(({ id, keyHash, workspaceId }) =>
    db.select({ nano: sql<number>`coalesce(sum(${generations.costNano}), 0)` }).from(generations)
      .where(sql`${generations.organizationId} = ${organizationId}
        AND ${generations.record} ->> 'sessionId' = ${id}
        AND ${generations.keyHash} = ${keyHash} AND ${generations.workspaceId} = ${workspaceId}`),
  )
  const [first, ...others] = sums
  if (!first) return new Map()
  const found = await db.batch([first, ...others])
  return new Map(rows.map(({ id }, at) => [id, found[at]?.[0]?.nano ?? 0]))
}
