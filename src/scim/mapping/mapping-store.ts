import { columnNames } from "../../support/db.ts"
import { scimGroupMappings } from "../table.ts"
import type { AuditEntry } from "../../audit/entry.ts"
import { auditIfChanged } from "../../audit/store.ts"
import type { Page } from "../../http/schema.ts"
import type { ListedGroup, MappingRow } from "./mapping.ts"
import { FROM_MAPPINGS, applyMemberships } from "../apply-store.ts"
import { type Counted, toPage } from "../../support/rows.ts"

const columns = columnNames(scimGroupMappings)
const COLUMNS = columns.join(", ")

/** The groups of all directories of an organization, or of one, newest first. */
export async function listOrganizationGroups(
  db: D1Database,
  organizationId: string,
  { directory_id: directory, limit, offset }: Page & { directory_id?: string | undefined },
): Promise<{ rows: ListedGroup[]; total: number }> {
  const where = `organization_id = ? AND deleted_at IS NULL${directory === undefined ? "" : " AND directory_id = ?"}`
  const values = directory === undefined ? [organizationId] : [organizationId, directory]
  return toPage(
    await db.batch<Counted<ListedGroup>>([
      db
        .prepare(
          `SELECT id, organization_id, display_name, external_id, created_at, updated_at FROM scim_groups
         WHERE ${where} ORDER BY created_at DESC, id LIMIT ? OFFSET ?`,
        )
        .bind(...values, limit, offset),
      db.prepare(`SELECT count(*) AS total FROM scim_groups WHERE ${where}`).bind(...values),
    ]),
  )
}

export async function groupExists(db: D1Database, organizationId: string, id: string): Promise<boolean> {
  const row = await db
    .prepare("SELECT 1 FROM scim_groups WHERE organization_id = ? AND id = ? AND deleted_at IS NULL")
    .bind(organizationId, id)
    .first()
  return row !== null
}

/** Newest first. */
export async function listMappings(
  db: D1Database,
  organizationId: string,
  page: Page,
): Promise<{ rows: MappingRow[]; total: number }> {
  const where = "organization_id = ?"
  return toPage(
    await db.batch<Counted<MappingRow>>([
      db
        .prepare(
          `SELECT ${COLUMNS} FROM scim_group_mappings WHERE ${where} ORDER BY created_at DESC, id LIMIT ? OFFSET ?`,
        )
        .bind(organizationId, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM scim_group_mappings WHERE ${where}`).bind(organizationId),
    ]),
  )
}

export async function findMapping(db: D1Database, organizationId: string, id: string): Promise<MappingRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM scim_group_mappings WHERE organization_id = ? AND id = ?`)
    .bind(organizationId, id)
    .first<MappingRow>()
  return row ?? undefined
}

/**
 * Creates a missing mapping, and updates the memberships of the workspace either way. Returns the mapping
 * that exists then, with whatever role; undefined if the group or the workspace was deleted concurrently.
 */
export async function insertMapping(
  db: D1Database,
  row: MappingRow,
  entry: AuditEntry,
): Promise<MappingRow | undefined> {
  const results = await db.batch([
    db
      .prepare(
        `INSERT INTO scim_group_mappings (${COLUMNS}) SELECT ${columns.map(() => "?").join(", ")}
         WHERE EXISTS (SELECT 1 FROM scim_groups WHERE id = ? AND organization_id = ? AND deleted_at IS NULL)
           AND EXISTS (SELECT 1 FROM workspaces WHERE id = ? AND organization_id = ? AND deleted_at IS NULL)
         ON CONFLICT DO NOTHING`,
      )
      .bind(
        ...columns.map((column) => row[column]),
        row.scim_group_id,
        row.organization_id,
        row.workspace_id,
        row.organization_id,
      ),
    auditIfChanged(db, entry),
    ...applyMemberships(db, {
      scope: "workspaces",
      organizationId: row.organization_id,
      of: JSON.stringify([row.workspace_id]),
      now: row.updated_at,
    }),
    db
      .prepare(
        `SELECT ${COLUMNS} FROM scim_group_mappings WHERE organization_id = ? AND scim_group_id = ? AND workspace_id = ?`,
      )
      .bind(row.organization_id, row.scim_group_id, row.workspace_id),
  ])
  return results.at(-1)?.results[0] as MappingRow | undefined
}

export async function updateMapping(
  db: D1Database,
  {
    mapping: { id, organization_id: organizationId, workspace_id: workspaceId },
    role,
    now,
    entry,
  }: { mapping: MappingRow; role: MappingRow["role"]; now: number; entry: AuditEntry },
): Promise<MappingRow | undefined> {
  const [updated] = await db.batch([
    db
      .prepare(
        `UPDATE scim_group_mappings SET role = ?3, updated_at = ?4 WHERE organization_id = ?1 AND id = ?2
         RETURNING ${COLUMNS}`,
      )
      .bind(organizationId, id, role, now),
    auditIfChanged(db, entry),
    ...applyMemberships(db, { scope: "workspaces", organizationId, of: JSON.stringify([workspaceId]), now }),
  ])
  return updated?.results[0] as MappingRow | undefined
}

/**
 * With `keepMembers`, members from the mapping stay in the workspace, managed by hand; in the default workspace
 * everyone stays anyway.
 */
export async function deleteMapping(
  db: D1Database,
  {
    mapping: { id, organization_id: organizationId, workspace_id: workspaceId },
    keepMembers,
    now,
    entry,
  }: { mapping: MappingRow; keepMembers: boolean; now: number; entry: AuditEntry },
): Promise<boolean> {
  const results = await db.batch([
    db
      .prepare(
        `INSERT INTO workspace_members (workspace_id, organization_id, user_id, role, source, created_at)
         SELECT m.workspace_id, m.organization_id, gm.user_id, m.role, 'manual', ?4 FROM ${FROM_MAPPINGS}
         WHERE m.organization_id = ?1 AND m.id = ?2 AND w.is_default = 0 AND ?3 ON CONFLICT DO NOTHING`,
      )
      .bind(organizationId, id, keepMembers ? 1 : 0, now),
    db.prepare("DELETE FROM scim_group_mappings WHERE organization_id = ? AND id = ?").bind(organizationId, id),
    auditIfChanged(db, entry),
    ...applyMemberships(db, { scope: "workspaces", organizationId, of: JSON.stringify([workspaceId]), now }),
  ])
  return (results[1]?.meta.changes ?? 0) > 0
}
