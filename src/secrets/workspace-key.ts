import type { AuditEntry } from "../audit/entry.ts"
import { logError } from "../support/log.ts"
import { newDataKey, openDataKey, type WrappedKey } from "./data-key.ts"
import type { Masters } from "./master-key.ts"
import { type About, openText, sealText } from "./seal.ts"
import { findDataKey, insertDataKey } from "./store.ts"

type Sealed = { about: About; sealed: string; dataKey: WrappedKey }

type Owner = { organizationId: string; workspaceId: string; id: string }

/**
 * The data key of a workspace, or of what in it has its own; made on first use. Undefined where the workspace is gone.
 */
export async function dataKeyOf(
  db: D1Database,
  masters: Masters,
  { organizationId, workspaceId, id }: Owner,
  entry: AuditEntry,
): Promise<WrappedKey | undefined> {
  const scope = { organizationId, workspaceId }
  const known = await findDataKey(db, scope, id)
  if (known) return known
  return insertDataKey(db, { scope, key: await newDataKey({ id, workspaceId }, masters), now: entry.createdAt, entry })
}

/** Seals a text under the key of its workspace, which is made on first use. Undefined where the workspace is gone. */
export async function sealForWorkspace(
  db: D1Database,
  masters: Masters,
  { about, plain, organizationId }: { about: About; plain: string; organizationId: string },
  entry: AuditEntry,
): Promise<string | undefined> {
  const { workspaceId } = about
  const wrapped = await dataKeyOf(db, masters, { organizationId, workspaceId, id: workspaceId }, entry)
  if (!wrapped) return undefined
  const key = await openDataKey(wrapped, masters)
  if (!key) throw new Error("The data key of a workspace opens under no master key of this deployment.")
  return sealText(key, about, plain)
}

/** The text, or undefined where it cannot be opened, which is logged. For the function that sends it, and no other. */
export async function openSealed({ about, sealed, dataKey }: Sealed, masters: Masters): Promise<string | undefined> {
  const key = await openDataKey(dataKey, masters)
  const plain = key && (await openText(key, about, sealed))
  if (plain === undefined) logError("a sealed value does not open", { kind: about.kind, owner: about.ownerId })
  return plain
}
