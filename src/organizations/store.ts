import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import { insertKeyStatement, type KeyRow } from "../keys/store.ts"

export type NewOrganization = {
  id: string
  name: string
  ownerId: string
  ownerEmail: string | null
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
  const { id, name, ownerId, ownerEmail, workspaceId, keys, createdAt } = organization
  await db.batch([
    db.prepare("INSERT INTO organizations (id, name, created_at) VALUES (?, ?, ?)").bind(id, name, createdAt),
    db
      .prepare("INSERT INTO members (organization_id, user_id, role, email, created_at) VALUES (?, ?, 'owner', ?, ?)")
      .bind(id, ownerId, ownerEmail, createdAt),
    db
      .prepare(
        `INSERT INTO workspaces (id, organization_id, slug, name, is_default, created_by, created_at)
         VALUES (?, ?, 'default', 'Default', 1, ?, ?)`,
      )
      .bind(workspaceId, id, ownerId, createdAt),
    ...keys.map((key) => insertKeyStatement(db, key)),
    ...entries.map((entry) => auditStatement(db, entry)),
  ])
}

export type RightsRow = { id: string; interns_programme: number; vault_writes: number }

/** What the deployment lets an organization do; null leaves it. Undefined where there is none. */
export async function updateRights(
  db: D1Database,
  id: string,
  change: { programme: number | null; vaultWrites: number | null },
  entry: AuditEntry,
): Promise<RightsRow | undefined> {
  const [updated] = await db.batch<RightsRow>([
    db
      .prepare(
        `UPDATE organizations SET interns_programme = coalesce(?2, interns_programme),
           vault_writes = coalesce(?3, vault_writes)
         WHERE id = ?1 RETURNING id, interns_programme, vault_writes`,
      )
      .bind(id, change.programme, change.vaultWrites),
    auditIfChanged(db, entry),
  ])
  return updated?.results[0]
}

/** For the operator, who sees every organization. */
export async function organizationExists(db: D1Database, id: string): Promise<boolean> {
  return (await db.prepare("SELECT 1 FROM organizations WHERE id = ?").bind(id).first()) !== null
}

/** Whether the database answers; rejects where it does not. */
export async function canRead(db: D1Database): Promise<boolean> {
  return (await db.prepare("SELECT 1 AS one").first("one")) === 1
}
