import { configOf } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import { newObject } from "../../config/objects.ts"
import { asGatewayError, type ErrorName, GatewayError } from "../../errors/errors.ts"
import { openLedger } from "../../ledger/client.ts"
import { principalByHash } from "../../policy/authenticate.ts"
import { callerOf } from "../../policy/call-policy.ts"
import { withRunContext } from "../../policy/run-context.ts"
import { type Json, parseStored } from "../../support/text/json.ts"
import { logError } from "../../support/log.ts"
import { createDeps } from "../context.ts"
import type { RequestMeta } from "../deps.ts"
import { openSession, type SessionRequest } from "./open.ts"
import type { CurrentPolicy } from "./policy-check.ts"
import { RealtimeSession } from "./session.ts"

/** Opens sessions: the request from the Worker to the Durable Object of a session, and its response. */

const SESSION_HEADER = "x-realtime-session"

/** The client as authenticated by the Worker, with its request. */
export type SessionClient = SessionRequest & {
  keyHash: string
  meta: RequestMeta
  /** Initial session settings from a client secret. */
  session?: Json
}

/** Opens the session in a new object. Throws the error of the rejection. */
export async function connectSession(client: SessionClient, env: Env): Promise<{ webSocket: WebSocket }> {
  const headers = { upgrade: "websocket", [SESSION_HEADER]: encodeURIComponent(JSON.stringify(client)) }
  const object = newObject(env, "REALTIME")
  const response = await object.fetch(new Request("http://realtime/", { headers }))
  const { webSocket } = response
  if (webSocket) return { webSocket }
  const { code, message, ...details } = await response.json<Rejection>()
  throw new GatewayError(code, message, details)
}

type Rejection = { code: ErrorName; message: string } & NonNullable<ConstructorParameters<typeof GatewayError>[2]>

/** Runs in the object. Returns 101, or the error of the rejection. */
export async function acceptSession(
  request: Request,
  env: Env,
  executionCtx: Pick<ExecutionContext, "waitUntil">,
): Promise<Response> {
  const client = parseStored<SessionClient>(decodeURIComponent(request.headers.get(SESSION_HEADER) ?? "{}"))
  try {
    return await accept(client, { request, env, executionCtx })
  } catch (thrown) {
    const { code, message, metadata, rejectedBy, headers, extraFields, cause } = asGatewayError(thrown)
    if (cause !== undefined) logError("realtime session was not opened", { requestId: client.meta.requestId }, cause)
    const details = { ...(metadata && { metadata }), ...(headers && { headers }), ...(extraFields && { extraFields }) }
    return Response.json({ code, message, rejectedBy, ...details } satisfies Rejection)
  }
}

type Inside = { request: Request; env: Env; executionCtx: Pick<ExecutionContext, "waitUntil"> }

async function accept(client: SessionClient, { request, env, executionCtx }: Inside): Promise<Response> {
  const { keyHash, meta, model } = client
  const currentPolicy = async (): Promise<CurrentPolicy | undefined> => {
    const principal = await principalByHash(keyHash, env, Date.now())
    if (!principal) return undefined
    const caller = callerOf(await withRunContext(principal, env))
    const deps = await createDeps({ request, env, executionCtx, requestId: meta.requestId, caller })
    // Each response has a separate hold: a lease is for many short calls.
    return { caller, deps: { ...deps, ledger: openLedger(env, caller.organizationId) } }
  }
  const policy = await currentPolicy()
  if (!policy) throw new GatewayError("unauthenticated", "This API key is not valid.")
  const { caller, deps } = policy
  const opened = await openSession(client, { deps, meta, caller })
  const { 0: webSocket, 1: serverSocket } = new WebSocketPair()
  const maxSessionMs = configOf(env).REALTIME_MAX_SESSION_MS
  new RealtimeSession({ opened, client: serverSocket, caller, deps, meta, model, maxSessionMs, currentPolicy }).start(
    client.session,
  )
  return new Response(null, { status: 101, webSocket })
}
