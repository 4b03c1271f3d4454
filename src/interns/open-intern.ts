import type { Context } from "hono"
import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { objectNamed } from "../config/objects.ts"
import { type App } from "../access/app.ts"
import type { InternIdentity, InternRpc } from "./hosts/rpc.ts"
import { listInterns } from "./store.ts"
import type { InternRow } from "./table.ts"

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
    const { rows } = await listInterns(env.DB, scope, { statuses: undefined, limit: PAGE, after })
    for (const { id, host } of rows) await openIntern(env, id).destroy({ ...scope, id, host, apiBase }, true)
    const last = rows.at(-1)
    if (!last || rows.length <= PAGE) return
    after = { createdAt: last.createdAt, id: last.id }
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
