import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { requireManagement } from "../access/guards.ts"
import { entryOf } from "../audit/actor.ts"
import { insertAudit } from "../audit/store.ts"
import { GatewayError } from "../errors/errors.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { findWorkspaceRow } from "../workspaces/store.ts"
import { purgeResponses } from "./store.ts"

const Purged = z
  .object({
    deleted: z.int().meta({ description: "Stored responses that were deleted." }),
    has_more: z.boolean().meta({ description: "More remain than one request deletes: repeat the request." }),
  })
  .meta({ id: "ResponseCachePurged" })

const purge = createRoute({
  method: "delete",
  path: "/workspaces/{workspaceRef}/response-cache",
  operationId: "purgeResponseCache",
  tags: ["Workspaces"],
  summary: "Delete cached responses",
  description: "Of a workspace.",
  middleware: [requireManagement] as const,
  request: {
    params: z.object({
      workspaceRef: z.string().min(1).max(128).meta({ description: "The workspace's id or slug." }),
    }),
  },
  responses: {
    200: ok(Purged, "How many were deleted."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

export const responseCache = newRouter().openapi(purge, async (c) => {
  const { organizationId } = c.var.principal
  const row = await findWorkspaceRow(c.env.DB, organizationId, c.req.valid("param").workspaceRef)
  if (!row) throw new GatewayError("not_found", "There is no workspace with this id or slug.")
  const { deleted, isComplete } = await purgeResponses(c.env.FILES, organizationId, row.id)
  await insertAudit(c.env.DB, entryOf(c, { action: "response_cache.purge", resourceId: row.id, workspaceId: row.id }))
  return c.json({ deleted, has_more: !isComplete }, 200)
})
