/**
 * The intern with this id, of whichever organization: its token is what tells whose daemon asks. No row outside the
 * programme, and where its workspace is gone.
 */
export function joinableStatement(db: D1Database, id: string): D1PreparedStatement {
  return db
    .prepare(
      `SELECT i.* FROM interns i
       JOIN organizations o ON o.id = i.organization_id AND o.interns_programme = 1
       JOIN workspaces w ON w.id = i.workspace_id AND w.deleted_at IS NULL
       WHERE i.id = ? AND i.join_token_hash IS NOT NULL`,
    )
    .bind(id)
}
