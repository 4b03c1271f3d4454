import type { Context } from "hono"
import type { App } from "../access/app.ts"
import { entryOf } from "../audit/actor.ts"
import { GatewayError } from "../errors/errors.ts"
import { workspaceOf } from "../workspaces/requested.ts"
import { isFinal } from "./batch.ts"
import { wake } from "./create.ts"
import { type BatchScope, cancelBatch, findBatch } from "./store.ts"
import type { BatchRow } from "./table.ts"

/** `workspaceFilter`: another workspace, which only management keys may name. */
export async function scopeOf(c: Context<App>, workspaceFilter: string | undefined): Promise<BatchScope> {
  const { organizationId, internId } = c.var.principal
  return { organizationId, workspaceId: await workspaceOf(c.env.DB, c.var.principal, workspaceFilter), internId }
}

/** Throws 404 for an unknown batch. */
export async function requestedBatch(c: Context<App>, scope: BatchScope, id: string): Promise<BatchRow> {
  const row = await findBatch(c.env.DB, scope, id)
  if (!row) throw noSuchBatch()
  return row
}

/** Throws 404 for an unknown batch, and 409 for one that is not running. */
export async function cancelRequested(c: Context<App>, scope: BatchScope, id: string): Promise<BatchRow> {
  const entry = entryOf(c, { action: "batch.cancel", resourceId: id, workspaceId: scope.workspaceId })
  const cancelled = await cancelBatch(c.env.DB, { scope, id, now: Date.now(), entry })
  if (cancelled) await wake(c, id)
  const row = cancelled ?? (await requestedBatch(c, scope, id))
  if (isFinal(row.status) || row.status === "finalizing") {
    throw new GatewayError("conflict", `The batch is ${row.status}: only a running batch can be cancelled.`)
  }
  return row
}

export function noSuchBatch(): GatewayError {
  return new GatewayError("not_found", "There is no batch with this id in this workspace.")
}
