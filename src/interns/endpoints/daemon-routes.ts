import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../../audit/actor.ts"
import { insertAudit } from "../../audit/store.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, json, ok } from "../../http/schema.ts"
import { rejectInternKey, requireInternsAccess, visibleIntern, workingIntern } from "../access/access.ts"
import { mayControl, noControlError } from "../access/authority.ts"
import { MAX_INTERN_BODY_BYTES, addErrorReasons, lifecycleTimeout } from "../access/guards.ts"
import { throwIfRejected, IDENTITY_HEADER } from "../hosts/rpc.ts"
import { joinTokenIntern } from "../access/join-token.ts"
import { openIntern, identityOf } from "../lifecycle/open-intern.ts"
import { internError } from "../lifecycle/reasons.ts"
import { internParams } from "../routes.ts"
import { DaemonAccess, JoinToken, JoinTokenRequest } from "../schemas.ts"
import { changeIntern } from "../store.ts"
import { accessTokenOf, newJoinToken } from "../access/tokens.ts"

const tags = ["Interns"]
const guards = [addErrorReasons("invalid_body"), lifecycleTimeout, requireInternsAccess] as const
const common = ["unauthenticated", "forbidden", "not_found", "timeout", "conflict", "internal"] as const

const access = createRoute({
  method: "get",
  path: "/interns/{internId}/daemon",
  operationId: "getInternDaemon",
  tags,
  summary: "Reveal the address of an intern's agent",
  description: "Every reveal is in the audit log.",
  middleware: [...guards] as const,
  request: { params: internParams },
  responses: { 200: ok(DaemonAccess), ...failures(...common, "invalid_request") },
})

const join = createRoute({
  method: "post",
  path: "/interns/{internId}/daemon/token",
  operationId: "createInternJoinToken",
  tags,
  summary: "Create a join token for a daemon",
  description:
    "The previous one stops working at once. For the key that created the intern, keys of the same user and management keys. 409 `daemon_attached` while a daemon " +
    "is attached, unless the body has `replace`.",
  middleware: [...guards, rejectInternKey, acceptJson(MAX_INTERN_BODY_BYTES)] as const,
  request: { params: internParams, body: { content: json(JoinTokenRequest), required: false } },
  responses: { 201: ok(JoinToken, "The token, shown once."), ...failures(...common, "invalid_request") },
})

const attach = createRoute({
  method: "get",
  path: "/interns/{internId}/daemon/attach",
  operationId: "attachInternDaemon",
  tags,
  summary: "Connect the daemon of an intern",
  description: "A WebSocket, opened with the intern's join token.",
  security: [{ joinToken: [] }],
  // An id that is not a UUID gets the same response as a wrong token.
  request: { params: z.object({ internId: z.string().max(64) }) },
  responses: {
    101: { description: "The daemon is attached." },
    ...failures("invalid_request", "unauthenticated", "forbidden", "conflict", "rate_limited", "internal"),
  },
})

export const internDaemons = newRouter()
  .openapi(access, async (c) => {
    const row = await workingIntern(c, c.req.valid("param").internId)
    const token = await accessTokenOf(c.env, row)
    if (row.status !== "running" || row.hostname === null || token === undefined) {
      const hint = row.status === "provisioning" ? "Retry in a moment." : "Provision it first."
      throw internError("intern_not_running", `The intern is ${row.status.replaceAll("_", " ")}. ${hint}`)
    }
    const event = { action: "intern.daemon_access", resourceId: row.id, workspaceId: row.workspaceId } as const
    await insertAudit(c.env.DB, entryOf(c, event))
    const { protocol, port } = new URL(c.req.url)
    const origin = `${protocol}//${row.hostname}${port === "" ? "" : `:${port}`}`
    return c.json({ origin, token }, 200, { "cache-control": "no-store" })
  })
  .openapi(join, async (c) => {
    const row = await visibleIntern(c, c.req.valid("param").internId)
    if (!mayControl(c.var.principal, row)) throw noControlError("created this intern")
    if (row.host !== "daemon") {
      throw internError("intern_rejected", `The agent of this intern runs ${WHERE[row.host]}: no daemon can join it.`)
    }
    const body = c.req.valid("json") as z.infer<typeof JoinTokenRequest> | undefined
    const intern = openIntern(c.env, row.id)
    if (body?.replace !== true && (await intern.isDaemonAttached(identityOf(c, row)))) {
      const rule = 'A daemon is attached with the current token. Send {"replace":true} to disconnect it.'
      throw internError("daemon_attached", rule)
    }
    const { secret, hash } = newJoinToken()
    const entry = entryOf(c, { action: "intern.join_token", resourceId: row.id, workspaceId: row.workspaceId })
    const internPrincipal = { ...c.var.principal, id: row.id }
    await changeIntern(c.env.DB, internPrincipal, {
      columns: { joinTokenHash: hash },
      from: [],
      now: Date.now(),
      entry,
    })
    await intern.revoke(identityOf(c, row))
    const url = `${new URL(c.req.url).origin}/api/v1/interns/${row.id}/daemon/attach`
    return c.json({ token: secret, url }, 201, { "cache-control": "no-store" })
  })

const WHERE = { embedded: "inside the gateway", "cloudflare-container": "in a container", daemon: "" }

/** Accepts join tokens, not API keys. */
export const internDaemonSocket = newRouter().openapi(attach, async (c) => {
  const row = await joinTokenIntern(c, c.req.valid("param").internId)
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
    throw internError("invalid_body", "Open this path as a WebSocket.")
  }
  const scope = JSON.stringify(identityOf(c, row))
  const request = new Request("http://intern/attach", { headers: { upgrade: "websocket", [IDENTITY_HEADER]: scope } })
  const { webSocket } = await throwIfRejected(await openIntern(c.env, row.id).fetch(request))
  return new Response(null, { status: 101, webSocket })
})
