import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { GatewayError } from "../../errors/errors.ts"
import { newRouter } from "../../http/router.ts"
import { failures } from "../../http/schema.ts"
import { newId } from "../../support/ids.ts"
import { connectSession } from "./accept.ts"
import { FAILURES, incomingCall, requestMetaOf } from "../context.ts"

const realtimeSession = createRoute({
  method: "get",
  path: "/realtime",
  operationId: "openRealtimeSession",
  tags: ["Realtime"],
  summary: "Open a realtime session",
  description:
    "A WebSocket that speaks the events of the OpenAI Realtime API. Each response is held, charged and recorded as a call of its own. Browsers send the key as the subprotocol `openai-insecure-api-key.<API_KEY>`, beside `realtime`.",
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
  // The cookie of the console goes along from pages of other origins.
  const hasKey = ["authorization", "x-api-key"].some((name) => headers.has(name)) || protocols.some(carriesKey)
  if (!hasKey) throw new GatewayError("unauthenticated", "Send your API key: Authorization: Bearer <API_KEY>.")
  const incoming = incomingCall(c)
  const { cache: _, ...meta } = requestMetaOf(incoming)
  const sessionId = meta.sessionId ?? `sess-${newId()}`
  const isBeta = protocols.includes(BETA_PROTOCOL) || headers.get("openai-beta") === "realtime=v1"
  const client = { keyHash: incoming.caller.keyHash, model: c.req.valid("query").model, isBeta }
  const { webSocket } = await connectSession({ ...client, meta: { ...meta, sessionId } }, c.env)
  const chosen = protocols.includes(PROTOCOL) && { "sec-websocket-protocol": PROTOCOL }
  return new Response(null, { status: 101, webSocket, headers: { "x-session-id": sessionId, ...chosen } })
})

function carriesKey(protocol: string): boolean {
  return protocol.startsWith("openai-insecure-api-key.")
}
