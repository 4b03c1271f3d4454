import { and, count, desc, eq, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page, Search } from "../http/schema.ts"
import type { WrappedKey } from "../secrets/data-key.ts"
import { dataKeys } from "../secrets/table.ts"
import { containsText, hostOf, openDb, selectRow } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import { passthroughServices, type ServiceRow } from "./table.ts"

export const MAX_SERVICES = 100

export type ServiceScope = { organizationId: string; workspaceId: string }
/** A service with the data key of its workspace, which opens its secrets. */
export type KeyedService = { row: ServiceRow; dataKey: WrappedKey }

const isInScope = ({ organizationId, workspaceId }: ServiceScope) =>
  and(eq(passthroughServices.organizationId, organizationId), eq(passthroughServices.workspaceId, workspaceId))
const isService = (scope: ServiceScope, slug: string) => and(isInScope(scope), eq(passthroughServices.slug, slug))

const keyed = {
  row: passthroughServices,
  dataKey: {
    id: dataKeys.id,
    workspaceId: dataKeys.workspaceId,
    masterId: dataKeys.masterId,
    wrapped: dataKeys.wrapped,
  },
}

const ownDataKey = and(
  eq(dataKeys.id, passthroughServices.workspaceId),
  eq(dataKeys.organizationId, passthroughServices.organizationId),
)

/** Newest first. */
export async function listServices(
  binding: D1Database,
  scope: ServiceScope,
  page: Page & Search,
): Promise<{ rows: KeyedService[]; total: number }> {
  const db = openDb(binding)
  const { slug, name, baseUrl } = passthroughServices
  const where = and(isInScope(scope), containsText(page.q, [slug, name, hostOf(baseUrl)]))
  // Not one batch: its rows are objects, in which columns of the same name collide.
  return toCountedPage(
    await Promise.all([
      db
        .select(keyed)
        .from(passthroughServices)
        .innerJoin(dataKeys, ownDataKey)
        .where(where)
        .orderBy(desc(passthroughServices.createdAt), passthroughServices.id)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(passthroughServices).where(where),
    ]),
  )
}

export async function findService(
  db: D1Database,
  scope: ServiceScope,
  slug: string,
): Promise<KeyedService | undefined> {
  const [found] = await openDb(db)
    .select(keyed)
    .from(passthroughServices)
    .innerJoin(dataKeys, ownDataKey)
    .where(isService(scope, slug))
  return found
}

/** False if the workspace is deleted or has reached its limit. Rejects where the slug is taken. */
export async function insertService(binding: D1Database, row: ServiceRow, entry: AuditEntry): Promise<boolean> {
  const db = openDb(binding)
  const { organizationId, workspaceId } = row
  const hasRoom = sql`EXISTS (SELECT 1 FROM workspaces
      WHERE id = ${workspaceId} AND organization_id = ${organizationId} AND deleted_at IS NULL)
    AND (SELECT count(*) FROM passthrough_services WHERE workspace_id = ${workspaceId}) < ${MAX_SERVICES}`
  const [inserted] = await db.batch([
    db.insert(passthroughServices).select(selectRow(passthroughServices, row, hasRoom)),
    auditIfChanged(db, entry),
  ])
  return inserted.meta.changes > 0
}

type ServiceUpdate = {
  scope: ServiceScope
  before: Pick<ServiceRow, "slug" | "version">
  change: Partial<ServiceRow>
  entry: AuditEntry
}

/** The changed row; undefined if it is deleted, or its secrets were changed since it was read. */
export async function updateService(
  binding: D1Database,
  { scope, before, change, entry }: ServiceUpdate,
): Promise<ServiceRow | undefined> {
  const db = openDb(binding)
  const [updated] = await db.batch([
    db
      .update(passthroughServices)
      .set(change)
      .where(and(isService(scope, before.slug), eq(passthroughServices.version, before.version)))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return updated[0]
}

export async function deleteService(
  binding: D1Database,
  scope: ServiceScope,
  slug: string,
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db.delete(passthroughServices).where(isService(scope, slug)),
    auditIfChanged(db, entry),
  ])
  return deleted.meta.changes > 0
}
