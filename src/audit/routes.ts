import { createRoute } from "@hono/zod-openapi"
import { requireManagement } from "../access/guards.ts"
import { requireKnownWorkspace } from "../access/known-store.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { toAuditRecord } from "./entry.ts"
import { AuditList, AuditQuery } from "./schemas.ts"
import { listAudit } from "./store.ts"

const list = createRoute({
  method: "get",
  path: "/audit",
  operationId: "listAudit",
  tags: ["Audit"],
  summary: "List audit entries",
  description: "Changes and denials, newest first.",
  middleware: [requireManagement] as const,
  request: { query: AuditQuery },
  responses: {
    200: ok(AuditList, "The entries."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

export const audit = newRouter().openapi(list, async (c) => {
  const { organizationId } = c.var.principal
  const query = c.req.valid("query")
  await requireKnownWorkspace(c.env.DB, organizationId, query.workspace_id)
  const { rows, total } = await listAudit(c.env.DB, organizationId, query)
  return c.json({ data: rows.map(toAuditRecord), total_count: total }, 200)
})
