import { type Actor, newEntry } from "../audit/entry.ts"
import type { Env } from "../config/env.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import type { AssociatedData } from "../secrets/seal.ts"
import { sealForWorkspace } from "../secrets/workspace-key.ts"
import { workspaceNotFound } from "./requested.ts"

/**
 * Seals a text under the key of its workspace; audits the creation of that key. Throws 404 if the workspace was
 * deleted.
 */
export async function sealFor(env: Env, actor: Actor, aad: AssociatedData, plain: string): Promise<string> {
  const { workspaceId } = aad
  const { organizationId } = actor
  const entry = newEntry(actor, { action: "data_key.create", resourceId: workspaceId, workspaceId })
  const sealed = await sealForWorkspace(env.DB, masterKeysOf(env), { aad, plain, organizationId }, entry)
  if (sealed === undefined) throw workspaceNotFound()
  return sealed
}
