import type { Context } from "hono"
import type { Intern } from "../../durable-objects/intern.ts"
import type { App, Env } from "../env.ts"
import type { Place } from "./hosts/wire.ts"
import type { InternRow } from "./store.ts"

/** The object of an intern. */
export function openIntern(env: Env, id: string): DurableObjectStub<Intern> {
  return env.INTERN.get(env.INTERN.idFromName(id))
}

/** What the object is told of its intern. A daemon reaches the gateway where this request did. */
export function placeOf(c: Context<App>, row: InternRow): Place {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    host: row.host,
    apiBase: `${new URL(c.req.url).origin}/api/v1`,
  }
}
