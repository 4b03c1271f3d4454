import { and, desc, eq, inArray, lt, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditStatement } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import { organizations } from "../organizations/table.ts"
import { openDb } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import type { Alert } from "./alert.ts"
import { type AlertSettings, DEFAULT_SETTINGS } from "../ledger/reporting/alert-settings.ts"
import { alertDeliveries, alerts, type AlertRow } from "./table.ts"

export type Delivery = typeof alertDeliveries.$inferSelect

/**
 * Inserts alerts that do not exist yet, each with a delivery for every matching channel. Alerts without a workspace go
 * to the channels of the default workspace and to those of all workspaces.
 */
export async function insertAlerts(binding: D1Database, newAlerts: readonly Alert[]): Promise<void> {
  await binding.batch([
    binding
      .prepare(
        `INSERT INTO alerts (id, organization_id, workspace_id, kind, message, data, created_at)
         SELECT value ->> 'id', value ->> 'organizationId', value ->> 'workspaceId', value ->> 'kind',
           value ->> 'message', value -> 'data', value ->> 'createdAt'
         FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
      )
      .bind(JSON.stringify(newAlerts)),
    binding
      .prepare(
        `INSERT INTO alert_deliveries (alert_id, channel_id, organization_id, state, attempts, due_at, last_error)
         SELECT a.id, c.id, a.organization_id, 'pending', 0, a.created_at, NULL
         FROM json_each(?) g JOIN alerts a ON a.id = g.value
           JOIN alert_channels c ON c.organization_id = a.organization_id AND c.enabled = 1
         WHERE (c.all_workspaces = 1 OR c.workspace_id = coalesce(a.workspace_id,
             (SELECT w.id FROM workspaces w WHERE w.organization_id = a.organization_id AND w.is_default = 1)))
           AND (c.kinds IS NULL OR EXISTS (SELECT 1 FROM json_each(c.kinds) k WHERE k.value = a.kind))
           AND c.created_at <= a.created_at
         ON CONFLICT DO NOTHING`,
      )
      .bind(JSON.stringify(newAlerts.map(({ id }) => id))),
  ])
}

/** Names of keys, workspaces and guardrails, by id. */
export async function namesOf(binding: D1Database, organizationId: string, ids: readonly string[]) {
  const { results } = await binding
    .prepare(
      `SELECT hash AS id, name FROM api_keys WHERE organization_id = ?1 AND hash IN (SELECT value FROM json_each(?2))
       UNION ALL SELECT id, name FROM workspaces WHERE organization_id = ?1 AND id IN (SELECT value FROM json_each(?2))
       UNION ALL SELECT id, name FROM guardrails WHERE organization_id = ?1 AND id IN (SELECT value FROM json_each(?2))`,
    )
    .bind(organizationId, JSON.stringify(ids))
    .all<{ id: string; name: string }>()
  return new Map(results.map(({ id, name }) => [id, name]))
}

/** The working keys that continue the counters of these ones, by the hash of the replaced key. */
export async function replacementsOf(binding: D1Database, organizationId: string, hashes: readonly string[]) {
  const { results } = await binding
    .prepare(
      `SELECT counter_hash AS replaced, hash FROM api_keys
       WHERE organization_id = ?1 AND deleted_at IS NULL AND counter_hash IN (SELECT value FROM json_each(?2))`,
    )
    .bind(organizationId, JSON.stringify(hashes))
    .all<{ replaced: string; hash: string }>()
  return new Map(results.map(({ replaced, hash }) => [replaced, hash]))
}

/** Pending deliveries of these alerts. */
export async function listPending(binding: D1Database, ids: readonly string[]): Promise<Delivery[]> {
  return openDb(binding)
    .select()
    .from(alertDeliveries)
    .where(and(inArray(alertDeliveries.alertId, [...ids]), eq(alertDeliveries.state, "pending")))
}

/** Overdue deliveries, whose queue message was lost. */
export async function listOverdue(binding: D1Database, before: number, limit: number): Promise<Delivery[]> {
  return openDb(binding)
    .select()
    .from(alertDeliveries)
    .where(and(eq(alertDeliveries.state, "pending"), lt(alertDeliveries.dueAt, before)))
    .limit(limit)
}

/** An alert with the state of one delivery; undefined if it is not pending, or the channel was deleted. */
export async function findDelivery(
  binding: D1Database,
  key: Pick<Delivery, "organizationId" | "alertId" | "channelId">,
): Promise<{ alert: AlertRow; delivery: Delivery } | undefined> {
  const [found] = await openDb(binding)
    .select({ alert: alerts, delivery: alertDeliveries })
    .from(alertDeliveries)
    .innerJoin(alerts, eq(alerts.id, alertDeliveries.alertId))
    .where(and(ofDelivery(key), eq(alertDeliveries.state, "pending")))
  return found
}

const ofDelivery = ({
  organizationId,
  alertId,
  channelId,
}: Pick<Delivery, "organizationId" | "alertId" | "channelId">) =>
  and(
    eq(alertDeliveries.organizationId, organizationId),
    eq(alertDeliveries.alertId, alertId),
    eq(alertDeliveries.channelId, channelId),
  )

export async function saveDelivery(binding: D1Database, delivery: Delivery): Promise<void> {
  const { state, attempts, dueAt, lastError } = delivery
  await openDb(binding).update(alertDeliveries).set({ state, attempts, dueAt, lastError }).where(ofDelivery(delivery))
}

type Listed = { alert: AlertRow; deliveries: Delivery[] }

/** Newest first. */
export async function listAlerts(
  binding: D1Database,
  organizationId: string,
  filter: { workspaceId: string | undefined; kind: AlertRow["kind"] | undefined },
  page: Page,
): Promise<{ rows: Listed[]; total: number }> {
  const db = openDb(binding)
  const where = and(
    eq(alerts.organizationId, organizationId),
    filter.workspaceId === undefined ? undefined : eq(alerts.workspaceId, filter.workspaceId),
    filter.kind === undefined ? undefined : eq(alerts.kind, filter.kind),
  )
  const found = toCountedPage<AlertRow>(
    await db.batch([
      db
        .select()
        .from(alerts)
        .where(where)
        .orderBy(desc(alerts.createdAt), desc(alerts.id))
        .limit(page.limit)
        .offset(page.offset),
      db
        .select({ total: sql<number>`count(*)` })
        .from(alerts)
        .where(where),
    ]),
  )
  const ids = found.rows.map(({ id }) => id)
  const deliveries = await db.select().from(alertDeliveries).where(inArray(alertDeliveries.alertId, ids))
  const rows = found.rows.map((alert) => ({
    alert,
    deliveries: deliveries.filter(({ alertId }) => alertId === alert.id),
  }))
  return { rows, total: found.total }
}

export async function findSettings(binding: D1Database, organizationId: string): Promise<AlertSettings> {
  const [row] = await openDb(binding)
    .select({ settings: organizations.alertSettings })
    .from(organizations)
    .where(eq(organizations.id, organizationId))
  return { ...DEFAULT_SETTINGS, ...row?.settings }
}

/** The settings after the change. */
export async function updateSettings(
  binding: D1Database,
  organizationId: string,
  change: { [Name in keyof AlertSettings]?: AlertSettings[Name] | undefined },
  entry: AuditEntry,
): Promise<AlertSettings> {
  const db = openDb(binding)
  const stored = organizations.alertSettings
  const [[row]] = await db.batch([
    db
      .update(organizations)
      .set({ alertSettings: sql`json_patch(coalesce(${stored}, '{}'), ${JSON.stringify(change)})` })
      .where(eq(organizations.id, organizationId))
      .returning({ settings: stored }),
    auditStatement(db, entry),
  ])
  return { ...DEFAULT_SETTINGS, ...row?.settings }
}

/** Deletes alerts from before `before`, with their deliveries. */
export async function pruneAlerts(binding: D1Database, before: number): Promise<void> {
  await openDb(binding).delete(alerts).where(lt(alerts.createdAt, before))
}
