import { and, count, desc, eq, isNull, not, or, type SQL, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import { openDb, toStatement } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import type { Alias } from "./alias.ts"
import type { NewWorkspace, WorkspaceChange } from "./schemas.ts"
import { toSettingsPatch } from "./settings.ts"
import { type WorkspaceRow, workspaces } from "./table.ts"

const isInOrganization = (organizationId: string) =>
  and(eq(workspaces.organizationId, organizationId), isNull(workspaces.deletedAt))

export async function findWorkspace(
  db: D1Database,
  organizationId: string,
  id: string,
): Promise<{ id: string } | undefined> {
  const [row] = await openDb(db)
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(isInOrganization(organizationId), eq(workspaces.id, id)))
  return row
}

export async function findDefaultWorkspace(db: D1Database, organizationId: string): Promise<string | undefined> {
  const [row] = await openDb(db)
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(eq(workspaces.organizationId, organizationId), eq(workspaces.isDefault, true)))
  return row?.id
}

/** The default workspace, otherwise the oldest one. */
export async function findOldestWorkspace(db: D1Database, organizationId: string): Promise<string | undefined> {
  const [row] = await openDb(db)
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(isInOrganization(organizationId))
    .orderBy(desc(workspaces.isDefault), workspaces.createdAt, workspaces.id)
    .limit(1)
  return row?.id
}

/** By id or slug. */
export async function findWorkspaceRow(
  db: D1Database,
  organizationId: string,
  ref: string,
): Promise<WorkspaceRow | undefined> {
  const id = ref.toLowerCase()
  const [row] = await openDb(db)
    .select()
    .from(workspaces)
    .where(and(isInOrganization(organizationId), or(eq(workspaces.id, id), eq(workspaces.slug, ref))))
    .orderBy(desc(eq(workspaces.id, id)))
    .limit(1)
  return row
}

/** Newest first. */
export async function listWorkspaces(
  binding: D1Database,
  organizationId: string,
  page: Page,
): Promise<{ rows: WorkspaceRow[]; total: number }> {
  const db = openDb(binding)
  const where = isInOrganization(organizationId)
  return toCountedPage(
    await db.batch([
      db
        .select()
        .from(workspaces)
        .where(where)
        .orderBy(desc(workspaces.createdAt), workspaces.id)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(workspaces).where(where),
    ]),
  )
}

type CreatedWorkspace = Pick<WorkspaceRow, "id" | "organizationId" | "createdBy" | "createdAt">

/** Throws D1's constraint error if the slug is taken. */
export async function insertWorkspace(
  binding: D1Database,
  workspace: CreatedWorkspace,
  input: NewWorkspace,
  entry: AuditEntry,
): Promise<WorkspaceRow | undefined> {
  const db = openDb(binding)
  const { slug, name, description } = input
  const [inserted] = await db.batch([
    db
      .insert(workspaces)
      .values({ ...workspace, slug, name, description, settings: sql`json_patch('{}', ${toSettingsPatch(input)})` })
      .returning(),
    auditStatement(db, entry),
  ])
  return inserted[0]
}

type WorkspaceUpdate = {
  organizationId: string
  id: string
  change: WorkspaceChange
  now: number
  entry: AuditEntry
}

