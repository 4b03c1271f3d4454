import type { Caller } from "../access/caller.ts"
import { GatewayError } from "../errors/errors.ts"
import { findDefaultWorkspace, findWorkspace } from "./store.ts"

/** The workspace that a request names, or else the default one; 404 where it is not there, 400 where that was deleted. */
export async function askedWorkspace(
  db: D1Database,
  organizationId: string,
  asked: string | undefined,
): Promise<string> {
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

/**
 * The workspace of the caller's key; for a management key, any of its organization that is asked for. 400 where none is,
 * and that of the key was deleted, which only keys that manage the organization outlive.
 */
export async function workspaceOf(db: D1Database, caller: Caller, asked: string | undefined): Promise<string> {
  const isOwn = asked === undefined || asked === caller.workspaceId
  if (isOwn && (caller.kind === "normal" || caller.kind === "free_tier")) return caller.workspaceId
  if (isOwn && (await findWorkspace(db, caller.organizationId, caller.workspaceId))) return caller.workspaceId
  if (asked === undefined) {
    throw new GatewayError("invalid_request", "The workspace of this key was deleted. Pass workspace_id.")
  }
  if (caller.kind === "management") return askedWorkspace(db, caller.organizationId, asked)
  throw noSuchWorkspace()
}
