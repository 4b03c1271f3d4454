import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { GatewayError } from "../../errors/errors.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { jsonBody, ok } from "../../http/schema.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { createDeps, FAILURES, incomingCall, requestMetaOf } from "../context.ts"
import { sizeInBytes } from "../screening/screen.ts"
import { requireBodyDepth } from "../input/body-depth.ts"
import { checkEvent } from "./events/client-events.ts"
import { MAX_SESSION_BYTES, sealClientSecret } from "./client-secret.ts"
import { planSession, requireReadable } from "./open.ts"

const MAX_BODY_BYTES = 64 * 1024

const Session = z
  .looseObject({
    type: z.literal("realtime", { error: 'must be "realtime"' }).default("realtime"),
    model: z.string().min(1).max(200).meta({ example: "openai/gpt-realtime" }),
  })
  .meta({ description: "What `session.update` takes: `instructions`, `tools`, `audio`, …" })

const ClientSecretRequest = z
  .object({
    session: Session,
    expires_after: z
      .object({
        anchor: z.literal("created_at").default("created_at").meta({ description: "What `seconds` count from." }),
        seconds: z.int().min(10).max(7_200).default(600),
      })
      .optional()
      .meta({ description: "Seconds in which it can open sessions. Default: 10 minutes." }),
  })
  .meta({ id: "RealtimeClientSecretRequest" })

const ClientSecretResult = z
  .object({
    value: z.string().meta({ description: "Shown once. Begins with `ek_`." }),
    expires_at: z.int().meta({ description: "Epoch seconds." }),
    session: z.looseObject({ type: z.literal("realtime"), model: z.string() }),
  })
  .meta({ id: "RealtimeClientSecret" })

const createSecret = createRoute({
  method: "post",
  path: "/realtime/client_secrets",
  operationId: "createRealtimeClientSecret",
  tags: ["Realtime"],
  summary: "Create a client secret for a page",
  description:
    "A credential that can only open realtime sessions of one model with this key until it expires. Sessions that are open when it expires continue. It ends with the key.",
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(ClientSecretRequest) },
  responses: { 200: ok(ClientSecretResult, "The client secret."), ...FAILURES },
})

export const realtimeSecrets = newRouter({ relaysText: true }).openapi(createSecret, async (c) => {
  const { session, expires_after: expiry } = c.req.valid("json")
  requireBodyDepth(session)
  const incoming = incomingCall(c)
  const { caller } = incoming
  const { model, ...config } = session
  requireReadable(caller)
  planSession(model, { deps: await createDeps(incoming), meta: requestMetaOf(incoming), caller })
  const checked = checkEvent({ type: "session.update", session: config }, { upstreamId: model })
  if ("error" in checked) throw new GatewayError("invalid_request", checked.error.message)
  if (sizeInBytes(config) > MAX_SESSION_BYTES) {
    const rule = `session: must be at most ${MAX_SESSION_BYTES} bytes as JSON. Send the rest with session.update.`
    throw new GatewayError("invalid_request", rule)
  }
  const expiresAt = Date.now() + (expiry?.seconds ?? 600) * 1_000
  const { keyHash } = caller
  const value = await sealClientSecret({ keyHash, model, session: config, expiresAt }, masterKeysOf(c.env))
  const expires = Math.floor(expiresAt / 1_000)
  return c.json({ value, expires_at: expires, session }, 200, { "cache-control": "no-store" })
})
