import * as z from "zod"
import { PageQuery, uuidParam } from "../http/schema.ts"

const instant = z.iso
  .datetime({ offset: true, error: "must be an ISO 8601 date-time with seconds and Z" })
  .transform((text) => Date.parse(text))
export const AuditQuery = PageQuery.extend({
  action: z.string().min(1).max(64).optional().meta({ description: "`api_key.create`, …, or `denied`." }),
  resource_type: z.string().min(1).max(64).optional().meta({ description: "`api_key`, `workspace`, …" }),
  resource_id: z.string().min(1).max(512).optional(),
  key_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be 64 hex digits, as GET /keys lists them")
    .optional()
    .meta({ description: "The key that made the change." }),
  workspace_id: uuidParam("a workspace").optional(),
  from: instant.optional().meta({ description: "Start of the range, inclusive." }),
  to: instant.optional().meta({ description: "End of the range, exclusive." }),
})
export type AuditQuery = z.infer<typeof AuditQuery>

export const AuditRecord = z
  .object({
    id: z.uuid(),
    action: z.string(),
    resource_type: z.string(),
    resource_id: z.string(),
    workspace_id: z.string().nullable(),
    key_hash: z.string(),
    key_label: z.string(),
    creator_user_id: z.string().nullable(),
    ip_address: z.string().nullable(),
    user_agent: z.string().nullable(),
    request_id: z.string().meta({ description: "The `X-Request-Id` of the response." }),
    changed_fields: z.array(z.string()),
    changes: z.record(z.string(), z.unknown()).meta({ description: "New values of fields without secrets." }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "AuditRecord" })

export const AuditList = z.object({ data: z.array(AuditRecord), total_count: z.int() }).meta({ id: "AuditList" })
