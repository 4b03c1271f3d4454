import { refreshChanges } from "../access/policy-changes.ts"
import { callerOf, callerWithMetadata } from "../policy/call-policy.ts"
import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { isPlainChat } from "../formats/chat/plain-request.ts"
import type { ChatRequest } from "../formats/schemas.ts"
import { drain } from "../http/request/drain.ts"
import { toErrorResponse, toGatewayError } from "../http/error-response.ts"
import { BASE_PATH, canonicalPath, deploymentOf } from "../http/paths.ts"
import { regionOf } from "../http/request/region.ts"
import { newRequestId } from "../support/ids.ts"
import { addCommonHeaders } from "../http/response-headers.ts"
import { TIMING_HEADER } from "../http/timing.ts"
import { requireBodyDepth } from "../inference/input/body-depth.ts"
import { logRejectedCall } from "../inference/accounting/call-log.ts"
import { createDeps, type IncomingCall, MAX_INFERENCE_BYTES, requestMetaOf } from "../inference/context.ts"
import { chatFormat } from "../inference/endpoints/chat/format.ts"
import { chatRequest } from "../inference/endpoints/chat/request.ts"
import { callTargets, handleInference } from "../inference/pipeline.ts"
import { plainTargetOf } from "../inference/upstream/plain-target.ts"
import { recordRejection } from "../inference/errors/rejections.ts"
import { isSite } from "../interns/site.ts"
import { cachedPrincipal } from "../policy/authenticate.ts"
import { parseJson } from "../support/text/json.ts"
import { app } from "./app.ts"
import { configError } from "./configuration.ts"

const CHAT_PATH = `${BASE_PATH}/chat/completions`
const JSON_TYPE = /^application\/json\s*(?:;|$)/i

/**
 * Entry point of the Worker. A plain chat call with a cached key goes directly to the pipeline, anything else through
 * the router and the schema, which cost more than the rest of a short call. Both return the same response to the same
 * request, which test/app/hot-path.worker.test.ts checks.
 */
export async function handleRequest(request: Request, env: Env, executionCtx: ExecutionContext): Promise<Response> {
  const address = isPlainHead(request) ? chatAddress(request, env) : undefined
  const now = Date.now()
  const principal = address && cachedPrincipal(request.headers, now)
  if (!principal) {
    const response = await app.fetch(request, env, executionCtx)
    await drain(request)
    return response
  }
  refreshChanges(env.DB, (work) => executionCtx.waitUntil(work), now)
  // An incomplete body is not valid JSON, for which the router returns the error.
  const text = await request.text().catch(() => "")
  const body = parseJson(text)
  if (!isPlainChat(body)) return app.fetch(new Request(request, { method: "POST", body: text }), env, executionCtx)
  const requestId = newRequestId()
  const incoming = { request, env, executionCtx, requestId, caller: callerOf(principal), region: address.region }
  const response = await handlePlainCall(incoming, body).catch((thrown: unknown) => {
    const error = toGatewayError(thrown)
    logRejectedCall(configOf(env).LOG_CALLS, error, { request_id: requestId, path: CHAT_PATH })
    recordRejection(incoming, { error, apiType: "completions", body })
    return toErrorResponse(thrown, { path: CHAT_PATH, requestId })
  })
  addCommonHeaders(response.headers, requestId, request.url)
  return response
}

async function handlePlainCall(incoming: IncomingCall, body: ChatRequest): Promise<Response> {
  const caller = callerWithMetadata(incoming.caller, body.metadata)
  const bodyBytes = Number(incoming.request.headers.get("content-length"))
  const meta = requestMetaOf(incoming)
  const deps = await createDeps(incoming)
  const target = plainTargetOf(body, caller, meta, deps)
  if (!target) return handleInference({ format: chatFormat, body, bodyBytes, meta, caller }, deps)
  requireBodyDepth(body)
  return callTargets({ request: chatRequest(body, bodyBytes), meta, caller, targets: [target] }, deps)
}

/** Whether the headers allow a plain call: a JSON body of declared length, no timing option. */
function isPlainHead({ method, headers }: Request): boolean {
  if (method !== "POST") return false
  const length = Number(headers.get("content-length") ?? 0)
  if (!(length > 0 && length <= MAX_INFERENCE_BYTES) || !JSON_TYPE.test(headers.get("content-type") ?? "")) return false
  return !headers.has(TIMING_HEADER)
}

/** A chat completions URL, with the region of its hostname. */
type ChatAddress = Pick<IncomingCall, "region">

/** A deployment has few: each URL is parsed once. */
const MAX_ADDRESSES = 16
const addresses = new WeakMap<Env, Map<string, ChatAddress>>()

/** Undefined for any other URL, and if the configuration is invalid. */
function chatAddress(request: Request, env: Env): ChatAddress | undefined {
  const { url } = request
  const cached = addresses.get(env)?.get(url)
  if (cached) return cached
  const path = pathOf(url)
  if (canonicalPath(path) !== CHAT_PATH || deploymentOf(path) !== undefined) return undefined
  if (configError(env) !== undefined || isSite(request, env)) return undefined
  const address = { region: regionOf(request, env) }
  const others = addresses.get(env)
  if (others && others.size < MAX_ADDRESSES) others.set(url, address)
  else addresses.set(env, new Map([[url, address]]))
  return address
}

/** Without parsing the URL. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2)
  const end = url.slice(start).search(/[?#]/)
  return end === -1 ? url.slice(start) : url.slice(start, start + end)
}
