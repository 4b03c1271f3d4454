import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import type { WrappedKey } from "../secrets/data-key.ts"
import { columnNames } from "../support/db.ts"
import { type DestinationRow, type DestinationState, STATE_COLUMNS } from "./destination.ts"
import { destinations } from "./table.ts"
import { type DestinationFilter, type HeadRow, toHead } from "./coverage.ts"
import { type Counted, toPage } from "../support/rows.ts"
import { keysOf } from "../support/arrays.ts"

const columns = columnNames(destinations, [...STATE_COLUMNS, "deleted_at"])
const COLUMNS = columns.join(", ")
const LISTED_COLUMNS = `${COLUMNS}, ${STATE_COLUMNS.join(", ")},
  (SELECT coalesce(sum(calls), 0) FROM broadcast_batches b WHERE b.destination_id = destinations.id AND state = 'pending') AS backlog,
  (SELECT coalesce(sum(calls), 0) FROM broadcast_batches b WHERE b.destination_id = destinations.id AND state = 'dead') AS dead_letters,
  (SELECT min(due_at) FROM broadcast_batches b WHERE b.destination_id = destinations.id AND state = 'pending') AS next_due_at`
/** With the workspace key that decrypts the secrets. */
const IN_WORKSPACE = `SELECT ${LISTED_COLUMNS},
   (SELECT master_id FROM data_keys d WHERE d.id = destinations.workspace_id AND d.organization_id = destinations.organization_id) AS masterId,
   (SELECT wrapped FROM data_keys d WHERE d.id = destinations.workspace_id AND d.organization_id = destinations.organization_id) AS wrapped
 FROM destinations WHERE organization_id = ? AND deleted_at IS NULL`

/** Limited because the filters are loaded with every key of the workspace. */
export const MAX_PER_TYPE = 5

type Scope = { organizationId: string; workspaceId: string }

/** A destination with the data key of its workspace, to decrypt its secrets. */
export type KeyedRow = DestinationRow & DestinationState & { masterId: string | null; wrapped: string | null }

export function dataKeyOf({ workspace_id: workspaceId, masterId, wrapped }: KeyedRow): WrappedKey {
  return { id: workspaceId, workspaceId, masterId: masterId ?? "", wrapped: wrapped ?? "" }
}

/** Newest first. */
export async function listDestinations(
  db: D1Database,
  { organizationId, workspaceId }: Scope,
  page: Page,
): Promise<{ rows: KeyedRow[]; total: number }> {
  return toPage(
    await db.batch<Counted<KeyedRow>>([
      db
        .prepare(`${IN_WORKSPACE} AND workspace_id = ? ORDER BY created_at DESC, id LIMIT ? OFFSET ?`)
        .bind(organizationId, workspaceId, page.limit, page.offset),
      db
        .prepare(
          "SELECT count(*) AS total FROM destinations WHERE organization_id = ? AND workspace_id = ? AND deleted_at IS NULL",
        )
        .bind(organizationId, workspaceId),
    ]),
  )
}

export async function findDestination(
  db: D1Database,
  organizationId: string,
  id: string,
): Promise<KeyedRow | undefined> {
  const row = await db.prepare(`${IN_WORKSPACE} AND id = ?`).bind(organizationId, id).first<KeyedRow>()
  return row ?? undefined
}

/**
 * The first destination enables broadcasting in its workspace, unless that was disabled explicitly. False if the
 * workspace is deleted or has reached the limit of this type.
 */
export async function insertDestination(db: D1Database, row: DestinationRow, entry: AuditEntry): Promise<boolean> {
  const scope = [row.workspace_id, row.organization_id, row.workspace_id, row.type, MAX_PER_TYPE]
  const [inserted] = await db.batch([
    db
      .prepare(
        `INSERT INTO destinations (${COLUMNS}) SELECT ${columns.map(() => "?").join(", ")}
         WHERE EXISTS (SELECT 1 FROM workspaces WHERE id = ? AND organization_id = ? AND deleted_at IS NULL)
           AND (SELECT count(*) FROM destinations WHERE workspace_id = ? AND type = ? AND deleted_at IS NULL) < ?`,
      )
      .bind(...columns.map((column) => row[column]), ...scope),
    auditIfChanged(db, entry),
    db
      .prepare(
        `UPDATE workspaces SET settings = json_set(settings, '$.is_observability_broadcast_enabled', json('true'))
         WHERE id = ? AND json_type(settings, '$.is_observability_broadcast_enabled') IS NULL
           AND EXISTS (SELECT 1 FROM destinations WHERE id = ?)`,
      )
      .bind(row.workspace_id, row.id),
  ])
  return (inserted?.meta.changes ?? 0) > 0
}

