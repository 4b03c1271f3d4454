import { type StoredRow, toRow } from "../../support/db.ts"
import { type InternRow, interns } from "../table.ts"

/**
 * Finds an intern by id in any organization: its join token identifies the organization. Undefined outside the program
 * or without a workspace. `others` are read in the same round trip.
 */
export async function findJoinable(
  db: D1Database,
  id: string,
  others: readonly D1PreparedStatement[],
): Promise<{ row: InternRow | undefined; others: D1Result<StoredRow>[] }> {
  const joinable = db
    .prepare(
      `SELECT i.* FROM interns i
       JOIN organizations o ON o.id = i.organization_id AND o.interns_programme = 1
       JOIN workspaces w ON w.id = i.workspace_id AND w.deleted_at IS NULL
       WHERE i.id = ? AND i.join_token_hash IS NOT NULL`,
    )
    .bind(id)
  const [found, ...read] = await db.batch<StoredRow>([joinable, ...others])
  const stored = found?.results[0]
  return { row: stored && toRow(interns, stored), others: read }
}
