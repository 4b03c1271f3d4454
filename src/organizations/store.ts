import { eq, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import { deployment } from "../config/table.ts"
import { insertKeyQuery } from "../keys/store.ts"
import type { NewKeyRow } from "../keys/table.ts"
import { members } from "../members/table.ts"
import { openDb } from "../support/db.ts"
import { workspaces } from "../workspaces/table.ts"
import { type OrganizationRow, organizations } from "./table.ts"

export type NewOrganization = {
  id: string
  name: string
  ownerId: string
  ownerEmail: string | null
  workspaceId: string
  keys: readonly NewKeyRow[]
  createdAt: number
  /** Jurisdiction of the deployment, recorded with its first organization. */
  jurisdiction: string
}

/** Inserts an organization with its owner, default workspace and first keys, atomically. */
export async function insertOrganization(
  binding: D1Database,
  organization: NewOrganization,
  entries: readonly AuditEntry[],
): Promise<void> {
  const db = openDb(binding)
  const { id: organizationId, name, ownerId, ownerEmail, workspaceId, keys, createdAt, jurisdiction } = organization
  await db.batch([
    db.insert(deployment).values({ name: "jurisdiction", value: jurisdiction }).onConflictDoNothing(),
    db.insert(organizations).values({ id: organizationId, name, createdAt }),
    db.insert(members).values({ organizationId, userId: ownerId, role: "owner", email: ownerEmail, createdAt }),
    db.insert(workspaces).values({
      id: workspaceId,
      organizationId,
      slug: "default",
      name: "Default",
      isDefault: true,
      createdBy: ownerId,
      createdAt,
    }),
    ...keys.map((key) => insertKeyQuery(db, key)),
    ...entries.map((entry) => auditStatement(db, entry)),
  ])
}

/** Rights of an organization; undefined keeps a value. */
export type RightsChange = { [Name in "internsProgramme" | "vaultWrites"]: OrganizationRow[Name] | undefined }

/** Undefined if the organization does not exist. */
export async function updateRights(
  binding: D1Database,
  id: string,
  change: RightsChange,
  entry: AuditEntry,
): Promise<OrganizationRow | undefined> {
  const db = openDb(binding)
  const [updated] = await db.batch([
    db
      .update(organizations)
      // Sets the id to itself: without it, an empty change would be no valid statement.
      .set({ ...change, id })
      .where(eq(organizations.id, id))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return updated[0]
}

export async function findOrganization(db: D1Database, id: string): Promise<OrganizationRow | undefined> {
  const [row] = await openDb(db).select().from(organizations).where(eq(organizations.id, id))
  return row
}

/** Not per tenant: the operator sees every organization. */
export async function organizationExists(db: D1Database, id: string): Promise<boolean> {
  const [row] = await openDb(db).select({ id: organizations.id }).from(organizations).where(eq(organizations.id, id))
  return row !== undefined
}

/** Undefined before the first organization. */
export async function recordedJurisdiction(db: D1Database): Promise<string | undefined> {
  const [row] = await openDb(db).select().from(deployment).where(eq(deployment.name, "jurisdiction"))
  return row?.value
}

/** Whether a migration of `d1-migrations` is applied; throws if the database does not respond. */
export async function hasMigration(db: D1Database, name: string): Promise<boolean> {
  const rows = await openDb(db).all(sql`SELECT 1 FROM d1_migrations WHERE name = ${name}`)
  return rows.length > 0
}
