import { and, asc, eq, isNull, sql } from "drizzle-orm"
import type { AuditEntry } from "../../audit/entry.ts"
import { auditIfChanged } from "../../audit/store.ts"
import { insertKeyQuery } from "../../keys/store.ts"
import { apiKeys, type NewKeyRow } from "../../keys/table.ts"
import { type MemberRow, members } from "../../members/table.ts"
import { openDb } from "../../support/db.ts"
import { workspaces } from "../../workspaces/table.ts"
import { consolePeople } from "../table.ts"

/**
 * Members with this email, in every organization, the oldest membership first. The only lookup without an organization:
 * the provider identifies the person, and the memberships the organizations.
 */
export async function findMembersByEmail(db: D1Database, email: string): Promise<MemberRow[]> {
  return openDb(db)
    .select()
    .from(members)
    .where(eq(members.email, email))
    .orderBy(asc(members.createdAt), asc(members.organizationId))
}

export async function findDefaultWorkspace(db: D1Database, organizationId: string): Promise<string | undefined> {
  const [row] = await openDb(db)
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(
      and(eq(workspaces.organizationId, organizationId), eq(workspaces.isDefault, true), isNull(workspaces.deletedAt)),
    )
  return row?.id
}

const ofPerson = (organizationId: string, userId: string) =>
  and(eq(consolePeople.organizationId, organizationId), eq(consolePeople.userId, userId))

/** The key of a person's sessions, unless it was deleted. */
export async function findConsoleKey(db: D1Database, organizationId: string, userId: string) {
  const [row] = await openDb(db)
    .select({ hash: apiKeys.hash, disabled: apiKeys.disabled })
    .from(consolePeople)
    .innerJoin(
      apiKeys,
      and(
        eq(apiKeys.hash, consolePeople.keyHash),
        eq(apiKeys.organizationId, consolePeople.organizationId),
        isNull(apiKeys.deletedAt),
      ),
    )
    .where(ofPerson(organizationId, userId))
  return row
}

type KeyOfPerson = { key: NewKeyRow; userId: string; entry: AuditEntry }

/** Inserts the key of a person's sessions. False if a directory deactivated the person concurrently. */
export async function insertConsoleKey(binding: D1Database, { key, userId, entry }: KeyOfPerson): Promise<boolean> {
  const db = openDb(binding)
  const { organizationId, hash: keyHash } = key
  const [inserted] = await db.batch([
    insertKeyQuery(db, key),
    auditIfChanged(db, entry),
    db
      .insert(consolePeople)
      .values({ organizationId, userId, keyHash })
      .onConflictDoUpdate({ target: [consolePeople.organizationId, consolePeople.userId], set: { keyHash } }),
  ])
  return inserted.meta.changes > 0
}

type Renewal = Pick<NewKeyRow, "organizationId" | "hash" | "kind" | "name"> & { entry: AuditEntry }

/** Updates the key to the person's current role and name. False if it is not usable. */
export async function renewConsoleKey(
  binding: D1Database,
  { organizationId, hash, kind, name, entry }: Renewal,
): Promise<boolean> {
  const db = openDb(binding)
  const [updated] = await db.batch([
    db
      .update(apiKeys)
      .set({ kind, name })
      .where(
        and(
          eq(apiKeys.organizationId, organizationId),
          eq(apiKeys.hash, hash),
          eq(apiKeys.disabled, false),
          isNull(apiKeys.deletedAt),
          sql`NOT EXISTS (SELECT 1 FROM scim_leavers l
            WHERE l.organization_id = ${apiKeys.organizationId} AND l.user_id = ${apiKeys.creatorUserId})`,
        ),
      ),
    auditIfChanged(db, entry),
  ])
  return updated.meta.changes > 0
}
