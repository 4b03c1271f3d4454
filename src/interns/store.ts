import type { InternHostKind, InternStatus } from "./intern.ts"

/** A row of interns. Instants are epoch milliseconds. */
export type InternRow = {
  id: string
  organization_id: string
  workspace_id: string
  creator_user_id: string | null
  name: string
  description: string | null
  instructions: string | null
  model: string | null
  host: InternHostKind
  status: InternStatus
  hostname: string | null
  progress: string | null
  last_failure_message: string | null
  vault_id: string
  attached_vault_id: string | null
  key_hash: string
  sealed_key: string
  join_token_hash: string | null
  access_token_hash: string | null
  idempotency_key: string
  body_hash: string
  created_at: number
  updated_at: number
}

const COLUMNS =
  "id, organization_id, workspace_id, creator_user_id, name, description, instructions, model, host, status, hostname, " +
  "progress, last_failure_message, vault_id, attached_vault_id, key_hash, sealed_key, join_token_hash, " +
  "access_token_hash, idempotency_key, body_hash, created_at, updated_at"

type Place = { organizationId: string; workspaceId: string }

export async function findIntern(db: D1Database, place: Place, id: string): Promise<InternRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM interns WHERE organization_id = ? AND workspace_id = ? AND id = ?`)
    .bind(place.organizationId, place.workspaceId, id)
    .first<InternRow>()
  return row ?? undefined
}
