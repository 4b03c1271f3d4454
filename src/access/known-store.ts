import { GatewayError } from "../errors/errors.ts"

/** For filters of records that outlive what they name: throws 404 unless the organization has, or had, it. */

export async function requireKnownWorkspace(
  db: D1Database,
  organizationId: string,
  id: string | undefined,
): Promise<void> {
  if (id === undefined) return
  const found = await db
    .prepare("SELECT 1 FROM workspaces WHERE organization_id = ? AND id = ?")
    .bind(organizationId, id)
    .first()
  if (found === null) throw new GatewayError("not_found", "There is no workspace with this workspace_id.")
}

/** The same for ids and slugs. `visibleId`: the only workspace that the caller sees; null for all. */
export async function requireKnownWorkspaces(
  db: D1Database,
  { organizationId, visibleId }: { organizationId: string; visibleId: string | null },
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  const unknown = await db
    .prepare(
      `SELECT value FROM json_each(?3) WHERE NOT EXISTS (SELECT 1 FROM workspaces
         WHERE organization_id = ?1 AND (id = value OR slug = value) AND (?2 IS NULL OR id = ?2))`,
    )
    .bind(organizationId, visibleId, JSON.stringify(names))
    .first<string>("value")
  if (unknown !== null) throw new GatewayError("not_found", `workspace: there is no workspace ${unknown}.`)
}

/** A member, or a former member who created a key. */
export async function requireKnownUser(db: D1Database, organizationId: string, id: string | undefined): Promise<void> {
  if (id === undefined) return
  const found = await db
    .prepare(
      `SELECT 1 WHERE EXISTS (SELECT 1 FROM members WHERE organization_id = ?1 AND user_id = ?2)
         OR EXISTS (SELECT 1 FROM api_keys WHERE organization_id = ?1 AND creator_user_id = ?2)`,
    )
    .bind(organizationId, id)
    .first()
  if (found === null)
    throw new GatewayError("not_found", "user_id: must be a member of the organization, now or before.")
}
