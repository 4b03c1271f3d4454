import type * as z from "zod"
import { derivedId } from "../support/ids.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { Workspace } from "./schemas.ts"
import { toSettings } from "./settings.ts"
import type { WorkspaceRow } from "./table.ts"

/** The id of a workspace's default guardrail, known before that guardrail is created. */
export function defaultGuardrailId(workspaceId: string): string {
  return derivedId("default-guardrail", workspaceId)
}

export function toWorkspace(row: WorkspaceRow): z.infer<typeof Workspace> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    created_by: row.createdBy,
    default_guardrail_id: defaultGuardrailId(row.id),
    ...toSettings(row.settings),
    include_byok_in_budgets: row.includeByokInBudgets,
    created_at: toTimestamp(row.createdAt),
    updated_at: row.updatedAt === null ? null : toTimestamp(row.updatedAt),
  }
}
