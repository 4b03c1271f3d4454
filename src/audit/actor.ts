import type { Context, MiddlewareHandler } from "hono"
import { routePath } from "hono/route"
import { type Actor, type AuditEntry, type AuditEvent, newEntry } from "./entry.ts"
import { recordDenial } from "./denials.ts"
import type { App } from "../access/app.ts"
import type { Env } from "../config/env.ts"
import { clientIpOf } from "../http/request/client-ip.ts"
import { GatewayError } from "../errors/errors.ts"

const MAX_USER_AGENT_LENGTH = 256
const MAX_IP_LENGTH = 64

/** The principal of a request as an actor of the audit log. */
export function actorOf(c: Context<App>): Actor {
  const { organizationId, keyHash, label, creatorUserId } = c.var.principal
  return { organizationId, keyHash, label, creatorUserId, ...originOf(c) }
}

/** The part of a request context that is used here. */
type RequestContext = { env: Env; req: { raw: Request }; var: { requestId: string } }

/** Address, time and id of a request. */
export function originOf({
  env,
  req,
  var: { requestId },
}: RequestContext): Pick<Actor, "ip" | "userAgent" | "requestId" | "at"> {
  return {
    ip: clientIpOf(req.raw, env)?.slice(0, MAX_IP_LENGTH) ?? null,
    userAgent: req.raw.headers.get("user-agent")?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    requestId,
    at: Date.now(),
  }
}

/** Audit entry for an event of the principal; the store writes it with the change. */
export function entryOf(c: Context<App>, event: AuditEvent): AuditEntry {
  return newEntry(actorOf(c), event)
}

/** Records that a key was denied a route. Only the route's pattern: a path may contain anything. */
function recordDenied(c: Context<App>): void {
  const resourceId = `${c.req.method} ${routePath(c)}`
  const entry = entryOf(c, { action: "denied", resourceId, workspaceId: c.var.principal.workspaceId })
  recordDenial(c.env.DB, entry, (work) => c.executionCtx.waitUntil(work))
}

/** Records what a guard denied (access/guards.ts). */
export const recordDenials: MiddlewareHandler<App> = async function recordDenials(c, next) {
  await next()
  if (c.error instanceof GatewayError && c.error.isDenial) recordDenied(c)
}

/** Audits denials that are decided by the handler of a route. */
export const auditForbidden: MiddlewareHandler<App> = async function auditForbidden(c, next) {
  await next()
  if (c.error instanceof GatewayError && c.error.code === "forbidden" && !c.error.isDenial) recordDenied(c)
}
