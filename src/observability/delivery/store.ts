import type { Settled } from "../../ledger/generation.ts"
import { columnNames } from "../../support/db.ts"
import type { DestinationRow } from "../destination.ts"
import type { KeyedRow } from "../store.ts"
import { type BatchRow, broadcastBatches } from "../table.ts"
import { parseStored } from "../../support/text/json.ts"
import type { PageResult } from "./drain.ts"
import type { Breaker } from "./retry.ts"
import type { DeliveryIdentity } from "./wake.ts"

const columns = columnNames(broadcastBatches)
const BATCH_COLUMNS = columns.join(", ")
const OF_WORKSPACE = `SELECT d.*, k.master_id AS masterId, k.wrapped, 0 AS backlog, 0 AS dead_letters, NULL AS next_due_at,
   d.enabled = 1 AND w.deleted_at IS NULL
     AND coalesce(json_extract(w.settings, '$.is_observability_broadcast_enabled'), 0) = 1 AS isActive
 FROM destinations d JOIN workspaces w ON w.id = d.workspace_id
   LEFT JOIN data_keys k ON k.id = d.workspace_id AND k.organization_id = d.organization_id
 WHERE d.deleted_at IS NULL AND d.organization_id = ?`

export type ReceivingDestination = KeyedRow & { isActive: number }

/** Enabled destinations of a workspace. */
export async function listReceivers(
  db: D1Database,
  organizationId: string,
  workspaceId: string,
): Promise<ReceivingDestination[]> {
  const { results } = await db
    .prepare(`${OF_WORKSPACE} AND d.workspace_id = ? ORDER BY d.id`)
    .bind(organizationId, workspaceId)
    .all<ReceivingDestination>()
  return results.filter(({ isActive }) => isActive === 1)
}

export async function findReceiver(
  db: D1Database,
  organizationId: string,
  destinationId: string,
): Promise<ReceivingDestination | undefined> {
  const row = await db
    .prepare(`${OF_WORKSPACE} AND d.id = ?`)
    .bind(organizationId, destinationId)
    .first<ReceivingDestination>()
  return row ?? undefined
}

export type ChargedCall = { generation: Settled; keyName: string | null }