/** The changed row; undefined if it does not exist. Throws D1's constraint error if the slug is taken. */
export async function updateWorkspace(
  binding: D1Database,
  { organizationId, id, change, now, entry }: WorkspaceUpdate,
): Promise<WorkspaceRow | undefined> {
  const db = openDb(binding)
  const { name, slug, description } = change
  const settings = sql`json_patch(${workspaces.settings}, ${toSettingsPatch(change)})`
  const [updated] = await db.batch([
    db
      .update(workspaces)
      .set({ name, slug, description, settings, updatedAt: now })
      .where(and(isInOrganization(organizationId), eq(workspaces.id, id)))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return updated[0]
}

/** The keys among these that do not belong to the organization. */
export async function findForeignKeys(
  db: D1Database,
  organizationId: string,
  hashes: readonly string[],
): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT value AS hash FROM json_each(?2) WHERE NOT EXISTS (SELECT 1 FROM api_keys k
         WHERE k.hash = value AND k.organization_id = ?1 AND k.deleted_at IS NULL)`,
    )
    .bind(organizationId, JSON.stringify(hashes))
    .all<{ hash: string }>()
  return results.map(({ hash }) => hash)
}

type AliasUpdate = {
  organizationId: string
  id: string
  /** Null removes the alias. */
  patch: Record<string, Alias | null>
  now: number
  entry: AuditEntry
}

export async function patchAliases(
  binding: D1Database,
  { organizationId, id, patch, now, entry }: AliasUpdate,
): Promise<void> {
  const db = openDb(binding)
  await db.batch([
    db
      .update(workspaces)
      .set({
        settings: sql`json_patch(${workspaces.settings}, ${JSON.stringify({ aliases: patch })})`,
        updatedAt: now,
      })
      .where(and(isInOrganization(organizationId), eq(workspaces.id, id))),
    auditIfChanged(db, entry),
  ])
}

/** An active key: not deleted, not disabled and not expired. */
const isActive = (now: number): SQL =>
  sql`deleted_at IS NULL AND disabled = 0 AND (expires_at IS NULL OR expires_at > ${now})`

/** Whether a data key seals secrets that are used for the whole organization. They outlive their workspace. */
const sealsForOrganization = sql`(EXISTS (SELECT 1 FROM alert_channels c WHERE c.organization_id = data_keys.organization_id
    AND c.workspace_id = data_keys.id) OR EXISTS (SELECT 1 FROM scim_directories d
    WHERE d.organization_id = data_keys.organization_id AND d.pull_workspace_id = data_keys.id))`

type WorkspaceDeletion = {
  organizationId: string
  workspace: { id: string; isDefault: boolean }
  now: number
  entry: AuditEntry
}

/**
 * Permanently deletes a workspace with its budgets, guardrails, memberships, destinations, servers, alert channels,
 * secrets and remaining keys.
 * In the default workspace, inference keys are deleted whether or not they are active, and management keys stay; any
 * other workspace must have no active key. False if it has one, or the workspace no longer exists.
 */
export async function deleteWorkspace(
  binding: D1Database,
  { organizationId, workspace: { id, isDefault }, now, entry }: WorkspaceDeletion,
): Promise<boolean> {
  const db = openDb(binding)
  // Rows of this workspace, once the first statement has deleted it.
  const ofDeleted = sql`workspace_id = ${id} AND EXISTS (SELECT 1 FROM workspaces w
    WHERE w.organization_id = ${organizationId} AND w.id = ${id} AND w.deleted_at = ${now})`
  const hasActiveKey = sql`EXISTS (SELECT 1 FROM api_keys WHERE workspace_id = ${id} AND ${isActive(now)})`
  const deletedKeys = isDefault ? sql`kind NOT IN ('management', 'provisioning')` : sql`TRUE`
  const queries = [
    db
      .update(workspaces)
      .set({ deletedAt: now, isDefault: false, slug: sql`${workspaces.slug} || ':' || ${workspaces.id}` })
      .where(
        and(
          isInOrganization(organizationId),
          eq(workspaces.id, id),
          eq(workspaces.isDefault, isDefault),
          isDefault ? undefined : not(hasActiveKey),
        ),
      ),
    auditIfChanged(db, entry),
    sql`DELETE FROM workspace_budgets WHERE ${ofDeleted}`,
    sql`UPDATE byok_credentials SET deleted_at = ${now}, sealed = '' WHERE deleted_at IS NULL AND ${ofDeleted}`,
    sql`DELETE FROM vault_secrets WHERE ${ofDeleted}`,
    sql`UPDATE destinations SET deleted_at = ${now}, sealed = '' WHERE deleted_at IS NULL AND ${ofDeleted}`,
    sql`DELETE FROM broadcast_batches WHERE ${ofDeleted}`,
    sql`DELETE FROM mcp_servers WHERE ${ofDeleted}`,
    sql`DELETE FROM passthrough_services WHERE ${ofDeleted}`,
    sql`DELETE FROM connect_links WHERE ${ofDeleted}`,
    sql`DELETE FROM alert_channels WHERE all_workspaces = 0 AND ${ofDeleted}`,
    sql`DELETE FROM data_keys WHERE NOT ${sealsForOrganization} AND ${ofDeleted}`,
    sql`DELETE FROM workspace_members WHERE ${ofDeleted}`,
    sql`DELETE FROM scim_group_mappings WHERE ${ofDeleted}`,
    sql`DELETE FROM guardrails WHERE ${ofDeleted}`,
    sql`UPDATE api_keys SET deleted_at = ${now}
        WHERE organization_id = ${organizationId} AND deleted_at IS NULL AND ${deletedKeys} AND ${ofDeleted}`,
  ]
  const [deleted] = await binding.batch(queries.map((query) => toStatement(binding, query)))
  return (deleted?.meta.changes ?? 0) > 0
}
