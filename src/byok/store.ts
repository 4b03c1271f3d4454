import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import type { ByokRow } from "./credential.ts"
import { type ByokCredential, type ByokCredentialRow, toByokCredential } from "./usable-credentials.ts"
import { type Counted, toPage } from "../support/rows.ts"

const COLUMNS =
  "id, organization_id, workspace_id, provider, name, label, sealed, version, sort_order, disabled, is_byok_only, " +
  "is_fallback, is_required, declared_zdr, allowed_api_key_hashes, allowed_models, allowed_user_ids, created_at, updated_at"

/** They travel with every key of the workspace. */
export const MAX_CREDENTIALS = 100

type Scope = { organizationId: string; workspaceId: string }

/** Newest first. */
export async function listByok(
  db: D1Database,
  { organizationId, workspaceId }: Scope,
  page: Page & { provider?: string | undefined },
): Promise<{ rows: ByokRow[]; total: number }> {
  const where = "organization_id = ?1 AND workspace_id = ?2 AND (?3 IS NULL OR provider = ?3) AND deleted_at IS NULL"
  const scope = [organizationId, workspaceId, page.provider ?? null]
  return toPage(
    await db.batch<Counted<ByokRow>>([
      db
        .prepare(
          `SELECT ${COLUMNS} FROM byok_credentials WHERE ${where} ORDER BY created_at DESC, id LIMIT ?4 OFFSET ?5`,
        )
        .bind(...scope, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM byok_credentials WHERE ${where}`).bind(...scope),
    ]),
  )
}

export async function findByok(db: D1Database, organizationId: string, id: string): Promise<ByokRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM byok_credentials WHERE organization_id = ? AND id = ? AND deleted_at IS NULL`)
    .bind(organizationId, id)
    .first<ByokRow>()
  return row ?? undefined
}

/** The last in the order of its provider. Undefined where the workspace is gone or holds as many as it may. */
export async function insertByok(
  db: D1Database,
  row: Omit<ByokRow, "sort_order" | "updated_at">,
  entry: AuditEntry,
): Promise<ByokRow | undefined> {
  const bound = Object.entries(row)
  const columns = bound.map(([column]) => column).join(", ")
  const assignments = bound.map(() => "?").join(", ")
  const scope = [
    row.workspace_id,
    row.provider,
    row.workspace_id,
    row.organization_id,
    row.workspace_id,
    MAX_CREDENTIALS,
  ]
  const [inserted] = await db.batch<ByokRow>([
    db
      .prepare(
        `INSERT INTO byok_credentials (${columns}, sort_order) SELECT ${assignments},
           (SELECT coalesce(max(sort_order), -1) + 1 FROM byok_credentials
            WHERE workspace_id = ? AND provider = ? AND deleted_at IS NULL)
         WHERE EXISTS (SELECT 1 FROM workspaces WHERE id = ? AND organization_id = ? AND deleted_at IS NULL)
           AND (SELECT count(*) FROM byok_credentials WHERE workspace_id = ? AND deleted_at IS NULL) < ?
         RETURNING ${COLUMNS}`,
      )
      .bind(...bound.map(([, value]) => value), ...scope),
    auditIfChanged(db, entry),
  ])
  return inserted?.results[0]
}

/** The changed row, or undefined where the organization has no such credential. */
export async function updateByok(
  db: D1Database,
  organizationId: string,
  id: string,
  change: Partial<ByokRow>,
  now: number,
  entry: AuditEntry,
): Promise<ByokRow | undefined> {
  const columns = Object.keys(change) as (keyof ByokRow)[]
  const assignments = [...columns.map((column) => `${column} = ?`), "updated_at = ?"].join(", ")
  const [updated] = await db.batch<ByokRow>([
    db
      .prepare(
        `UPDATE byok_credentials SET ${assignments} WHERE organization_id = ? AND id = ? AND deleted_at IS NULL RETURNING ${COLUMNS}`,
      )
      .bind(...columns.map((column) => change[column] ?? null), now, organizationId, id),
    auditIfChanged(db, entry),
  ])
  return updated?.results[0]
}

/** The row stays, for what was called with it; the key goes. */
export async function deleteByok(
  db: D1Database,
  organizationId: string,
  id: string,
  now: number,
  entry: AuditEntry,
): Promise<boolean> {
  const [deleted] = await db.batch([
    db
      .prepare(
        "UPDATE byok_credentials SET deleted_at = ?, sealed = '' WHERE organization_id = ? AND id = ? AND deleted_at IS NULL",
      )
      .bind(now, organizationId, id),
    auditIfChanged(db, entry),
  ])
  return (deleted?.meta.changes ?? 0) > 0
}

/** Of these hashes, those that are keys of the organization. */
export async function findKeyHashes(
  db: D1Database,
  organizationId: string,
  hashes: readonly string[],
): Promise<Set<string>> {
  const { results } = await db
    .prepare(
      `SELECT hash FROM api_keys
       WHERE organization_id = ? AND hash IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL`,
    )
    .bind(organizationId, JSON.stringify(hashes))
    .all<{ hash: string }>()
  return new Set(results.map(({ hash }) => hash))
}

const OF_WORKSPACE = `SELECT b.*, d.master_id AS masterId, d.wrapped
   FROM byok_credentials b JOIN data_keys d ON d.id = b.workspace_id AND d.organization_id = b.organization_id
   WHERE b.deleted_at IS NULL AND b.disabled = 0`

/** The credentials of the workspace that a key belongs to, for the batch in which the key is read. */
export function ownKeysStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db
    .prepare(
      `${OF_WORKSPACE} AND (b.organization_id, b.workspace_id) =
         (SELECT organization_id, workspace_id FROM api_keys WHERE hash = ?)
       ORDER BY b.provider, b.sort_order, b.id`,
    )
    .bind(hash)
}

/** The same for a caller whose key is no row. */
export async function findOwnKeys(db: D1Database, { organizationId, workspaceId }: Scope): Promise<ByokCredential[]> {
  const { results } = await db
    .prepare(`${OF_WORKSPACE} AND b.organization_id = ? AND b.workspace_id = ? ORDER BY b.provider, b.sort_order, b.id`)
    .bind(organizationId, workspaceId)
    .all<ByokCredentialRow>()
  return results.map(toByokCredential)
}
