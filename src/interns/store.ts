import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import { insertKeyStatement, type KeyRow } from "../keys/store.ts"
import { deleteVaultStatements } from "../vault/store.ts"
import type { Made } from "./authority.ts"
import type { InternHostKind, InternStatus } from "./kinds.ts"

/** A row of interns. Instants are epoch milliseconds. */
export type InternRow = {
  id: string
  organization_id: string
  workspace_id: string
  creator_user_id: string | null
  /** Hash of the key that made it; null on rows from before this was kept. */
  created_by_key: string | null
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
  access_nonce: string | null
  idempotency_key: string
  body_hash: string
  created_at: number
  updated_at: number
}

const COLUMNS =
  "id, organization_id, workspace_id, creator_user_id, created_by_key, name, description, instructions, model, host, status, hostname, " +
  "progress, last_failure_message, vault_id, attached_vault_id, key_hash, sealed_key, join_token_hash, " +
  "access_nonce, idempotency_key, body_hash, created_at, updated_at"

type Place = { organizationId: string; workspaceId: string }
type Own = Place & { id: string }

const THE_INTERN = "organization_id = ?1 AND workspace_id = ?2 AND id = ?3"
const scopeOf = ({ organizationId, workspaceId, id }: Own) => [organizationId, workspaceId, id]

