import { clientIpOf } from "../http/request/client-ip.ts"
import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import { deleteCookie, setCookie } from "hono/cookie"
import * as z from "zod"
import type { App } from "../access/app.ts"
import { hashKey } from "../access/key.ts"
import type { Principal } from "../access/principal.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { findKeyRow } from "../keys/store.ts"
import { findOrganization } from "../organizations/store.ts"
import { principalByHash } from "../policy/authenticate.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { toTimestamp } from "../support/time/time.ts"
import { findWorkspaceRow } from "../workspaces/store.ts"
import { findMember } from "../members/store.ts"
import { type ConsoleSession, cookieNameFor, SESSION_MS } from "./cookie.ts"
import { sessionCookie, sessionCookieAttributes } from "./session-cookie.ts"
import { NewSession, Session } from "./schemas.ts"
import { isFromConsole, isSameOrigin, principalOf, sessionOf } from "./session.ts"

const PATH = "/console/session"
const tags = ["Console"]
/** The console's routes are at the root of the host, next to its pages. */
const servers = [{ url: "/" }]
const security: never[] = []

const create = createRoute({
  method: "post",
  path: PATH,
  operationId: "createConsoleSession",
  tags,
  servers,
  security,
  summary: "Sign in to the console",
  description:
    "Sets an HttpOnly, SameSite=Strict cookie that is valid for 12 hours. With it, and with the header `X-Gateway-Console: 1`, the console's own page may call every route that the key may call. Revoking the key ends the session.",
  middleware: [acceptJson(4_096)] as const,
  request: { body: jsonBody(NewSession) },
  responses: {
    201: ok(z.object({ data: Session }), "The session. The cookie is in `Set-Cookie`."),
    ...failures(
      "invalid_request",
      "unauthenticated",
      "forbidden",
      "payload_too_large",
      "unsupported_media_type",
      "rate_limited",
      "internal",
    ),
  },
})

const get = createRoute({
  method: "get",
  path: PATH,
  operationId: "getConsoleSession",
  tags,
  servers,
  security,
  summary: "Get the console session",
  responses: { 200: ok(z.object({ data: Session })), ...failures("unauthenticated", "internal") },
})

const remove = createRoute({
  method: "delete",
  path: PATH,
  operationId: "deleteConsoleSession",
  tags,
  servers,
  security,
  summary: "Sign out of the console",
  description: "Removes the cookie from this browser.",
  responses: { 204: { description: "Signed out." } },
})

/** `rightsOf`: the areas that a principal may use, from the guards of all routes. */
export function consoleSessions(rightsOf: (principal: Principal) => string[]) {
  return newRouter()
    .openapi(create, async (c) => {
      const { key } = c.req.valid("json")
      const now = Date.now()
      if (isForeign(c.req.raw)) throw new GatewayError("forbidden", "Sign in on a page of this gateway.")
      const principal = await principalByHash(hashKey(key), c.env, now, clientIpOf(c.req.raw, c.env))
      // The same response for unknown, disabled and expired keys, so that probing reveals nothing.
      if (!principal) throw new GatewayError("unauthenticated", "This API key is not valid.")
      const session = { keyHash: principal.keyHash, expiresAt: endOf(principal, now) }
      setCookie(c, ...(await sessionCookie(session, { url: c.req.url, masters: masterKeysOf(c.env), now })))
      return c.json({ data: await describeSession(c, principal, session, rightsOf) }, 201)
    })
    .openapi(get, async (c) => {
      const now = Date.now()
      const session = await sessionOf(c.req.raw, c.env, now)
      const principal = session && (await principalOf(session, c.env, now))
      if (!principal) throw new GatewayError("unauthenticated", "Not signed in, or the session has ended. Sign in.")
      return c.json({ data: await describeSession(c, principal, session, rightsOf) }, 200)
    })
    .openapi(remove, (c) => {
      if (isFromConsole(c.req.raw)) deleteCookie(c, cookieNameFor(c.req.url), sessionCookieAttributes(c.req.url))
      return c.body(null, 204)
    })
}

/**
 * Whether another site's page sent the request, which must not sign a visitor in. Non-browser clients send neither
 * header.
 */
function isForeign(request: Request): boolean {
  const { headers } = request
  return (headers.has("sec-fetch-site") || headers.has("origin")) && !isSameOrigin(request)
}

function endOf({ expiresAt }: Principal, now: number): number {
  return Math.min(now + SESSION_MS, expiresAt ?? Number.POSITIVE_INFINITY)
}

async function describeSession(
  c: Context<App>,
  principal: Principal,
  { expiresAt, userId }: ConsoleSession,
  rightsOf: (principal: Principal) => string[],
): Promise<z.infer<typeof Session>> {
  const { keyHash, label, organizationId, workspaceId, kind } = principal
  const isSetUp = organizationId !== ""
  const [key, workspace, organization, member] = isSetUp
    ? await Promise.all([
        findKeyRow(c.env.DB, organizationId, keyHash),
        findWorkspaceRow(c.env.DB, organizationId, workspaceId),
        findOrganization(c.env.DB, organizationId),
        userId === undefined ? undefined : findMember(c.env.DB, organizationId, userId),
      ])
    : []
  return {
    kind: kind === "management" ? "management" : "workspace",
    key: { hash: keyHash, name: key?.name ?? label, label },
    workspace: workspace ? { id: workspace.id, slug: workspace.slug, name: workspace.name } : null,
    organization: organization ? { id: organization.id, name: organization.name } : null,
    user: member
      ? { id: member.userId, email: member.email ?? "", first_name: member.firstName, last_name: member.lastName }
      : null,
    may: rightsOf(principal),
    expires_at: toTimestamp(expiresAt),
  }
}
