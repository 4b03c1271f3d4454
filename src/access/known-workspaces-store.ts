import { GatewayError } from "../errors/errors.ts"

/**
 * For filters of records that outlive their workspace: throws 404 unless the organization has, or had, this workspace.
 */
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
