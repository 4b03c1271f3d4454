import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { requireManagement } from "../access/guards.ts"
import { requireKnownWorkspace } from "../access/known-store.ts"
import { entryOf } from "../audit/actor.ts"
import { changesOf } from "../audit/entry.ts"
import type { Env } from "../config/env.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { openLedger } from "../ledger/client.ts"
import { toTimestamp } from "../support/time/time.ts"
import { AlertRecord, AlertsQuery, Settings, SettingsChange } from "./schemas.ts"
import { findSettings, listAlerts, updateSettings } from "./store.ts"

const tags = ["Alerts"]
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "internal")
const MAX_BODY_BYTES = 16_384

const list = createRoute({
  method: "get",
  path: "/alerts",
  operationId: "listAlerts",
  tags,
  summary: "List alerts",
  description: "Alerts of the organization, newest first, with their deliveries.",
  middleware: [requireManagement] as const,
  request: { query: AlertsQuery },
  responses: {
    200: ok(z.object({ data: z.array(AlertRecord), total_count: z.int() })),
    ...FAILURES,
    ...failures("not_found"),
  },
})

const getSettings = createRoute({
  method: "get",
  path: "/alerts/settings",
  operationId: "getAlertSettings",
  tags,
  summary: "Get the alert settings",
  middleware: [requireManagement] as const,
  responses: { 200: ok(z.object({ data: Settings })), ...FAILURES },
})

const setSettings = createRoute({
  method: "patch",
  path: "/alerts/settings",
  operationId: "updateAlertSettings",
  tags,
  summary: "Update the alert settings",
  description: "Thresholds apply to the limit of every key and guardrail, to every budget, and to the balance.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(SettingsChange) },
  responses: {
    200: ok(z.object({ data: Settings })),
    ...FAILURES,
    ...failures("payload_too_large", "unsupported_media_type"),
  },
})

export const alerts = newRouter()
  .openapi(list, async (c) => {
    const { workspace_id: workspaceId, kind, ...page } = c.req.valid("query")
    const { organizationId } = c.var.principal
    await requireKnownWorkspace(c.env.DB, organizationId, workspaceId)
    const { rows, total } = await listAlerts(c.env.DB, organizationId, { workspaceId, kind }, page)
    const data = rows.map(({ alert, deliveries }) => ({
      id: alert.id,
      workspace_id: alert.workspaceId,
      kind: alert.kind,
      message: alert.message,
      data: { ...alert.data },
      created_at: toTimestamp(alert.createdAt),
      deliveries: deliveries.map(({ channelId, state, attempts, lastError }) => {
        return { channel_id: channelId, state, attempts, last_error: lastError }
      }),
    }))
    return c.json({ data, total_count: total }, 200)
  })
  .openapi(getSettings, async (c) => {
    const settings = await findSettings(c.env.DB, c.var.principal.organizationId)
    return c.json({ data: { ...settings, thresholds: [...settings.thresholds] } }, 200)
  })
  .openapi(setSettings, async (c) => {
    const { organizationId } = c.var.principal
    const change = c.req.valid("json")
    const changed = changesOf(change, Object.keys(Settings.shape))
    const entry = entryOf(c, {
      action: "alert_settings.update",
      resourceId: organizationId,
      workspaceId: null,
      changed,
    })
    const { thresholds, ...settings } = await updateSettings(c.env.DB, organizationId, change, entry)
    await sendThresholds(c.env, organizationId, thresholds)
    return c.json({ data: { ...settings, thresholds: [...thresholds] } }, 200)
  })

/** Concurrent changes may arrive at the ledger in another order: the last one to arrive must be the stored one. */
async function sendThresholds(env: Env, organizationId: string, thresholds: readonly number[]): Promise<void> {
  await openLedger(env, organizationId).setAlertThresholds([...thresholds])
  const { thresholds: stored } = await findSettings(env.DB, organizationId)
  if (stored.join() !== thresholds.join()) await sendThresholds(env, organizationId, stored)
}
