import { createRoute } from "@hono/zod-openapi"
import type { MiddlewareHandler } from "hono"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { requireManagement } from "../access/guards.ts"
import { insertAudit } from "../audit/store.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, ok, uuidParam } from "../http/schema.ts"
import { newId } from "../support/ids.ts"
import { deliver } from "./delivery/deliver.ts"
import { wakeDelivery } from "./delivery/wake.ts"
import { newProbe } from "./probe.ts"
import { find } from "./routes.ts"
import { Probe } from "./schemas.ts"
import { reviveBatches } from "./store.ts"

/** These routes take no body. */
const MAX_BODY_BYTES = 1_024

const shared = {
  method: "post" as const,
  tags: ["Observability"],
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] satisfies [typeof requireManagement, MiddlewareHandler],
  request: { params: z.object({ id: uuidParam("a destination") }) },
}
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")

const probe = createRoute({
  ...shared,
  path: "/observability/destinations/{id}/test",
  operationId: "testObservabilityDestination",
  summary: "Test a destination",
  description: "Sends one fictitious call, whether or not the destination is enabled.",
  responses: { 200: ok(z.object({ data: Probe })), ...FAILURES },
})

const redeliver = createRoute({
  ...shared,
  path: "/observability/destinations/{id}/redeliver",
  operationId: "redeliverObservabilityDestination",
  summary: "Redeliver to a destination",
  description: "Makes all pending calls and dead letters due now.",
  responses: { 200: ok(z.object({ data: z.object({ batches: z.int() }) })), ...FAILURES },
})

const MAX_MESSAGE = 500

export const destinationActions = newRouter()
  .openapi(probe, async (c) => {
    const row = await find(c, c.req.valid("param").id)
    const { id, workspace_id: workspaceId } = row
    await insertAudit(c.env.DB, entryOf(c, { action: "destination.test", resourceId: id, workspaceId }))
    const startedAt = Date.now()
    const {
      isTaken,
      status,
      message: outcome,
      excerpt,
    } = await deliver(row, { id: newId(), events: [newProbe(row, startedAt)], env: c.env, now: startedAt })
    const message = (excerpt.trim() || `${outcome}.`).slice(0, MAX_MESSAGE)
    return c.json({ data: { ok: isTaken, status, latency_ms: Date.now() - startedAt, message } }, 200)
  })
  .openapi(redeliver, async (c) => {
    const { id, organization_id: organizationId, workspace_id: workspaceId } = await find(c, c.req.valid("param").id)
    const entry = entryOf(c, { action: "destination.redeliver", resourceId: id, workspaceId })
    const now = Date.now()
    const batches = await reviveBatches(c.env.DB, { organizationId, id, now, entry })
    if (batches > 0) await wakeDelivery(c.env, { organizationId, destinationId: id }, now)
    return c.json({ data: { batches } }, 200)
  })
