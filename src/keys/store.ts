import type { KeyKind, KeySource } from "../access/principal.ts"
import type { ResetInterval } from "../money/windows.ts"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import { type Counted, toPage } from "../support/rows.ts"

/** A row of api_keys. Money is nano-USD, instants epoch milliseconds, booleans 0 or 1. */
export type KeyRow = {
  hash: string
  organization_id: string
  workspace_id: string
  kind: KeyKind
  name: string
  label: string
  creator_user_id: string | null
  external_user: string | null
  limit_nano: number | null
  limit_reset: ResetInterval | null
  include_byok_in_limit: number
  disabled: number
  expires_at: number | null
  created_at: number
  updated_at: number | null
  parent_hash: string | null
  source: KeySource
  disabled_by: "management" | "provisioning" | null
}

const COLUMNS =
  "hash, organization_id, workspace_id, kind, name, label, creator_user_id, external_user, limit_nano, limit_reset, " +
  "include_byok_in_limit, disabled, expires_at, created_at, updated_at, parent_hash, source, disabled_by"

/**
 * Changes nothing where the workspace was deleted meanwhile, where a code that it is for went to another key, or where a
 * directory took out the person in whose name it is.
 */
export function insertKeyStatement(db: D1Database, row: KeyRow, forCode: string | null = null): D1PreparedStatement {
  const columns = COLUMNS.split(", ") as (keyof KeyRow)[]
  return db
    .prepare(
      `INSERT INTO api_keys (${COLUMNS}) SELECT ${columns.map(() => "?").join(", ")}
       WHERE EXISTS (SELECT 1 FROM workspaces WHERE id = ? AND organization_id = ? AND deleted_at IS NULL)
         AND (? IS NULL OR EXISTS (SELECT 1 FROM oauth_codes WHERE hash = ? AND key_hash = ?))
         AND NOT EXISTS (SELECT 1 FROM scim_leavers WHERE organization_id = ? AND user_id = ?)`,
    )
    .bind(
      ...columns.map((column) => row[column]),
      row.workspace_id,
      row.organization_id,
      forCode,
      forCode,
      row.hash,
      row.organization_id,
      row.creator_user_id,
    )
}

/** Whether the workspace and the person were still there. Rejects with D1's own error where the hash is taken. */
export async function insertKey(db: D1Database, row: KeyRow, entry: AuditEntry): Promise<boolean> {
  const [inserted] = await db.batch([insertKeyStatement(db, row), auditIfChanged(db, entry)])
  return (inserted?.meta.changes ?? 0) > 0
}

export async function findKeyRow(db: D1Database, organizationId: string, hash: string): Promise<KeyRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM api_keys WHERE organization_id = ? AND hash = ? AND deleted_at IS NULL`)
    .bind(organizationId, hash)
    .first<KeyRow>()
  return row ?? undefined
}

export type KeyPage = { workspaceId: string; includeDisabled: boolean; limit: number; offset: number }

/** Newest first. */
export async function listKeys(
  db: D1Database,
  organizationId: string,
  page: KeyPage,
): Promise<{ rows: KeyRow[]; total: number }> {
  const where = "organization_id = ? AND workspace_id = ? AND deleted_at IS NULL AND disabled <= ?"
  const scope = [organizationId, page.workspaceId, page.includeDisabled ? 1 : 0]
  return toPage(
    await db.batch<Counted<KeyRow>>([
      db
        .prepare(`SELECT ${COLUMNS} FROM api_keys WHERE ${where} ORDER BY created_at DESC, hash LIMIT ? OFFSET ?`)
        .bind(...scope, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM api_keys WHERE ${where}`).bind(...scope),
    ]),
  )
}

export type KeyChange = Partial<
  Pick<KeyRow, "name" | "limit_nano" | "limit_reset" | "include_byok_in_limit" | "disabled" | "disabled_by">
>

/** Keeps the last working management key of an organization, which nobody but the operator could replace. */
const LEAVES_MANAGEMENT = `(api_keys.kind <> 'management' OR EXISTS (SELECT 1 FROM api_keys o
   WHERE o.organization_id = api_keys.organization_id AND o.kind = 'management' AND o.hash <> api_keys.hash
     AND o.disabled = 0 AND o.deleted_at IS NULL AND o.expires_at IS NULL))`

/** Whether the organization would have no management key left that does not expire, without this one. */
export async function isLastManagementKey(db: D1Database, organizationId: string, hash: string): Promise<boolean> {
  const left = await db
    .prepare(`SELECT ${LEAVES_MANAGEMENT} AS leaves FROM api_keys WHERE organization_id = ? AND hash = ?`)
    .bind(organizationId, hash)
    .first<number>("leaves")
  return left === 0
}

/**
 * The changed row, or undefined when the organization has no such key, nobody in whose name it may work again, or no other
 * management key than the one to disable.
 */
export async function updateKey(
  db: D1Database,
  organizationId: string,
  hash: string,
  change: KeyChange,
  now: number,
  entry: AuditEntry,
): Promise<KeyRow | undefined> {
  const columns = Object.keys(change) as (keyof KeyChange)[]
  const assignments = [...columns.map((column) => `${column} = ?`), "updated_at = ?"].join(", ")
  const [updated] = await db.batch<KeyRow>([
    db
      .prepare(
        `UPDATE api_keys SET ${assignments} WHERE organization_id = ? AND hash = ? AND deleted_at IS NULL
           AND (? OR ${LEAVES_MANAGEMENT})
           AND (? OR NOT EXISTS (SELECT 1 FROM scim_leavers l
             WHERE l.organization_id = api_keys.organization_id AND l.user_id = api_keys.creator_user_id))
         RETURNING ${COLUMNS}`,
      )
      .bind(
        ...columns.map((column) => change[column] ?? null),
        now,
        organizationId,
        hash,
        change.disabled === 1 ? 0 : 1,
        change.disabled === 0 ? 0 : 1,
      ),
    auditIfChanged(db, entry),
  ])
  return updated?.results[0]
}

/** Deleted keys keep their row, so that their generations keep a name. False for the last management key, unless `mayBeLast`. */
export async function deleteKey(
  db: D1Database,
  organizationId: string,
  hash: string,
  mayBeLast: boolean,
  now: number,
  entry: AuditEntry,
): Promise<boolean> {
  const [deleted] = await db.batch([
    db
      .prepare(
        `UPDATE api_keys SET deleted_at = ? WHERE organization_id = ? AND hash = ? AND deleted_at IS NULL
           AND (? OR ${LEAVES_MANAGEMENT})`,
      )
      .bind(now, organizationId, hash, mayBeLast ? 1 : 0),
    auditIfChanged(db, entry),
  ])
  return (deleted?.meta.changes ?? 0) > 0
}

/** Whether a directory of the organization deactivated or deleted this person. */
export async function isDeprovisioned(db: D1Database, organizationId: string, userId: string): Promise<boolean> {
  const row = await db
    .prepare("SELECT 1 FROM scim_leavers WHERE organization_id = ? AND user_id = ?")
    .bind(organizationId, userId)
    .first()
  return row !== null
}
