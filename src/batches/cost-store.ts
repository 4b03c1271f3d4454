import { sql } from "drizzle-orm"
import { openDb } from "../support/db.ts"
import { generations } from "../generations/table.ts"
import type { BatchRow } from "./table.ts"

/**
 * What the calls of batches were charged, in nano-USD: calls of the batch's key with the batch as their session. A call
 * whose body names another session is not in it, nor is one of another key that names the batch as its session.
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
