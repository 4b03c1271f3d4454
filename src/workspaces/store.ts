import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import type { NewWorkspace, WorkspaceChange } from "./schemas.ts"
import { toSettingsPatch } from "./settings.ts"
import type { WorkspaceRow } from "./workspace.ts"
import { type Counted, toPage } from "../support/rows.ts"

const COLUMNS =
  "id, organization_id, slug, name, description, is_default, created_by, settings, include_byok_in_budgets, " +
  "created_at, updated_at"

export async function findWorkspace(
  db: D1Database,
  organizationId: string,
  id: string,
): Promise<{ id: string } | undefined> {
  const row = await db
    .prepare("SELECT id FROM workspaces WHERE organization_id = ? AND id = ? AND deleted_at IS NULL")
    .bind(organizationId, id)
    .first<{ id: string }>()
  return row ?? undefined
}

export async function findDefaultWorkspace(db: D1Database, organizationId: string): Promise<string | undefined> {
  const row = await db
    .prepare("SELECT id FROM workspaces WHERE organization_id = ? AND is_default = 1")
    .bind(organizationId)
    .first<{ id: string }>()
  return row?.id
}

/** By id or slug. */
export async function findWorkspaceRow(
  db: D1Database,
  organizationId: string,
  ref: string,
): Promise<WorkspaceRow | undefined> {
  const where = "organization_id = ?1 AND (id = ?2 OR slug = ?2) AND deleted_at IS NULL"
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM workspaces WHERE ${where} ORDER BY id = ?2 DESC LIMIT 1`)
    .bind(organizationId, ref)
    .first<WorkspaceRow>()
  return row ?? undefined
}

/** Newest first. */
export async function listWorkspaces(
  db: D1Database,
  organizationId: string,
  page: Page,
): Promise<{ rows: WorkspaceRow[]; total: number }> {
  const where = "organization_id = ? AND deleted_at IS NULL"
  return toPage(
    await db.batch<Counted<WorkspaceRow>>([
      db
        .prepare(`SELECT ${COLUMNS} FROM workspaces WHERE ${where} ORDER BY created_at DESC, id LIMIT ? OFFSET ?`)
        .bind(organizationId, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM workspaces WHERE ${where}`).bind(organizationId),
    ]),
  )
}

type Made = { id: string; organizationId: string; createdBy: string | null; createdAt: number }

/** Rejects with D1's own error where the slug is taken. */
export async function insertWorkspace(
  db: D1Database,
  { id, organizationId, createdBy, createdAt }: Made,
  input: NewWorkspace,
  entry: AuditEntry,
): Promise<WorkspaceRow | undefined> {
  const [inserted] = await db.batch<WorkspaceRow>([
    db
      .prepare(
        `INSERT INTO workspaces (id, organization_id, slug, name, description, created_by, settings, created_at)
         VALUES (?, ?, ?, ?, ?, ?, json_patch('{}', ?), ?) RETURNING ${COLUMNS}`,
      )
      .bind(
        id,
        organizationId,
        input.slug,
        input.name,
        input.description ?? null,
        createdBy,
        toSettingsPatch(input),
        createdAt,
      ),
    auditStatement(db, entry),
  ])
  return inserted?.results[0]
}

/** The changed row, or undefined when there is none. Rejects with D1's own error where the slug is taken. */
export async function updateWorkspace(
  db: D1Database,
  organizationId: string,
  id: string,
  change: WorkspaceChange,
  now: number,
  entry: AuditEntry,
): Promise<WorkspaceRow | undefined> {
  const { name, slug, description } = change
  const [updated] = await db.batch<WorkspaceRow>([
    db
      .prepare(
        `UPDATE workspaces SET name = coalesce(?3, name), slug = coalesce(?4, slug),
           description = iif(?5, ?6, description), settings = json_patch(settings, ?7), updated_at = ?8
         WHERE organization_id = ?1 AND id = ?2 AND deleted_at IS NULL RETURNING ${COLUMNS}`,
      )
      .bind(
        organizationId,
        id,
        name ?? null,
        slug ?? null,
        description === undefined ? 0 : 1,
        description ?? null,
        toSettingsPatch(change),
        now,
      ),
    auditIfChanged(db, entry),
  ])
  return updated?.results[0]
}

/** A key that works: not deleted, not disabled and not expired at ?1. */
const ACTIVE = "deleted_at IS NULL AND disabled = 0 AND (expires_at IS NULL OR expires_at > ?1)"

/**
 * Deletes a workspace with its budgets, guardrails, memberships, destinations, secrets and the keys that are left in it, for good. Of the default
 * workspace the inference keys go whether or not they work, and those that manage the organization stay; any other must
 * have no active key. False where that, or the workspace, is not so any more.
 */
export async function deleteWorkspace(
  db: D1Database,
  organizationId: string,
  { id, isDefault }: { id: string; isDefault: boolean },
  now: number,
  entry: AuditEntry,
): Promise<boolean> {
  const gone = "EXISTS (SELECT 1 FROM workspaces w WHERE w.organization_id = ?2 AND w.id = ?3 AND w.deleted_at = ?1)"
  const scope = [now, organizationId, id]
  const [deleted] = await db.batch([
    db
      .prepare(
        `UPDATE workspaces SET deleted_at = ?1, is_default = 0, slug = slug || ':' || id
         WHERE organization_id = ?2 AND id = ?3 AND deleted_at IS NULL AND is_default = ?4
           AND (is_default = 1 OR NOT EXISTS (SELECT 1 FROM api_keys WHERE workspace_id = ?3 AND ${ACTIVE}))`,
      )
      .bind(...scope, isDefault ? 1 : 0),
    auditIfChanged(db, entry),
    db.prepare(`DELETE FROM workspace_budgets WHERE workspace_id = ?3 AND ${gone}`).bind(...scope),
    db
      .prepare(
        `UPDATE byok_credentials SET deleted_at = ?1, sealed = '' WHERE workspace_id = ?3 AND deleted_at IS NULL AND ${gone}`,
      )
      .bind(...scope),
    db.prepare(`DELETE FROM vault_secrets WHERE workspace_id = ?3 AND ${gone}`).bind(...scope),
    db
      .prepare(
        `UPDATE destinations SET deleted_at = ?1, sealed = '' WHERE workspace_id = ?3 AND deleted_at IS NULL AND ${gone}`,
      )
      .bind(...scope),
    db.prepare(`DELETE FROM broadcast_batches WHERE workspace_id = ?3 AND ${gone}`).bind(...scope),
    db.prepare(`DELETE FROM data_keys WHERE workspace_id = ?3 AND ${gone}`).bind(...scope),
    db.prepare(`DELETE FROM workspace_members WHERE workspace_id = ?3 AND ${gone}`).bind(...scope),
    db.prepare(`DELETE FROM scim_group_mappings WHERE workspace_id = ?3 AND ${gone}`).bind(...scope),
    db.prepare(`DELETE FROM guardrails WHERE workspace_id = ?3 AND ${gone}`).bind(...scope),
    db
      .prepare(
        `UPDATE api_keys SET deleted_at = ?1 WHERE organization_id = ?2 AND workspace_id = ?3 AND deleted_at IS NULL
           AND (?4 = 0 OR kind NOT IN ('management', 'provisioning')) AND ${gone}`,
      )
      .bind(...scope, isDefault ? 1 : 0),
  ])
  return (deleted?.meta.changes ?? 0) > 0
}