/** The calls among `ids` that are in the database, by time, each with the name of its key. */
export async function listCalled(
  db: D1Database,
  organizationId: string,
  ids: readonly string[],
): Promise<ChargedCall[]> {
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

/** Pending batches of a destination that are due, longest due first. */
export async function listDue(
  db: D1Database,
  { organizationId, destinationId }: DeliveryIdentity,
  now: number,
  limit: number,
): Promise<BatchRow[]> {
  const { results } = await db
    .prepare(
      `SELECT ${BATCH_COLUMNS} FROM broadcast_batches
       WHERE destination_id = ? AND state = 'pending' AND due_at <= ? AND organization_id = ? ORDER BY due_at LIMIT ?`,
    )
    .bind(destinationId, now, organizationId, limit)
    .all<BatchRow>()
  return results
}

export async function findNextDueAt(db: D1Database, { destinationId }: DeliveryIdentity): Promise<number | null> {
  const row = await db
    .prepare("SELECT min(due_at) AS at FROM broadcast_batches WHERE destination_id = ? AND state = 'pending'")
    .bind(destinationId)
    .first<{ at: number | null }>()
  return row?.at ?? null
}

/** Writes the result of a page of deliveries: batches, breaker and the state that users see. */
export async function savePage(
  db: D1Database,
  { organizationId, destinationId }: DeliveryIdentity,
  { done, retries, breaker, takenAt, lastError }: PageResult,
  now: number,
): Promise<void> {
  await db.batch([
    db
      .prepare("DELETE FROM broadcast_batches WHERE organization_id = ? AND id IN (SELECT value FROM json_each(?))")
      .bind(organizationId, JSON.stringify(done.map(({ id }) => id))),
    ...retries.map(({ id, state, attempts, rejections, due_at }) =>
      db
        .prepare(
          "UPDATE broadcast_batches SET state = ?, attempts = ?, rejections = ?, due_at = ? WHERE organization_id = ? AND id = ?",
        )
        .bind(state, attempts, rejections, due_at, organizationId, id),
    ),
    db
      .prepare(
        `UPDATE destinations SET failures = ?, paused_until = ?, last_success_at = coalesce(?, last_success_at),
           last_error = coalesce(?, last_error), last_error_at = coalesce(?, last_error_at)
         WHERE organization_id = ? AND id = ? AND deleted_at IS NULL`,
      )
      .bind(
        breaker.failures,
        breaker.pausedUntil,
        takenAt || null,
        lastError || null,
        lastError === "" ? null : now,
        organizationId,
        destinationId,
      ),
  ])
}

/**
 * Turns batches that have been pending since before `before` into dead letters. Batches without an attempt count from
 * when they were due.
 */
export async function expireBatches(
  db: D1Database,
  { destinationId }: DeliveryIdentity,
  { before, limit, now }: { before: number; limit: number; now: number },
): Promise<number> {
  const { meta } = await db
    .prepare(
      `UPDATE broadcast_batches SET state = 'dead', due_at = ? WHERE id IN (
         SELECT id FROM broadcast_batches
         WHERE destination_id = ? AND state = 'pending' AND due_at <= ? AND since <= ? LIMIT ?)`,
    )
    .bind(now, destinationId, before, before, limit)
    .run()
  return meta.changes
}

/** Deletes at most `limit` batches of a deleted destination. */
export async function takeBatches(
  db: D1Database,
  { organizationId, destinationId }: DeliveryIdentity,
  limit: number,
): Promise<BatchRow[]> {
  const { results } = await db
    .prepare(
      `DELETE FROM broadcast_batches WHERE id IN (
         SELECT id FROM broadcast_batches WHERE destination_id = ? AND organization_id = ? LIMIT ?) RETURNING *`,
    )
    .bind(destinationId, organizationId, limit)
    .all<BatchRow>()
  return results
}

type Which = Pick<DestinationRow, "organization_id" | "id">

/** Only for a destination with a closed breaker: an open one is changed by the backlog. */
export async function recordSuccess(db: D1Database, { organization_id, id }: Which, now: number): Promise<void> {
  await db
    .prepare("UPDATE destinations SET last_success_at = ? WHERE organization_id = ? AND id = ? AND deleted_at IS NULL")
    .bind(now, organization_id, id)
    .run()
}

type DeliveryFailure = { message: string; breaker: Breaker; now: number }

/** Several deliveries that fail together count as one failure. */
export async function recordFailure(
  db: D1Database,
  { organization_id, id }: Which,
  { message, breaker, now }: DeliveryFailure,
): Promise<void> {
  await db
    .prepare(
      `UPDATE destinations SET last_error = ?, last_error_at = ?, failures = max(failures, ?),
         paused_until = max(paused_until, ?) WHERE organization_id = ? AND id = ? AND deleted_at IS NULL`,
    )
    .bind(message, now, breaker.failures, breaker.pausedUntil, organization_id, id)
    .run()
}

/** Destinations of all organizations with a batch that is overdue for so long that its wake-up is lost. */
export async function listOverdue(db: D1Database, before: number, limit: number): Promise<DeliveryIdentity[]> {
  const { results } = await db
    .prepare(
      `SELECT DISTINCT organization_id AS organizationId, destination_id AS destinationId
       FROM broadcast_batches WHERE state = 'pending' AND due_at < ? LIMIT ?`,
    )
    .bind(before, limit)
    .all<DeliveryIdentity>()
  return results
}

/** Deletes dead letters of all organizations that are past their retention. */
export async function pruneBatches(db: D1Database, before: number): Promise<void> {
  await db.prepare("DELETE FROM broadcast_batches WHERE state = 'dead' AND due_at < ?").bind(before).run()
}
