import type { Context } from "hono"
import type { App } from "../../access/app.ts"
import { entryOf } from "../../audit/actor.ts"
import { insertAudit } from "../../audit/store.ts"
import { failures } from "../../http/schema.ts"
import { rejectInternKey, requireInternsAccess, visibleIntern } from "../access/access.ts"
import { mayControl, noControlError } from "../access/authority.ts"
import { addErrorReasons, lifecycleTimeout } from "../access/guards.ts"
import type { InternRow } from "../table.ts"

/** Shared by the routes for sessions, schedules, files and the webhook, which need control of the intern. */
export const controlGuards = [
  addErrorReasons("invalid_body"),
  lifecycleTimeout,
  requireInternsAccess,
  rejectInternKey,
] as const
export const CONTROL_FAILURES = failures(
  "invalid_request",
  "unauthenticated",
  "forbidden",
  "not_found",
  "timeout",
  "internal",
)
export const CONTROL_RIGHTS = "For the key that created the intern, keys of the same user and management keys."

/** The intern, if the principal controls it; otherwise 404 or 403. */
export async function controlledIntern(c: Context<App>, id: string): Promise<InternRow> {
  const row = await visibleIntern(c, id)
  if (!mayControl(c.var.principal, row)) throw noControlError("created this intern")
  return row
}

export async function auditIntern(c: Context<App>, row: InternRow, action: `intern.${string}`): Promise<void> {
  await insertAudit(c.env.DB, entryOf(c, { action, resourceId: row.id, workspaceId: row.workspaceId }))
}
