import type { AuditEntry } from "../audit/entry.ts"
import { auditStatement } from "../audit/store.ts"
import { insertKeyStatement, type KeyRow } from "../keys/store.ts"

export async function findWorkspace(
  db: D1Database,
  organizationId: string,
  id: string,
): Promise<{ id: string } | undefined> {
  const row = await db
    .prepare("SELECT id FROM workspaces WHERE organization_id = ? AND id = ?")
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

export type NewOrganization = {
  id: string
  name: string
  ownerId: string
  workspaceId: string
  keys: readonly KeyRow[]
  createdAt: number
}

/** An organization with its owner, its default workspace and its first keys: all or nothing. */
export async function insertOrganization(
  db: D1Database,
  organization: NewOrganization,
  entries: readonly AuditEntry[],
): Promise<void> {
  const { id, name, ownerId, workspaceId, keys, createdAt } = organization
  await db.batch([
    db.prepare("INSERT INTO organizations (id, name, created_at) VALUES (?, ?, ?)").bind(id, name, createdAt),
    db
      .prepare("INSERT INTO members (organization_id, user_id, role, created_at) VALUES (?, ?, 'owner', ?)")
      .bind(id, ownerId, createdAt),
    db
      .prepare(
        "INSERT INTO workspaces (id, organization_id, slug, name, is_default, created_at) VALUES (?, ?, 'default', 'Default', 1, ?)",
      )
      .bind(workspaceId, id, createdAt),
    ...keys.map((key) => insertKeyStatement(db, key)),
    ...entries.map((entry) => auditStatement(db, entry)),
  ])
}
