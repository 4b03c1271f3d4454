import type { Settled } from "../../ledger/generation.ts"
import { columnNames, type StoredOf } from "../../support/db.ts"
import type { DestinationRow } from "../destination.ts"
import type { KeyedRow } from "../store.ts"
import { broadcastBatches } from "../table.ts"
import { parseStored } from "../../support/json.ts"

export type BatchRow = StoredOf<typeof broadcastBatches>

const columns = columnNames(broadcastBatches)
const BATCH_COLUMNS = columns.join(", ")
const OF_WORKSPACE = `SELECT d.*, k.master_id AS masterId, k.wrapped, 0 AS backlog, 0 AS dead_letters,
   d.enabled = 1 AND w.deleted_at IS NULL
     AND coalesce(json_extract(w.settings, '$.is_observability_broadcast_enabled'), 0) = 1 AS isActive
 FROM destinations d JOIN workspaces w ON w.id = d.workspace_id
   LEFT JOIN data_keys k ON k.id = d.workspace_id AND k.organization_id = d.organization_id
 WHERE d.deleted_at IS NULL AND d.organization_id = ?`

export type Receiver = KeyedRow & { isActive: number }

/** Those of a workspace that listen now. */
export async function listReceivers(db: D1Database, organizationId: string, workspaceId: string): Promise<Receiver[]> {
  const { results } = await db
    .prepare(`${OF_WORKSPACE} AND d.workspace_id = ? ORDER BY d.id`)
    .bind(organizationId, workspaceId)
    .all<Receiver>()
  return results.filter(({ isActive }) => isActive === 1)
}

export async function findReceiver(
  db: D1Database,
  organizationId: string,
  destinationId: string,
): Promise<Receiver | undefined> {
  const row = await db.prepare(`${OF_WORKSPACE} AND d.id = ?`).bind(organizationId, destinationId).first<Receiver>()
  return row ?? undefined
}

export type Called = { generation: Settled; keyName: string | null }

/** Those of these calls that are in the database, by time, each with the name of its key. */
export async function listCalled(db: D1Database, organizationId: string, ids: readonly string[]): Promise<Called[]> {
  const { results } = await db
    .prepare(
      `SELECT g.record, k.name FROM generations g LEFT JOIN api_keys k ON k.hash = g.key_hash
       WHERE g.organization_id = ? AND g.id IN (SELECT value FROM json_each(?)) ORDER BY g.id`,
    )
    .bind(organizationId, JSON.stringify(ids))
    .all<{ record: string; name: string | null }>()
  return results.map(({ record, name }) => ({ generation: parseStored<Settled>(record), keyName: name }))
}

/** An existing batch is left unchanged. */
export async function insertBatch(db: D1Database, row: BatchRow): Promise<void> {
  await db
    .prepare(
      `INSERT INTO broadcast_batches (${BATCH_COLUMNS}) VALUES (${columns.map(() => "?").join(", ")}) ON CONFLICT DO NOTHING`,
    )
    .bind(...columns.map((column) => row[column]))
    .run()
}

export async function findBatch(db: D1Database, organizationId: string, id: string): Promise<BatchRow | undefined> {
  const row = await db
    .prepare(`SELECT ${BATCH_COLUMNS} FROM broadcast_batches WHERE organization_id = ? AND id = ?`)
    .bind(organizationId, id)
    .first<BatchRow>()
  return row ?? undefined
}

/** Leases a batch until `until`. False if it is gone, leased by another consumer, or not due by `dueBy`. */
export async function claimBatch(
  db: D1Database,
  { organization_id, id }: BatchRow,
  dueBy: number,
  until: number,
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `UPDATE broadcast_batches SET due_at = ? WHERE organization_id = ? AND id = ? AND state = 'pending' AND due_at <= ?`,
    )
    .bind(until, organization_id, id, dueBy)
    .run()
  return meta.changes > 0
}

export async function deleteBatch(db: D1Database, { organization_id, id }: BatchRow): Promise<void> {
  await db.prepare("DELETE FROM broadcast_batches WHERE organization_id = ? AND id = ?").bind(organization_id, id).run()
}

export async function updateBatch(
  db: D1Database,
  { organization_id, id }: BatchRow,
  { state, attempts, rejections, due_at }: Pick<BatchRow, "state" | "attempts" | "rejections" | "due_at">,
): Promise<void> {
  await db
    .prepare(
      "UPDATE broadcast_batches SET state = ?, attempts = ?, rejections = ?, due_at = ? WHERE organization_id = ? AND id = ?",
    )
    .bind(state, attempts, rejections, due_at, organization_id, id)
    .run()
}

type Which = Pick<DestinationRow, "organization_id" | "id">

export async function noteSuccess(db: D1Database, { organization_id, id }: Which, now: number): Promise<void> {
  await db
    .prepare(
      `UPDATE destinations SET last_success_at = ?, failures = 0, paused_until = 0
       WHERE organization_id = ? AND id = ? AND deleted_at IS NULL`,
    )
    .bind(now, organization_id, id)
    .run()
}

type DeliveryFailure = {
  message: string
  pause: { failures: number; until: number } | undefined
  now: number
}

/** `pauseMs`: by how many failures in a row there were. Only one of those that fail together counts. */
export async function noteFailure(
  db: D1Database,
  { organization_id, id }: Which,
  { message, pause, now }: DeliveryFailure,
): Promise<void> {
  await db
    .prepare(
      `UPDATE destinations SET last_error = ?, last_error_at = ?, failures = coalesce(?, failures),
         paused_until = max(paused_until, coalesce(?, 0)) WHERE organization_id = ? AND id = ? AND deleted_at IS NULL`,
    )
    .bind(message, now, pause?.failures ?? null, pause?.until ?? null, organization_id, id)
    .run()
}

/** Batches of all organizations that are overdue for so long that their queue message is lost. */
export async function listOverdue(db: D1Database, before: number, limit: number): Promise<BatchRow[]> {
  const { results } = await db
    .prepare(
      `SELECT ${BATCH_COLUMNS} FROM broadcast_batches WHERE state = 'pending' AND due_at < ? ORDER BY due_at LIMIT ?`,
    )
    .bind(before, limit)
    .all<BatchRow>()
  return results
}

/** Deletes dead letters of all organizations that are past their retention. */
export async function pruneBatches(db: D1Database, before: number): Promise<void> {
  await db.prepare("DELETE FROM broadcast_batches WHERE state = 'dead' AND due_at < ?").bind(before).run()
}
