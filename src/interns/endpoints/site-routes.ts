import { Hono, type MiddlewareHandler } from "hono"
import * as z from "zod"
import { originOf } from "../../audit/actor.ts"
import { newEntry } from "../../audit/entry.ts"
import { insertAudit } from "../../audit/store.ts"
import type { App } from "../../access/app.ts"
import { validate } from "../../http/validate.ts"
import { sha256Hex } from "../../support/text/encoding.ts"
import { CLIENT_HEADER, throwIfRejected } from "../hosts/rpc.ts"
import { openIntern } from "../lifecycle/open-intern.ts"
import { internError } from "../lifecycle/reasons.ts"
import { reachedIntern, splitProtocols, SUBPROTOCOL } from "../site.ts"
import type { InternRow } from "../table.ts"
import { accessTokenOf, grantOf } from "../access/tokens.ts"

type SiteApp = { Bindings: App["Bindings"]; Variables: App["Variables"] & { intern: InternRow } }

const requireIntern: MiddlewareHandler<SiteApp> = async function requireIntern(c, next) {
  c.set("intern", await reachedIntern(c))
  return next()
}

const WebSocketHeaders = z.object({
  upgrade: z.string().regex(/^websocket$/i),
  "sec-websocket-protocol": z.string().default("").transform(splitProtocols),
})
const notWebSocket = () => internError("invalid_body", "Open this path as a WebSocket for the Agent Client Protocol.")

/** The routes at the hostname of an intern. They accept the intern's access token, not API keys. */
export const internSite = new Hono<SiteApp>()
  .get("/", requireIntern, async (c) => {
    const { id, name, status } = c.var.intern
    const { protocol, host } = new URL(c.req.url)
    const endpoint = `${protocol === "https:" ? "wss:" : "ws:"}//${host}/acp`
    const result = { id, name, status, protocol: SUBPROTOCOL, protocol_version: 1, endpoint }
    return c.json(result, 200, { "cache-control": "no-store" })
  })
  .get("/acp", requireIntern, validate("header", WebSocketHeaders, notWebSocket), async (c) => {
    const row = c.var.intern
    const client = {
      organizationId: row.organizationId,
      keyHash: sha256Hex((await accessTokenOf(c.env, row)) ?? ""),
      label: `client of ${row.name}`,
      creatorUserId: null,
      ...originOf(c),
    }
    const event = { action: "intern.daemon_attach", resourceId: row.id, workspaceId: row.workspaceId } as const
    await insertAudit(c.env.DB, newEntry(client, event))
    const headers = { upgrade: "websocket", [CLIENT_HEADER]: grantOf(row.accessNonce ?? "") }
    const request = new Request("http://intern/client", { headers })
    const { webSocket } = await throwIfRejected(await openIntern(c.env, row.id).fetch(request))
    const chosen = c.req.valid("header")["sec-websocket-protocol"].includes(SUBPROTOCOL)
    return new Response(null, {
      status: 101,
      webSocket,
      ...(chosen && { headers: { "sec-websocket-protocol": SUBPROTOCOL } }),
    })
  })
