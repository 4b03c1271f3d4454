import { sql } from "drizzle-orm"
import { openDb } from "../../support/db.ts"
import { type InternRow, interns } from "../table.ts"

/** Interns of all organizations whose workspace is deleted, the oldest first. */
export async function listOrphanedInterns(db: D1Database, limit: number): Promise<InternRow[]> {
  return openDb(db)
    .select()
    .from(interns)
    .where(sql`${interns.workspaceId} IN (SELECT id FROM workspaces WHERE deleted_at IS NOT NULL)`)
    .orderBy(interns.createdAt, interns.id)
    .limit(limit)
}