type DestinationUpdate = {
  organizationId: string
  destination: Pick<DestinationRow, "id" | "version">
  change: Partial<DestinationRow>
  entry: AuditEntry
}

/** False if it is deleted, or its secrets were changed since `version` was read. */
export async function updateDestination(
  db: D1Database,
  { organizationId, destination: { id, version }, change, entry }: DestinationUpdate,
): Promise<boolean> {
  const columns = keysOf(change)
  // Failures of the old settings do not apply to the new ones.
  const assignments = [...columns.map((column) => `${column} = ?`), "failures = 0", "paused_until = 0"].join(", ")
  const [updated] = await db.batch([
    db
      .prepare(
        `UPDATE destinations SET ${assignments} WHERE organization_id = ? AND id = ? AND version = ? AND deleted_at IS NULL`,
      )
      .bind(...columns.map((column) => change[column] ?? null), organizationId, id, version),
    auditIfChanged(db, entry),
  ])
  return (updated?.meta.changes ?? 0) > 0
}

type DestinationChange = {
  organizationId: string
  id: string
  now: number
  entry: AuditEntry
}

/**
 * Marks the row as deleted and deletes its secrets. Its Durable Object deletes the backlog. False if it does not exist.
 */
export async function deleteDestination(
  db: D1Database,
  { organizationId, id, now, entry }: DestinationChange,
): Promise<boolean> {
  const [deleted] = await db.batch([
    db
      .prepare(
        "UPDATE destinations SET deleted_at = ?, sealed = '' WHERE organization_id = ? AND id = ? AND deleted_at IS NULL",
      )
      .bind(now, organizationId, id),
    auditIfChanged(db, entry),
  ])
  return (deleted?.meta.changes ?? 0) > 0
}

/** Makes every batch due now, dead letters included. Returns how many. */
export async function reviveBatches(
  db: D1Database,
  { organizationId, id, now, entry }: DestinationChange,
): Promise<number> {
  const [revived] = await db.batch([
    db
      .prepare(
        `UPDATE broadcast_batches SET state = 'pending', since = ?3, due_at = ?3, attempts = 0, rejections = 0
         WHERE organization_id = ?1 AND destination_id = ?2`,
      )
      .bind(organizationId, id, now),
    auditIfChanged(db, entry),
    db
      .prepare("UPDATE destinations SET failures = 0, paused_until = 0 WHERE organization_id = ? AND id = ?")
      .bind(organizationId, id),
  ])
  return revived?.meta.changes ?? 0
}

const ACTIVE = `destinations d JOIN workspaces w ON w.id = d.workspace_id
   AND json_extract(w.settings, '$.is_observability_broadcast_enabled') = 1
 WHERE d.enabled = 1 AND d.deleted_at IS NULL`
const OF_WORKSPACE = `SELECT d.api_key_hashes, d.filter_rules, d.regions, d.sampling_rate, d.privacy_mode FROM ${ACTIVE}`

/** Filters of the active destinations of a key's workspace, for the batch that loads the key. */
export function headsStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db
    .prepare(
      `${OF_WORKSPACE} AND (d.organization_id, d.workspace_id) =
         (SELECT organization_id, workspace_id FROM api_keys WHERE hash = ?)`,
    )
    .bind(hash)
}

/** Filters for a principal whose key has no row. */
export async function listActiveDestinations(
  db: D1Database,
  { organizationId, workspaceId }: Scope,
): Promise<DestinationFilter[]> {
  const { results } = await db
    .prepare(`${OF_WORKSPACE} AND d.organization_id = ? AND d.workspace_id = ?`)
    .bind(organizationId, workspaceId)
    .all<HeadRow>()
  return results.map(toHead)
}
