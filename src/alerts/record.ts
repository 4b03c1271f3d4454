import type { Env } from "../config/env.ts"
import type { BroadcastMessage } from "../config/messages.ts"
import type { LimitAlert } from "../ledger/reporting/alerts.ts"
import { keyScope } from "../ledger/limits.ts"
import { parseScope } from "../ledger/scopes.ts"
import type { Alert } from "./alert.ts"
import { toLimitAlert } from "./message.ts"
import { type Delivery, insertAlerts, listOverdue, listPending, namesOf, replacementsOf } from "./store.ts"

type AlertEnv = Pick<Env, "DB" | "BROADCAST">

/** Records alerts, once per id, and queues their deliveries. */
export async function recordAlerts(env: AlertEnv, alerts: readonly Alert[]): Promise<void> {
  if (alerts.length === 0) return
  await insertAlerts(env.DB, alerts)
  await queue(
    env,
    await listPending(
      env.DB,
      alerts.map(({ id }) => id),
    ),
  )
}

/** Records the alerts of one ledger, with the names of their subjects. */
export async function recordLimitAlerts(env: AlertEnv, raised: readonly LimitAlert[]): Promise<void> {
  const [first] = raised
  if (!first) return
  const alerts = await ofCurrentKeys(env.DB, first.organizationId, raised)
  const ids = alerts.flatMap(({ scope, workspaceId }) => [parseScope(scope).id, workspaceId])
  const names = await namesOf(env.DB, first.organizationId, ids)
  await recordAlerts(
    env,
    alerts.map((alert) => {
      const workspace = names.get(alert.workspaceId) ?? null
      return toLimitAlert(alert, { name: nameOf(alert, names), workspace })
    }),
  )
}

/** The calls of a key that replaced others count in the scope of the first of them, which is deleted. */
async function ofCurrentKeys(
  db: D1Database,
  organizationId: string,
  alerts: readonly LimitAlert[],
): Promise<readonly LimitAlert[]> {
  const hashes = alerts.map(({ scope }) => parseScope(scope)).flatMap(({ kind, id }) => (kind === "key" ? [id] : []))
  const replacements = hashes.length === 0 ? undefined : await replacementsOf(db, organizationId, hashes)
  if (!replacements || replacements.size === 0) return alerts
  return alerts.map((alert) => {
    const { kind, id } = parseScope(alert.scope)
    const current = kind === "key" ? replacements.get(id) : undefined
    return current === undefined ? alert : { ...alert, scope: keyScope(current) }
  })
}

/** A provider's name is its slug. */
function nameOf({ scope }: LimitAlert, names: ReadonlyMap<string, string>): string | null {
  const { kind, id } = parseScope(scope)
  return names.get(id) ?? (kind === "provider" ? id : null)
}

/** A delivery that is overdue by this much has lost its queue message. */
const LOST_AFTER_MS = 15 * 60_000
const MAX_REQUEUED = 500

/** Queues lost deliveries again. */
export async function requeueAlerts(env: AlertEnv, now: number): Promise<void> {
  await queue(env, await listOverdue(env.DB, now - LOST_AFTER_MS, MAX_REQUEUED))
}

/** Maximum messages per request to the queue. */
const MAX_BATCH = 100

async function queue(env: AlertEnv, deliveries: readonly Delivery[]): Promise<void> {
  for (let at = 0; at < deliveries.length; at += MAX_BATCH) {
    const messages = deliveries.slice(at, at + MAX_BATCH).map(({ organizationId, alertId, channelId }) => {
      return { body: { kind: "alert", organizationId, alertId, channelId } satisfies BroadcastMessage }
    })
    await env.BROADCAST.sendBatch(messages)
  }
}
