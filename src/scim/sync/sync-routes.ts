import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../../audit/actor.ts"
import { requireManagement } from "../../access/guards.ts"
import { GatewayError } from "../../errors/errors.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, ok } from "../../http/schema.ts"
import { newId } from "../../support/ids.ts"
import { toSyncJob } from "../mapping/mapping.ts"
import { ScimSyncJob, SyncJobPath } from "../mapping/mapping-schemas.ts"
import { runSyncJob } from "./sync.ts"
import { findSyncJob, insertSyncJob } from "./sync-store.ts"

const MAX_BODY_BYTES = 1_024
const One = z.object({ data: ScimSyncJob })
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")

const create = createRoute({
  tags: ["SCIM"],
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  method: "post",
  path: "/scim/sync-jobs",
  operationId: "createScimSyncJob",
  summary: "Start a sync job",
  description: "Updates members and memberships from what the directories pushed. Takes no body.",
  responses: { 202: ok(One, "The job."), ...FAILURES },
})

const get = createRoute({
  tags: ["SCIM"],
  middleware: [requireManagement] as const,
  method: "get",
  path: "/scim/sync-jobs/{id}",
  operationId: "getScimSyncJob",
  summary: "Get a sync job",
  request: { params: SyncJobPath },
  responses: { 200: ok(One, "The job."), ...FAILURES },
})

export const scimSync = newRouter()
  .openapi(create, async (c) => {
    const { organizationId } = c.var.principal
    requireEmpty(await c.req.text())
    const id = newId()
    const entry = entryOf(c, { action: "scim_sync_job.create", resourceId: id, workspaceId: null })
    const job = await insertSyncJob(c.env.DB, { id, organizationId, now: Date.now() }, entry)
    if (!job) throw new GatewayError("internal", "The job could not be created.")
    c.executionCtx.waitUntil(runSyncJob(c.env, organizationId, id))
    return c.json({ data: toSyncJob(job) }, 202)
  })
  .openapi(get, async (c) => {
    const { organizationId } = c.var.principal
    const { id } = c.req.valid("param")
    const job = await findSyncJob(c.env.DB, organizationId, id)
    if (!job) throw new GatewayError("not_found", "There is no sync job with this id.")
    // The request takes over a job that another request left unfinished.
    if (job.status === "queued" || job.status === "running") {
      c.executionCtx.waitUntil(runSyncJob(c.env, organizationId, id))
    }
    return c.json({ data: toSyncJob(job) }, 200)
  })

/** Clients that send no body may still declare JSON, so a schema cannot check this. */
function requireEmpty(body: string): void {
  if (!/^\s*(\{\s*\})?\s*$/.test(body)) throw new GatewayError("invalid_request", "This path does not accept a body.")
}
