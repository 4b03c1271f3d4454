import { Hono } from "hono"
import { originOf } from "../audit/actor.ts"
import { newEntry } from "../audit/entry.ts"
import { insertAudit } from "../audit/store.ts"
import type { App } from "../access/app.ts"
import { sha256Hex } from "../support/encoding.ts"
import { CLIENT_HEADER, throwIfRejected } from "./hosts/rpc.ts"
import { openIntern } from "./open-intern.ts"
import { internError } from "./reasons.ts"
import { offeredProtocols, reachedIntern, SUBPROTOCOL } from "./site.ts"
import { accessTokenOf, grantOf } from "./tokens.ts"

/** Routes at the hostname of an intern. Authenticated by the intern's access token, not by API keys. */
export const internSite = new Hono<App>()
  .get("/", async (c) => {
    const { id, name, status } = await reachedIntern(c)
    const { protocol, host } = new URL(c.req.url)
    const endpoint = `${protocol === "https:" ? "wss:" : "ws:"}//${host}/acp`
    const result = { id, name, status, protocol: SUBPROTOCOL, protocol_version: 1, endpoint }
    return c.json(result, 200, { "cache-control": "no-store" })
  })
  .get("/acp", async (c) => {
    const row = await reachedIntern(c)
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
      throw internError("invalid_body", "Open this path as a WebSocket: it speaks the Agent Client Protocol.")
    }
    const client = {
      organizationId: row.organizationId,
      keyHash: sha256Hex((await accessTokenOf(c.env, row)) ?? ""),
      label: `client of ${row.name}`,
      creatorUserId: null,
      ...originOf(c.req.raw, c.var.requestId),
    }
    const event = { action: "intern.daemon_attach", resourceId: row.id, workspaceId: row.workspaceId } as const
    await insertAudit(c.env.DB, newEntry(client, event))
    const headers = { upgrade: "websocket", [CLIENT_HEADER]: grantOf(row.accessNonce ?? "") }
    const request = new Request("http://intern/client", { headers })
    const { webSocket } = await throwIfRejected(await openIntern(c.env, row.id).fetch(request))
    const chosen = offeredProtocols(c.req.raw.headers).includes(SUBPROTOCOL)
    return new Response(null, {
      status: 101,
      webSocket,
      ...(chosen && { headers: { "sec-websocket-protocol": SUBPROTOCOL } }),
    })
  })
