import { env } from "cloudflare:workers"
import type { InternRow } from "../../src/interns/store.ts"
import { sha256Hex } from "../../src/support/encoding.ts"
import { type TestClient, newKey, type Workspace } from "./world.ts"

export type Intern = {
  row: InternRow
  id: string
  vaultId: string
  /** The intern's own key. */
  key: string
  as: TestClient
  /** What its daemon joins with. */
  joinToken: string
}

/** A running intern of that workspace, with a key of its own. */
export async function insertIntern(workspace: Workspace, more: Partial<InternRow> = {}): Promise<Intern> {
  const id = crypto.randomUUID()
  const joinToken = `join-${crypto.randomUUID()}`
  const own = await newKey(workspace)
  await env.DB.prepare("UPDATE api_keys SET intern_id = ?, source = 'intern' WHERE hash = ?").bind(id, own.hash).run()
  const now = Date.now()
  const row: InternRow = {
    id,
    organization_id: workspace.organizationId,
    workspace_id: workspace.workspaceId,
    creator_user_id: null,
    created_by_key: sha256Hex(workspace.key),
    name: `i${id.slice(0, 8)}`,
    description: null,
    instructions: null,
    model: null,
    host: "daemon",
    status: "running",
    hostname: null,
    progress: null,
    last_failure_message: null,
    vault_id: crypto.randomUUID(),
    attached_vault_id: null,
    key_hash: own.hash,
    sealed_key: "",
    join_token_hash: sha256Hex(joinToken),
    access_nonce: null,
    idempotency_key: id,
    body_hash: "",
    created_at: now,
    updated_at: now,
    ...more,
  }
  const columns = Object.entries(row)
  await env.DB.prepare(
    `INSERT INTO interns (${columns.map(([name]) => name).join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
  )
    .bind(...columns.map(([, value]) => value))
    .run()
  return { row, id, vaultId: row.vault_id, key: own.key, as: own.as, joinToken }
}
