import type { Context } from "hono"
import { configOf } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import { objectNamed } from "../../config/objects.ts"
import { type App } from "../../access/app.ts"
import type { InternIdentity, InternRpc } from "../hosts/rpc.ts"
import { logError } from "../../support/log.ts"
import { listOrphanedInterns } from "./orphan-store.ts"
import { listInterns } from "../store.ts"
import type { InternRow } from "../table.ts"

const PAGE = 100

/** The object of an intern. */
export function openIntern(env: Env, id: string): DurableObjectStub<InternRpc> {
  return objectNamed<InternRpc>(env, "INTERN", id)
}

/** Deletes the interns of a deleted workspace and the data of their hosts. */
export async function destroyInternsOf(
  env: Env,
  scope: { organizationId: string; workspaceId: string },
  apiBase: string,
): Promise<void> {
  let after: { createdAt: number; id: string } | undefined
  for (;;) {
    const { rows } = await listInterns(env.DB, scope, { statuses: undefined, onlyKey: null, limit: PAGE, after })
    await destroyAll(env, rows, apiBase)
    const last = rows.at(-1)
    if (!last || rows.length <= PAGE) return
    after = { createdAt: last.createdAt, id: last.id }
  }
}

/** Interns per sweep: each is a request to its object. */
const MAX_PER_SWEEP = 500

/** Deletes the interns of deleted workspaces that are left because a request or an object failed. */
export async function destroyOrphans(env: Env): Promise<void> {
  const base = URL.parse(configOf(env).PUBLIC_URL ?? "")
  await destroyAll(env, await listOrphanedInterns(env.DB, MAX_PER_SWEEP), base ? `${base.origin}/api/v1` : "")
}

/** One that fails does not keep the others: the next sweep deletes it. */
async function destroyAll(env: Env, rows: readonly InternRow[], apiBase: string): Promise<void> {
  for (const { id, organizationId, workspaceId, host } of rows) {
    try {
      await openIntern(env, id).destroy({ id, organizationId, workspaceId, host, apiBase }, true)
    } catch (cause) {
      logError("an intern of a deleted workspace was not deleted", { intern: id }, cause)
    }
  }
}

/** Identity that is passed to the object. A daemon reaches the gateway at the origin of this request. */
export function identityOf(c: Context<App>, row: InternRow): InternIdentity {
  return {
    id: row.id,
    organizationId: row.organizationId,
    workspaceId: row.workspaceId,
    host: row.host,
    apiBase: apiBaseOf(c),
  }
}

/** PUBLIC_URL, or the origin of this request. */
export function apiBaseOf(c: Context<App>): string {
  return `${URL.parse(configOf(c.env).PUBLIC_URL ?? "")?.origin ?? new URL(c.req.url).origin}/api/v1`
}
