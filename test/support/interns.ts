import { env } from "cloudflare:workers"
import { type InternRow, interns } from "../../src/interns/table.ts"
import { openDb } from "../../src/support/db.ts"
import { sha256Hex } from "../../src/support/text/encoding.ts"
import { type TestClient, newKey, type Workspace } from "./world.ts"

export type Intern = {
  row: InternRow
  id: string
  vaultId: string
  /** The intern's own key. */
  key: string
  as: TestClient
  /** Its daemon joins with it. */
  joinToken: string
}

/** A running intern of that workspace, with its own key. */
export async function insertIntern(workspace: Workspace, more: Partial<InternRow> = {}): Promise<Intern> {
  const id = crypto.randomUUID()
  const joinToken = `join-${crypto.randomUUID()}`
  const internKey = await newKey(workspace)
  await env.DB.prepare("UPDATE api_keys SET intern_id = ?, source = 'intern' WHERE hash = ?")
    .bind(id, internKey.hash)
    .run()
  const now = Date.now()
  const row: InternRow = {
    id,
    organizationId: workspace.organizationId,
    workspaceId: workspace.workspaceId,
    creatorUserId: null,
    createdByKey: sha256Hex(workspace.key),
    name: `i${id.slice(0, 8)}`,
    description: null,
    instructions: null,
    model: null,
    runningModel: null,
    host: "daemon",
    status: "running",
    hostname: null,
    progress: null,
    lastFailureMessage: null,
    vaultId: crypto.randomUUID(),
    attachedVaultId: null,
    keyHash: internKey.hash,
    sealedKey: "",
    joinTokenHash: sha256Hex(joinToken),
    accessNonce: null,
    idempotencyKey: id,
    bodyHash: "",
    createdAt: now,
    updatedAt: now,
    ...more,
  }
  await openDb(env.DB).insert(interns).values(row)
  return { row, id, vaultId: row.vaultId, key: internKey.key, as: internKey.as, joinToken }
}
