import { and, count, desc, eq, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page, Search } from "../http/schema.ts"
import type { WrappedKey } from "../secrets/data-key.ts"
import { dataKeys } from "../secrets/table.ts"
import { containsText, hostOf, openDb, selectRow } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import { mcpServers, type McpServerRow } from "./table.ts"

export const MAX_SERVERS = 100

export type McpScope = { organizationId: string; workspaceId: string }
/** A server with the data key of its workspace, which decrypts its headers. */
export type KeyedServer = { row: McpServerRow; dataKey: WrappedKey }

const isInScope = ({ organizationId, workspaceId }: McpScope) =>
  and(eq(mcpServers.organizationId, organizationId), eq(mcpServers.workspaceId, workspaceId))
const isServer = (scope: McpScope, slug: string) => and(isInScope(scope), eq(mcpServers.slug, slug))

const keyed = {
  row: mcpServers,
  dataKey: {
    id: dataKeys.id,
    workspaceId: dataKeys.workspaceId,
    masterId: dataKeys.masterId,
    wrapped: dataKeys.wrapped,
  },
}

const ownDataKey = and(eq(dataKeys.id, mcpServers.workspaceId), eq(dataKeys.organizationId, mcpServers.organizationId))

/** Newest first. */
export async function listMcpServers(
  binding: D1Database,
  scope: McpScope,
  page: Page & Search,
): Promise<{ rows: KeyedServer[]; total: number }> {
  const db = openDb(binding)
  const where = and(isInScope(scope), containsText(page.q, [mcpServers.slug, mcpServers.name, hostOf(mcpServers.url)]))
  // Not one batch: its rows are objects, in which columns of the same name collide.
  return toCountedPage(
    await Promise.all([
      db
        .select(keyed)
        .from(mcpServers)
        .innerJoin(dataKeys, ownDataKey)
        .where(where)
        .orderBy(desc(mcpServers.createdAt), mcpServers.id)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(mcpServers).where(where),
    ]),
  )
}

export async function findMcpServer(db: D1Database, scope: McpScope, slug: string): Promise<KeyedServer | undefined> {
  const [found] = await openDb(db)
    .select(keyed)
    .from(mcpServers)
    .innerJoin(dataKeys, ownDataKey)
    .where(isServer(scope, slug))
  return found
}

/** False if the workspace is deleted or has reached its limit. Throws D1's constraint error if the slug is taken. */
export async function insertMcpServer(binding: D1Database, row: McpServerRow, entry: AuditEntry): Promise<boolean> {
  const db = openDb(binding)
  const { organizationId, workspaceId } = row
  const hasRoom = sql`EXISTS (SELECT 1 FROM workspaces
      WHERE id = ${workspaceId} AND organization_id = ${organizationId} AND deleted_at IS NULL)
    AND (SELECT count(*) FROM mcp_servers WHERE workspace_id = ${workspaceId}) < ${MAX_SERVERS}`
  const [inserted] = await db.batch([
    db.insert(mcpServers).select(selectRow(mcpServers, row, hasRoom)),
    auditIfChanged(db, entry),
  ])
  return inserted.meta.changes > 0
}

type McpServerUpdate = {
  scope: McpScope
  before: Pick<McpServerRow, "slug" | "version">
  change: Partial<McpServerRow>
  entry: AuditEntry
}

/** The changed row; undefined if it is deleted, or its headers were changed since it was read. */
export async function updateMcpServer(
  binding: D1Database,
  { scope, before, change, entry }: McpServerUpdate,
): Promise<McpServerRow | undefined> {
  const db = openDb(binding)
  const [updated] = await db.batch([
    db
      .update(mcpServers)
      .set(change)
      .where(and(isServer(scope, before.slug), eq(mcpServers.version, before.version)))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return updated[0]
}

export async function deleteMcpServer(
  binding: D1Database,
  scope: McpScope,
  slug: string,
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const [deleted] = await db.batch([db.delete(mcpServers).where(isServer(scope, slug)), auditIfChanged(db, entry)])
  return deleted.meta.changes > 0
}
