import type { AuditEntry } from "../audit/entry.ts"
import { logError } from "../support/log.ts"
import { newDataKey, openDataKey, type WrappedKey } from "./data-key.ts"
import { type MasterKeys, wrongMasterKeyError } from "./master-key.ts"
import { type AssociatedData, openText, sealText } from "./seal.ts"
import { findDataKey, insertDataKey } from "./store.ts"

type Sealed = { aad: AssociatedData; sealed: string; dataKey: WrappedKey }

type Owner = { organizationId: string; workspaceId: string; id: string }

/**
 * The data key of a workspace, or of a resource with a separate key; created on first use. Undefined if the workspace
 * is deleted.
 */
export async function dataKeyOf(
  db: D1Database,
  masters: MasterKeys,
  { organizationId, workspaceId, id }: Owner,
  entry: AuditEntry,
): Promise<WrappedKey | undefined> {
  const scope = { organizationId, workspaceId }
  const stored = await findDataKey(db, scope, id)
  if (stored) return stored
  return insertDataKey(db, { scope, key: await newDataKey({ id, workspaceId }, masters), now: entry.createdAt, entry })
}

/**
 * Seals a text under the key of its workspace, which is created on first use. Undefined if the workspace is deleted.
 */
export async function sealForWorkspace(
  db: D1Database,
  masters: MasterKeys,
  { aad, plain, organizationId }: { aad: AssociatedData; plain: string; organizationId: string },
  entry: AuditEntry,
): Promise<string | undefined> {
  const { workspaceId } = aad
  const wrapped = await dataKeyOf(db, masters, { organizationId, workspaceId, id: workspaceId }, entry)
  if (!wrapped) return undefined
  const key = await openDataKey(wrapped, masters)
  if (!key) throw wrongMasterKeyError("workspace")
  return sealText(key, aad, plain)
}

/** The decrypted text; undefined if it cannot be decrypted, which is logged. Only for the function that sends it. */
export async function openSealed({ aad, sealed, dataKey }: Sealed, masters: MasterKeys): Promise<string | undefined> {
  const key = await openDataKey(dataKey, masters)
  const plain = key && (await openText(key, aad, sealed))
  if (plain === undefined) logError("a sealed value could not be decrypted", { kind: aad.kind, owner: aad.ownerId })
  return plain
}
