import { columnNames } from "../support/db.ts"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import type { DirectoryId, PullColumns } from "./directory.ts"
import { type DirectoryRow, scimDirectories } from "./table.ts"
import { type Counted, toPage } from "../support/rows.ts"

const columns = columnNames(scimDirectories)
const COLUMNS = columns.join(", ")

/** The directory with this token or former token. Takes no organization: the token identifies it. */
export async function findByToken(db: D1Database, tokenHash: string, now: number): Promise<DirectoryRow | undefined> {
  const row = await db
    .prepare(
      `SELECT ${COLUMNS} FROM scim_directories
       WHERE token_hash = ?1 OR (previous_token_hash = ?1 AND previous_token_expires_at > ?2)`,
    )
    .bind(tokenHash, now)
    .first<DirectoryRow>()
  return row ?? undefined
}

export async function findDirectory(
  db: D1Database,
  { organizationId, id }: DirectoryId,
): Promise<DirectoryRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM scim_directories WHERE organization_id = ? AND id = ?`)
    .bind(organizationId, id)
    .first<DirectoryRow>()
  return row ?? undefined
}

/** Newest first. */
export async function listDirectories(
  db: D1Database,
  organizationId: string,
  page: Page,
): Promise<{ rows: DirectoryRow[]; total: number }> {
  const where = "organization_id = ?"
  return toPage(
    await db.batch<Counted<DirectoryRow>>([
      db
        .prepare(`SELECT ${COLUMNS} FROM scim_directories WHERE ${where} ORDER BY created_at DESC, id LIMIT ? OFFSET ?`)
        .bind(organizationId, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM scim_directories WHERE ${where}`).bind(organizationId),
    ]),
  )
}

export async function directoryExists(db: D1Database, organizationId: string, id: string): Promise<boolean> {
  const row = await db
    .prepare("SELECT 1 FROM scim_directories WHERE organization_id = ? AND id = ?")
    .bind(organizationId, id)
    .first()
  return row !== null
}

export async function insertDirectory(db: D1Database, row: DirectoryRow, entry: AuditEntry): Promise<void> {
  await db.batch([
    db
      .prepare(`INSERT INTO scim_directories (${COLUMNS}) VALUES (${columns.map(() => "?").join(", ")})`)
      .bind(...columns.map((column) => row[column])),
    auditStatement(db, entry),
  ])
}

/** Changes of a request to a directory; omitted fields stay. */
export type DirectoryChange = { name?: string } & Partial<PullColumns>

/** False if the directory is deleted, or another request changed its pull since `former` was read. */
export async function updateDirectory(
  db: D1Database,
  former: DirectoryRow,
  change: DirectoryChange,
  entry: AuditEntry,
): Promise<boolean> {
  const { name, pull_url: url, pull_workspace_id: workspaceId, pull_sealed: sealed } = change
  const values = [name, url, workspaceId, sealed, change.pull_version, change.pull_label]
  const [updated] = await db.batch([
    db
      .prepare(
        `UPDATE scim_directories SET name = coalesce(?3, name), pull_url = coalesce(?4, pull_url),
           pull_workspace_id = coalesce(?5, pull_workspace_id), pull_sealed = coalesce(?6, pull_sealed),
           pull_version = coalesce(?7, pull_version), pull_label = coalesce(?8, pull_label)
         WHERE organization_id = ?1 AND id = ?2 AND (?7 IS NULL OR pull_version IS ?9)`,
      )
      .bind(former.organization_id, former.id, ...values.map((value) => value ?? null), former.pull_version),
    auditIfChanged(db, entry),
  ])
  return (updated?.meta.changes ?? 0) > 0
}

/**
 * Replaces the token of a directory; the former one is valid until `previousUntil`. False if another request replaced it
 * since `former` was read.
 */
export async function replaceToken(
  db: D1Database,
  former: DirectoryRow,
  { hash, previousUntil }: { hash: string; previousUntil: number | null },
  entry: AuditEntry,
): Promise<boolean> {
  const previous = previousUntil === null ? null : former.token_hash
  const [updated] = await db.batch([
    db
      .prepare(
        `UPDATE scim_directories SET token_hash = ?, previous_token_hash = ?, previous_token_expires_at = ?
         WHERE organization_id = ? AND id = ? AND token_hash = ?`,
      )
      .bind(hash, previous, previousUntil, former.organization_id, former.id, former.token_hash),
    auditIfChanged(db, entry),
  ])
  return (updated?.meta.changes ?? 0) > 0
}

/**
 * Deletes a directory with its users, groups and mappings, and the workspace memberships that these gave. The users
 * stay in the organization as members managed by hand; deactivated users stay deactivated.
 */
export async function deleteDirectory(
  db: D1Database,
  { organizationId, id, now, entry }: { organizationId: string; id: string; now: number; entry: AuditEntry },
): Promise<boolean> {
  const scope = [organizationId, id]
  const where = "organization_id = ?1 AND directory_id = ?2"
  const results = await db.batch([
    db
      .prepare(
        `UPDATE members SET source = 'manual' WHERE organization_id = ?1
           AND user_id IN (SELECT id FROM scim_users WHERE ${where} AND active = 1)`,
      )
      .bind(...scope),
    db
      .prepare(
        `DELETE FROM workspace_members WHERE organization_id = ?1 AND source = 'scim'
           AND user_id IN (SELECT id FROM scim_users WHERE ${where})`,
      )
      .bind(...scope),
    db
      .prepare(`DELETE FROM scim_group_mappings WHERE scim_group_id IN (SELECT id FROM scim_groups WHERE ${where})`)
      .bind(...scope),
    db.prepare(`DELETE FROM scim_users WHERE ${where}`).bind(...scope),
    db.prepare(`UPDATE scim_groups SET deleted_at = ?3 WHERE ${where} AND deleted_at IS NULL`).bind(...scope, now),
    db.prepare("DELETE FROM scim_directories WHERE organization_id = ?1 AND id = ?2").bind(...scope),
    auditIfChanged(db, entry),
  ])
  return (results[5]?.meta.changes ?? 0) > 0
}
