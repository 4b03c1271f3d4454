import { createRoute } from "@hono/zod-openapi"
import type { MiddlewareHandler } from "hono"
import * as z from "zod"
import type { App } from "../../access/app.ts"
import { GatewayError } from "../../errors/errors.ts"
import { newRouter } from "../../http/router.ts"
import { failures } from "../../http/schema.ts"
import { credentialOf, principalByHash, unauthenticatedError } from "../../policy/authenticate.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { newId } from "../../support/ids.ts"
import { connectSession } from "./accept.ts"
import { type ClientSecret, isClientSecret, openClientSecret } from "./client-secret.ts"
import { FAILURES, incomingCall, requestMetaOf } from "../context.ts"

const realtimeSession = createRoute({
  method: "get",
  path: "/realtime",
  operationId: "openRealtimeSession",
  tags: ["Realtime"],
  summary: "Open a realtime session",
  description:
    "A WebSocket with the events of the OpenAI Realtime API. Each response is held, charged and recorded as a separate call. Pages send the key, or a client secret, as the subprotocol `openai-insecure-api-key.<API_KEY>`, beside `realtime`.",
  request: {
    query: z.object({
      model: z
        .string()
        .min(1)
        .max(200)
        .meta({ description: "A model with `realtime` among its output modalities.", example: "openai/gpt-realtime" }),
    }),
  },
  responses: {
    101: { description: "The session is open." },
    ...FAILURES,
    ...failures("upgrade_required"),
  },
})

const secrets = new WeakMap<Request, ClientSecret>()

/** Accepts API keys like `authenticate`, and client secrets. */
export function authenticateSession(authenticate: MiddlewareHandler<App>): MiddlewareHandler<App> {
  return async function authenticateSession(c, next) {
    const { raw } = c.req
    const credential = credentialOf(raw.headers)?.replace(/^Bearer +/i, "")
    if (credential === undefined || !isClientSecret(credential)) return authenticate(c, next)
    const now = Date.now()
    const secret = await openClientSecret(credential, masterKeysOf(c.env), now)
    const principal = secret && (await principalByHash(secret.keyHash, c.env, now))
    if (!principal) throw unauthenticatedError("This client secret is not valid, or has expired.")
    c.set("principal", principal)
    secrets.set(raw, secret)
    return next()
  }
}

const PROTOCOL = "realtime"
const BETA_PROTOCOL = "openai-beta.realtime-v1"

export const realtime = newRouter().openapi(realtimeSession, async (c) => {
  const { headers } = c.req.raw
  if (headers.get("upgrade")?.toLowerCase() !== "websocket") {
    throw new GatewayError(
      "upgrade_required",
      "Open this path as a WebSocket: send Upgrade: websocket, or use a client for the OpenAI Realtime API.",
      { headers: { upgrade: "websocket" } },
    )
  }
  const protocols = (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim())
  // Browsers send the console's cookie with WebSocket requests from pages of other origins, so it is not accepted.
  if (credentialOf(headers) === undefined)
    throw unauthenticatedError("Send your API key: Authorization: Bearer <API_KEY>.")
  const incoming = incomingCall(c)
  const { cache: _, ...meta } = requestMetaOf(incoming)
  const sessionId = meta.sessionId ?? `sess-${newId()}`
  const isBeta = protocols.includes(BETA_PROTOCOL) || headers.get("openai-beta") === "realtime=v1"
  const { model } = c.req.valid("query")
  const secret = secrets.get(c.req.raw)
  if (secret && secret.model !== model) {
    throw new GatewayError("forbidden", `model: this client secret only opens sessions of ${secret.model}.`)
  }
  const client = { keyHash: incoming.caller.keyHash, model, isBeta, ...(secret && { session: secret.session }) }
  const { webSocket } = await connectSession({ ...client, meta: { ...meta, sessionId } }, c.env)
  const chosen = protocols.includes(PROTOCOL) && { "sec-websocket-protocol": PROTOCOL }
  return new Response(null, { status: 101, webSocket, headers: { "x-session-id": sessionId, ...chosen } })
})