export async function findIntern(db: D1Database, place: Place, id: string): Promise<InternRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM interns WHERE ${THE_INTERN}`)
    .bind(...scopeOf({ ...place, id }))
    .first<InternRow>()
  return row ?? undefined
}

/**
 * For what knows an intern by its name in the DNS alone: of whichever organization, since a token tells who asks. None
 * where its workspace is gone.
 */
export async function findInternByHostname(
  db: D1Database,
  hostname: string,
): Promise<(InternRow & { is_in_programme: number }) | undefined> {
  const row = await db
    .prepare(
      `SELECT ${COLUMNS},
         (SELECT interns_programme FROM organizations o WHERE o.id = interns.organization_id) AS is_in_programme
       FROM interns WHERE hostname = ?
         AND EXISTS (SELECT 1 FROM workspaces w WHERE w.id = interns.workspace_id AND w.deleted_at IS NULL)`,
    )
    .bind(hostname)
    .first<InternRow & { is_in_programme: number }>()
  return row ?? undefined
}

/** What the access tokens of the interns at these hostnames are made of. */
export async function findNonces(
  db: D1Database,
  hostnames: readonly string[],
): Promise<Pick<InternRow, "id" | "hostname" | "access_nonce">[]> {
  const { results } = await db
    .prepare(
      `SELECT id, hostname, access_nonce FROM interns
       WHERE hostname IN (SELECT value FROM json_each(?)) AND access_nonce IS NOT NULL`,
    )
    .bind(JSON.stringify(hostnames))
    .all<Pick<InternRow, "id" | "hostname" | "access_nonce">>()
  return results
}

/** The intern that a creator made with this key of idempotency. */
export async function findMadeIntern(
  db: D1Database,
  { organizationId, workspaceId, creatorUserId }: Place & { creatorUserId: string | null },
  idempotencyKey: string,
): Promise<InternRow | undefined> {
  const row = await db
    .prepare(
      `SELECT ${COLUMNS} FROM interns WHERE organization_id = ? AND workspace_id = ?
         AND coalesce(creator_user_id, '') = coalesce(?, '') AND idempotency_key = ?`,
    )
    .bind(organizationId, workspaceId, creatorUserId, idempotencyKey)
    .first<InternRow>()
  return row ?? undefined
}

/** Who made the intern of the workspace that owns this vault; undefined if there is none. */
export async function findVaultOwner(db: D1Database, place: Place, vaultId: string): Promise<Made | undefined> {
  const row = await db
    .prepare(
      `SELECT created_by_key, creator_user_id FROM interns
       WHERE organization_id = ? AND workspace_id = ? AND vault_id = ?`,
    )
    .bind(place.organizationId, place.workspaceId, vaultId)
    .first<Made>()
  return row ?? undefined
}

/** An intern and its own key; or neither, where the workspace or the creator is gone. Rejects where its name is taken. */
export async function insertIntern(db: D1Database, row: InternRow, key: KeyRow, entry: AuditEntry): Promise<boolean> {
  const columns = COLUMNS.split(", ") as (keyof InternRow)[]
  const [, inserted] = await db.batch([
    insertKeyStatement(db, key),
    db
      .prepare(
        `INSERT INTO interns (${COLUMNS}) SELECT ${columns.map(() => "?").join(", ")}
         WHERE EXISTS (SELECT 1 FROM api_keys WHERE hash = ?)`,
      )
      .bind(...columns.map((column) => row[column]), key.hash),
    auditIfChanged(db, entry),
    db.prepare("UPDATE api_keys SET intern_id = ? WHERE hash = ?").bind(row.id, key.hash),
  ])
  return (inserted?.meta.changes ?? 0) > 0
}

/**
 * Puts another own key in the place of an intern's, which is deleted. False where the intern is gone, has another one by
 * now, or its new key cannot be written; then nothing changes.
 */
export async function replaceOwnKey(
  db: D1Database,
  old: InternRow,
  renewed: Pick<InternRow, "key_hash" | "sealed_key" | "created_by_key">,
  key: KeyRow,
  entry: AuditEntry,
): Promise<boolean> {
  const own = { organizationId: old.organization_id, workspaceId: old.workspace_id, id: old.id }
  const [, replaced] = await db.batch([
    insertKeyStatement(db, key),
    db
      .prepare(
        `UPDATE interns SET key_hash = ?4, sealed_key = ?5, created_by_key = ?6, join_token_hash = NULL
         WHERE ${THE_INTERN} AND key_hash = ?7 AND EXISTS (SELECT 1 FROM api_keys WHERE hash = ?4)`,
      )
      .bind(...scopeOf(own), renewed.key_hash, renewed.sealed_key, renewed.created_by_key, old.key_hash),
    auditIfChanged(db, entry),
    db.prepare("UPDATE api_keys SET intern_id = ? WHERE hash = ?").bind(old.id, key.hash),
    // The former one; or the new one, where it was not taken over.
    db
      .prepare(
        `UPDATE api_keys SET deleted_at = ?1 WHERE hash IN (?2, ?3) AND deleted_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM interns WHERE interns.key_hash = api_keys.hash)`,
      )
      .bind(key.created_at, old.key_hash, key.hash),
  ])
  return (replaced?.meta.changes ?? 0) > 0
}

export type InternPage = {
  statuses: readonly InternStatus[] | undefined
  limit: number
  /** The last intern of the former page. */
  after: { createdAt: number; id: string } | undefined
}

/** Newest first; of one more than asked for the page knows that there is more. */
export async function listInterns(db: D1Database, place: Place, page: InternPage): Promise<InternRow[]> {
  const { results } = await db
    .prepare(
      `SELECT ${COLUMNS} FROM interns
       WHERE organization_id = ?1 AND workspace_id = ?2
         AND (?3 IS NULL OR status IN (SELECT value FROM json_each(?3)))
         AND (?4 IS NULL OR (created_at, id) < (?4, ?5))
       ORDER BY created_at DESC, id DESC LIMIT ?6`,
    )
    .bind(
      place.organizationId,
      place.workspaceId,
      page.statuses ? JSON.stringify(page.statuses) : null,
      page.after?.createdAt ?? null,
      page.after?.id ?? null,
      page.limit + 1,
    )
    .all<InternRow>()
  return results
}

export type InternColumns = Partial<
  Pick<
    InternRow,
    | "name"
    | "description"
    | "instructions"
    | "model"
    | "status"
    | "hostname"
    | "progress"
    | "last_failure_message"
    | "join_token_hash"
    | "access_nonce"
  >
>

function changeStatement(db: D1Database, own: Own, change: InternColumns, from: readonly InternStatus[], now: number) {
  const columns = Object.keys(change) as (keyof InternColumns)[]
  const assignments = [...columns.map((column, index) => `${column} = ?${index + 6}`), "updated_at = ?4"].join(", ")
  return db
    .prepare(
      `UPDATE interns SET ${assignments}
       WHERE ${THE_INTERN} AND (?5 = '[]' OR status IN (SELECT value FROM json_each(?5))) RETURNING ${COLUMNS}`,
    )
    .bind(...scopeOf(own), now, JSON.stringify(from), ...columns.map((column) => change[column] ?? null))
}

/**
 * What a caller changes. `from`: the statuses in which it may be, all where empty. Undefined where it is in another, or
 * gone. Rejects where its new name is taken.
 */
export async function changeIntern(
  db: D1Database,
  own: Own,
  change: InternColumns,
  from: readonly InternStatus[],
  now: number,
  entry: AuditEntry,
): Promise<InternRow | undefined> {
  const [changed] = await db.batch<InternRow>([changeStatement(db, own, change, from, now), auditIfChanged(db, entry)])
  return changed?.results[0]
}

/** What the intern's own object tells of it; no caller's deed, so the audit log has no entry of it. */
export async function moveIntern(
  db: D1Database,
  own: Own,
  from: readonly InternStatus[],
  change: InternColumns,
  now: number,
): Promise<void> {
  await changeStatement(db, own, change, from, now).run()
}

/** The end of an intern that a caller deleted: its key, its vault, and its row. */
export async function deleteInternRows(db: D1Database, row: InternRow, now: number): Promise<void> {
  const own = { organizationId: row.organization_id, workspaceId: row.workspace_id, id: row.id }
  await db.batch([
    ...deleteVaultStatements(db, own, row.vault_id),
    db.prepare("UPDATE interns SET attached_vault_id = NULL WHERE attached_vault_id = ?").bind(row.vault_id),
    db
      .prepare("UPDATE api_keys SET deleted_at = ? WHERE intern_id = ? AND organization_id = ? AND deleted_at IS NULL")
      .bind(now, own.id, own.organizationId),
    db.prepare(`DELETE FROM interns WHERE ${THE_INTERN}`).bind(...scopeOf(own)),
  ])
}
