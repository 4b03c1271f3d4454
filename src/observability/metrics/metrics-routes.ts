import { createRoute } from "@hono/zod-openapi"
import type { Context, MiddlewareHandler } from "hono"
import * as z from "zod"
import type { App } from "../../access/app.ts"
import { requireManagement } from "../../access/guards.ts"
import { configOf } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import { objectNamed } from "../../config/objects.ts"
import { newRouter } from "../../http/router.ts"
import { failures } from "../../http/schema.ts"
import type { LedgerRpc } from "../../ledger/protocol.ts"
import { sha256Hex } from "../../support/text/encoding.ts"
import { type LedgerBacklog, toExposition } from "./exposition.ts"
import { listMetrics, readBacklog, updateMetrics } from "./metrics-store.ts"

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
/** Ledgers that are read per request. */
const MAX_LEDGERS = 50

const metrics = createRoute({
  method: "get",
  path: "/metrics",
  operationId: "getMetrics",
  tags: ["Observability"],
  summary: "Get metrics in the Prometheus text format",
  description:
    "Calls, tokens, cost, errors and latency of the organization. Also at `/metrics` of the host, where METRICS_TOKEN instead of a key gives the metrics of all organizations. " +
    "Counters are up to 90 seconds behind.",
  middleware: [requireManagement] as const,
  responses: {
    200: { description: "The metrics.", content: { "text/plain": { schema: z.string() } } },
    ...failures("unauthenticated", "forbidden", "internal"),
  },
})

export const metricsRoutes = newRouter().openapi(metrics, (c) => exportMetrics(c, c.var.principal.organizationId))

/** `organizationId`: null for all. */
async function exportMetrics(c: Context<App>, organizationId: string | null) {
  const { DB } = c.env
  await updateMetrics(DB, organizationId, Date.now())
  const series = await listMetrics(DB, organizationId)
  const ids = organizationId === null ? [...new Set(series.map((row) => row.organization_id))] : [organizationId]
  const [backlog, ledger] = await Promise.all([readBacklog(DB, organizationId), readLedgers(c.env, ids)])
  return c.text(toExposition(series, { ...backlog, ledger }), 200, { "content-type": CONTENT_TYPE })
}

async function readLedgers(env: Env, organizationIds: readonly string[]): Promise<LedgerBacklog> {
  const ledgers = organizationIds
    .slice(0, MAX_LEDGERS)
    .map(async (id) => objectNamed<LedgerRpc>(env, "LEDGER", id).backlog())
  const all = await Promise.all(ledgers)
  const sum = (name: keyof LedgerBacklog) => all.reduce((total, one) => total + one[name], 0)
  return { records: sum("records"), broadcasts: sum("broadcasts"), holds: sum("holds") }
}

/**
 * At the host's `/metrics`: METRICS_TOKEN returns the metrics of all organizations; any other token is checked as a
 * key.
 */
export const metricsByToken: MiddlewareHandler<App> = async function metricsByToken(c, next) {
  const { METRICS_TOKEN: token } = configOf(c.env)
  const bearer = /^Bearer (.+)$/.exec(c.req.header("authorization") ?? "")?.[1]
  // Compared as hashes, so that the time of the comparison reveals nothing about the token.
  if (token === undefined || bearer === undefined || sha256Hex(bearer) !== sha256Hex(token)) return next()
  return exportMetrics(c, null)
}

export const metricsByKey = (c: Context<App>) => exportMetrics(c, c.var.principal.organizationId)
