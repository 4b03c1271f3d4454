import { and, asc, desc, eq, getTableColumns, isNull, or, sql } from "drizzle-orm"
import type { AuditEntry } from "../../audit/entry.ts"
import { auditIfChanged } from "../../audit/store.ts"
import { guardrailKeys } from "../../guardrails/table.ts"
import { insertKeyQuery } from "../../keys/store.ts"
import { apiKeys, type KeyRow, type NewKeyRow } from "../../keys/table.ts"
import { type MemberRow, members } from "../../members/table.ts"
import { type Db, openDb, selectRow } from "../../support/db.ts"
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

/**
 * The workspace of a person's sessions: the default one. After its deletion the oldest one, of which a person without
 * rights over the organization must be a member.
 */
export async function findConsoleWorkspace(
  db: D1Database,
  { organizationId, userId, isManager }: Pick<MemberRow, "organizationId" | "userId"> & { isManager: boolean },
): Promise<string | undefined> {
  const isMember = sql`EXISTS (SELECT 1 FROM workspace_members m WHERE m.workspace_id = ${workspaces.id}
    AND m.organization_id = ${organizationId} AND m.user_id = ${userId})`
  const [row] = await openDb(db)
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(
      and(
        eq(workspaces.organizationId, organizationId),
        isNull(workspaces.deletedAt),
        isManager ? undefined : or(eq(workspaces.isDefault, true), isMember),
      ),
    )
    .orderBy(desc(workspaces.isDefault), asc(workspaces.createdAt), asc(workspaces.id))
    .limit(1)
  return row?.id
}

const ofPerson = (organizationId: string, userId: string) =>
  and(eq(consolePeople.organizationId, organizationId), eq(consolePeople.userId, userId))

/** The latest key of a person's sessions, also if it was deleted. */
export async function findConsoleKey(
  db: D1Database,
  organizationId: string,
  userId: string,
): Promise<KeyRow | undefined> {
  const [row] = await openDb(db)
    .select(getTableColumns(apiKeys))
    .from(consolePeople)
    .innerJoin(
      apiKeys,
      and(eq(apiKeys.hash, consolePeople.keyHash), eq(apiKeys.organizationId, consolePeople.organizationId)),
    )
    .where(ofPerson(organizationId, userId))
  return row
}

/** `replaced`: the person's deleted key, whose guardrail applies to the new one. */
type KeyOfPerson = {
  key: NewKeyRow
  userId: string
  replaced: { hash: string; assignment: AuditEntry } | undefined
  entry: AuditEntry
}

/**
 * Inserts the key of a person's sessions, the only one. False if another sign-in inserted one concurrently, or a
 * directory deactivated the person.
 */
export async function insertConsoleKey(
  binding: D1Database,
  { key, userId, replaced, entry }: KeyOfPerson,
): Promise<boolean> {
  const db = openDb(binding)
  const { organizationId, hash: keyHash } = key
  const hasNone = sql`NOT EXISTS (SELECT 1 FROM console_people p JOIN api_keys k ON k.hash = p.key_hash
    WHERE p.organization_id = ${organizationId} AND p.user_id = ${userId} AND k.deleted_at IS NULL)`
  const [inserted] = await db.batch([
    insertKeyQuery(db, key, hasNone),
    auditIfChanged(db, entry),
    db
      .insert(consolePeople)
      .select(selectRow(consolePeople, { organizationId, userId, keyHash }, isInserted(keyHash)))
      .onConflictDoUpdate({ target: [consolePeople.organizationId, consolePeople.userId], set: { keyHash } }),
    ...(replaced ? assignGuardrails(db, key, replaced) : []),
  ])
  return inserted.meta.changes > 0
}

const isInserted = (hash: string) => sql`EXISTS (SELECT 1 FROM ${apiKeys} WHERE ${apiKeys.hash} = ${hash})`

/** Assigns the guardrails of the deleted key, if the new one was inserted. */
function assignGuardrails(db: Db, { organizationId, hash }: NewKeyRow, replaced: NonNullable<KeyOfPerson["replaced"]>) {
  return [
    db
      .update(guardrailKeys)
      .set({ keyHash: hash })
      .where(
        and(
          eq(guardrailKeys.organizationId, organizationId),
          eq(guardrailKeys.keyHash, replaced.hash),
          isInserted(hash),
        ),
      ),
    auditIfChanged(db, replaced.assignment),
  ] as const
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
