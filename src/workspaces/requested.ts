import type { Principal } from "../access/principal.ts"
import { GatewayError } from "../errors/errors.ts"
import { findDefaultWorkspace, findWorkspace } from "./store.ts"

/**
 * The requested workspace, otherwise the default one. Throws 404 if it does not exist, 400 if it was deleted, or if
 * there is no organization.
 */
export async function requestedWorkspace(
  db: D1Database,
  organizationId: string,
  requested: string | undefined,
): Promise<string> {
  if (requested !== undefined) {
    const workspace = await findWorkspace(db, organizationId, requested)
    if (!workspace) throw workspaceNotFound()
    return workspace.id
  }
  const home = await findDefaultWorkspace(db, organizationId)
  if (home !== undefined) return home
  // The bootstrap key of a deployment without organizations.
  const remedy =
    organizationId === ""
      ? "There is no organization yet. Create one with POST /organizations, and use its keys."
      : "The default workspace was deleted. Pass workspace_id."
  throw new GatewayError("invalid_request", remedy)
}

export function workspaceNotFound(): GatewayError {
  return new GatewayError("not_found", "There is no workspace with this workspace_id.")
}

/**
 * The workspace of the principal's key; for a management key, any requested one of its organization. Throws 400 if none
 * is requested and the key's workspace was deleted.
 */
export async function workspaceOf(
  db: D1Database,
  principal: Principal,
  requested: string | undefined,
): Promise<string> {
  const isOwn = requested === undefined || requested === principal.workspaceId
  if (isOwn && (principal.kind === "normal" || principal.kind === "free_tier")) return principal.workspaceId
  if (isOwn && (await findWorkspace(db, principal.organizationId, principal.workspaceId))) return principal.workspaceId
  if (requested === undefined) {
    throw new GatewayError("invalid_request", "The workspace of this key was deleted. Pass workspace_id.")
  }
  if (principal.kind === "management") return requestedWorkspace(db, principal.organizationId, requested)
  throw workspaceNotFound()
}
