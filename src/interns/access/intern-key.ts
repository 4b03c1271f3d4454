import type { AuditEntry } from "../../audit/entry.ts"
import type { Env } from "../../config/env.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { findDataKey } from "../../secrets/store.ts"
import { openSealed, sealForWorkspace } from "../../secrets/workspace-key.ts"
import { findIntern } from "../store.ts"
import type { InternRow } from "../table.ts"

type WorkspaceScope = { organizationId: string; workspaceId: string }

const keyAad = (internId: string, workspaceId: string) => {
  return { kind: "intern-key", ownerId: internId, workspaceId, name: "key", version: "1" }
}

type KeyToSeal = {
  scope: WorkspaceScope
  internId: string
  key: string
  entry: AuditEntry
}

/** Seals the intern's key for its row; undefined if the workspace is deleted. */
export function sealInternKey(env: Env, { scope, internId, key, entry }: KeyToSeal) {
  const aad = keyAad(internId, scope.workspaceId)
  return sealForWorkspace(env.DB, masterKeysOf(env), { aad, plain: key, organizationId: scope.organizationId }, entry)
}

/** The intern and its decrypted key, for the host of its agent. Throws if either is missing. */
export async function openInternKey(
  env: Env,
  scope: WorkspaceScope,
  id: string,
): Promise<{ row: InternRow; key: string }> {
  const row = await findIntern(env.DB, scope, id)
  if (!row) throw new Error("The intern no longer exists.")
  const dataKey = await findDataKey(env.DB, scope, scope.workspaceId)
  const aad = keyAad(id, scope.workspaceId)
  const key = dataKey && (await openSealed({ aad, sealed: row.sealedKey, dataKey }, masterKeysOf(env)))
  if (key === undefined) throw new Error("The intern's own key cannot be decrypted.")
  return { row, key }
}
