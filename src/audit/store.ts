import { and, count, desc, eq, gte, inArray, lt, sql } from "drizzle-orm"
import { type Db, openDb, selectRow, toStatement } from "../support/db.ts"
import { DAY_MS } from "../support/time/time.ts"
import { toCountedPage } from "../support/rows.ts"
import { DENIED_RESOURCE } from "./entry.ts"
import type { AuditQuery } from "./schemas.ts"
import { type AuditEntry, auditLog } from "./table.ts"

/** Types of resources that decide about no call of a cached key. */
const NO_POLICY: ReadonlySet<string> = new Set([
  DENIED_RESOURCE,
  "alert_channel",
  "alert_settings",
  "batch",
  "catalogue",
  "catalogue_endpoint",
  "connect_link",
  "credit",
  "data_key",
  "file",
  "generation",
  "ledger",
  "mcp_server",
  "oauth_code",
  "passthrough_service",
  "response_cache",
  "vault_secret",
])
/** Events of interns that change a key. A new key changes no other key. */
const POLICY_OF_INTERNS: ReadonlySet<string> = new Set(["intern.update", "intern.renew_key", "intern.delete"])
const NEXT_REVISION = sql`(SELECT coalesce(max(revision), 0) + 1 FROM audit_log WHERE revision IS NOT NULL)`

/** D1 commits one batch after the other, so revisions are in the order of commits. */
function withRevision(entry: AuditEntry) {
  return { ...entry, revision: isPolicyChange(entry) ? NEXT_REVISION : null }
}

function isPolicyChange({ resourceType, action }: AuditEntry): boolean {
  if (resourceType === "intern") return POLICY_OF_INTERNS.has(action)
  return !NO_POLICY.has(resourceType) && action !== "api_key.create"
}

const insert = (db: Db, entry: AuditEntry) => db.insert(auditLog).values(withRevision(entry))

const insertIfChanged = (db: Db, entry: AuditEntry) =>
  db.insert(auditLog).select(selectRow(auditLog, withRevision(entry), sql`changes() > 0`))

/** Writes an entry, as part of the batch of the change that it records. */
export function auditStatement(db: D1Database, entry: AuditEntry): D1PreparedStatement
export function auditStatement(db: Db, entry: AuditEntry): ReturnType<typeof insert>
export function auditStatement(db: D1Database | Db, entry: AuditEntry) {
  return "$client" in db ? insert(db, entry) : toStatement(db, insert(openDb(db), entry))
}

/**
 * The same for a change that resolves a race in its WHERE: the entry is written if the preceding statement of the batch
 * changed a row. A batch is one transaction on one connection, whose `changes()` refers to that statement.
 */
export function auditIfChanged(db: D1Database, entry: AuditEntry): D1PreparedStatement
export function auditIfChanged(db: Db, entry: AuditEntry): ReturnType<typeof insertIfChanged>
export function auditIfChanged(db: D1Database | Db, entry: AuditEntry) {
  return "$client" in db ? insertIfChanged(db, entry) : toStatement(db, insertIfChanged(openDb(db), entry))
}

/** Gives an entry the next revision, for a part of its change that is made later. */
export function reviseStatement(
  db: Db,
  { organizationId, action, resourceId }: Pick<AuditEntry, "organizationId" | "action" | "resourceId">,
) {
  const isEntry = and(eq(auditLog.action, action), eq(auditLog.resourceId, resourceId))
  return db
    .update(auditLog)
    .set({ revision: NEXT_REVISION })
    .where(and(eq(auditLog.organizationId, organizationId), isEntry))
}

export async function insertAudit(db: D1Database, entry: AuditEntry): Promise<void> {
  await insert(openDb(db), entry)
}

function matchesQuery(organizationId: string, query: AuditQuery) {
  const { action, resource_type: type, resource_id: id, key_hash: hash, workspace_id: workspaceId, from, to } = query
  return and(
    eq(auditLog.organizationId, organizationId),
    action === undefined ? undefined : eq(auditLog.action, action),
    type === undefined ? undefined : eq(auditLog.resourceType, type),
    id === undefined ? undefined : eq(auditLog.resourceId, id),
    hash === undefined ? undefined : eq(auditLog.keyHash, hash),
    workspaceId === undefined ? undefined : eq(auditLog.workspaceId, workspaceId),
    from === undefined ? undefined : gte(auditLog.createdAt, from),
    to === undefined ? undefined : lt(auditLog.createdAt, to),
  )
}

/** Lists the entries of one organization, newest first. */
export async function listAudit(
  binding: D1Database,
  organizationId: string,
  query: AuditQuery,
): Promise<{ rows: AuditEntry[]; total: number }> {
  const db = openDb(binding)
  const where = matchesQuery(organizationId, query)
  return toCountedPage(
    await db.batch([
      db
        .select()
        .from(auditLog)
        .where(where)
        .orderBy(desc(auditLog.createdAt), desc(auditLog.id))
        .limit(query.limit)
        .offset(query.offset),
      db.select({ total: count() }).from(auditLog).where(where),
    ]),
  )
}

const PRUNE_BATCH = 500
/** Limit of one run; the rest is left for the next day. */
const PRUNE_BATCHES = 100

/** Deletes entries of all organizations that are older than the retention. Returns how many. */
export async function pruneAudit(binding: D1Database, now: number, retentionDays: number): Promise<number> {
  const before = now - retentionDays * DAY_MS
  const db = openDb(binding)
  const oldest = db
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(lt(auditLog.createdAt, before))
    .orderBy(auditLog.createdAt)
    .limit(PRUNE_BATCH)
  let removed = 0
  for (let batch = 0; batch < PRUNE_BATCHES; batch++) {
    const { meta } = await db.delete(auditLog).where(inArray(auditLog.id, oldest))
    removed += meta.changes
    if (meta.changes < PRUNE_BATCH) break
  }
  return removed
}
