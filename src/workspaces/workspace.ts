import type * as z from "zod"
import { derivedId } from "../support/ids.ts"
import { toTimestamp } from "../support/time.ts"
import type { Workspace } from "./schemas.ts"
import { toSettings } from "./settings.ts"

/** A row of workspaces. Instants are epoch milliseconds, booleans 0 or 1. */
export type WorkspaceRow = {
  id: string
  organization_id: string
  slug: string
  name: string
  description: string | null
  is_default: number
  created_by: string | null
  /** JSON of WorkspaceSettings. */
  settings: string
  include_byok_in_budgets: number
  created_at: number
  updated_at: number | null
}

/** The id of the guardrail of all of a workspace, which is known before that guardrail is made. */
export function defaultGuardrailId(workspaceId: string): string {
  return derivedId("default-guardrail", workspaceId)
}

export function toWorkspace(row: WorkspaceRow): z.infer<typeof Workspace> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    created_by: row.created_by,
    default_guardrail_id: defaultGuardrailId(row.id),
    ...toSettings(row.settings),
    include_byok_in_budgets: row.include_byok_in_budgets === 1,
    created_at: toTimestamp(row.created_at),
    updated_at: row.updated_at === null ? null : toTimestamp(row.updated_at),
  }
}
