import { and, count, desc, eq, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import { openDb, selectRow } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import { alertChannels, type ChannelRow } from "./table.ts"

/** Every alert costs a request for each channel. */
export const MAX_CHANNELS = 50

const isInOrganization = (organizationId: string, id: string) =>
  and(eq(alertChannels.organizationId, organizationId), eq(alertChannels.id, id))

/** The channels of a workspace or of the organization, newest first. */
export async function listChannels(
  binding: D1Database,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string | undefined },
  page: Page,
): Promise<{ rows: ChannelRow[]; total: number }> {
  const db = openDb(binding)
  const where = and(
    eq(alertChannels.organizationId, organizationId),
    workspaceId === undefined ? undefined : eq(alertChannels.workspaceId, workspaceId),
  )
  return toCountedPage<ChannelRow>(
    await db.batch([
      db
        .select()
        .from(alertChannels)
        .where(where)
        .orderBy(desc(alertChannels.id))
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(alertChannels).where(where),
    ]),
  )
}

export async function findChannel(
  binding: D1Database,
  organizationId: string,
  id: string,
): Promise<ChannelRow | undefined> {
  const [row] = await openDb(binding).select().from(alertChannels).where(isInOrganization(organizationId, id))
  return row
}

/** False if the workspace was deleted or the organization has MAX_CHANNELS. */
export async function insertChannel(binding: D1Database, row: ChannelRow, entry: AuditEntry): Promise<boolean> {
  const db = openDb(binding)
  const hasRoom = sql`EXISTS (SELECT 1 FROM workspaces
      WHERE organization_id = ${row.organizationId} AND id = ${row.workspaceId} AND deleted_at IS NULL)
    AND (SELECT count(*) FROM alert_channels WHERE organization_id = ${row.organizationId}) < ${MAX_CHANNELS}`
  const [{ meta }] = await db.batch([
    db.insert(alertChannels).select(selectRow(alertChannels, row, hasRoom)),
    auditIfChanged(db, entry),
  ])
  return meta.changes > 0
}

/** False if it was deleted, or changed since `version` was read. */
export async function updateChannel(
  binding: D1Database,
  { organizationId, id, version }: Pick<ChannelRow, "organizationId" | "id" | "version">,
  change: Partial<ChannelRow>,
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const where = and(isInOrganization(organizationId, id), eq(alertChannels.version, version))
  const [{ meta }] = await db.batch([db.update(alertChannels).set(change).where(where), auditIfChanged(db, entry)])
  return meta.changes > 0
}

/** Also deletes its deliveries. */
export async function deleteChannel(
  binding: D1Database,
  organizationId: string,
  id: string,
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const [{ meta }] = await db.batch([
    db.delete(alertChannels).where(isInOrganization(organizationId, id)),
    auditIfChanged(db, entry),
  ])
  return meta.changes > 0
}

export async function recordOutcome(
  binding: D1Database,
  { organizationId, id }: Pick<ChannelRow, "organizationId" | "id">,
  { isTaken, message }: { isTaken: boolean; message: string },
  now: number,
): Promise<void> {
  const change = isTaken ? { lastSuccessAt: now } : { lastErrorAt: now, lastError: message }
  await openDb(binding).update(alertChannels).set(change).where(isInOrganization(organizationId, id))
}
