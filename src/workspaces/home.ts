import { GatewayError } from "../edge/errors.ts"
import { findDefaultWorkspace, findWorkspace } from "./store.ts"

/** The workspace that a request names, or the default one where it names none. */
export async function workspaceFor(db: D1Database, organizationId: string, asked: string | undefined): Promise<string> {
  if (asked !== undefined) {
    const workspace = await findWorkspace(db, organizationId, asked)
    if (!workspace) throw noSuchWorkspace()
    return workspace.id
  }
  const home = await findDefaultWorkspace(db, organizationId)
  if (home === undefined) {
    throw new GatewayError("invalid_request", "The default workspace was deleted. Pass workspace_id.")
  }
  return home
}

export function noSuchWorkspace(): GatewayError {
  return new GatewayError("not_found", "There is no workspace with this workspace_id.")
}
