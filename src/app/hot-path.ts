import { callerOf } from "../policy/call-policy.ts"
import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { isPlainChat } from "../formats/chat/plain-request.ts"
import type { ChatRequest } from "../formats/schemas.ts"
import { drain } from "../http/drain.ts"
import { toErrorResponse, toGatewayError } from "../http/error-response.ts"
import { BASE_PATH } from "../http/paths.ts"
import { newRequestId } from "../http/request-id.ts"
import { addCommonHeaders } from "../http/response-headers.ts"
import { TIMING_HEADER } from "../http/timing.ts"
import { createDeps, MAX_INFERENCE_BYTES, requestMetaOf } from "../inference/context.ts"
import { chatFormat } from "../inference/endpoints/chat/format.ts"
import { handleInference } from "../inference/pipeline.ts"
import { recordRejection } from "../inference/rejections.ts"
import { isSite } from "../interns/site.ts"
import { logRejectedCall } from "../observability/call-log.ts"
import { cachedPrincipal } from "../policy/authenticate.ts"
import { parseJson } from "../support/json.ts"
import { app } from "./app.ts"
import { configError } from "./configuration.ts"

const CHAT_PATH = `${BASE_PATH}/chat/completions`
const JSON_TYPE = /^application\/json\s*(?:;|$)/i

/**
 * Every request of the Worker. A plain chat call with a cached key goes to the pipeline at once, anything else through
 * the router and the schema: those cost more than the rest of a short call. Both give the same answer to the same
 * request, which test/app/hot-path.worker.test.ts holds.
 */
export async function handleRequest(request: Request, env: Env, executionCtx: ExecutionContext): Promise<Response> {
  const principal = isPlainCall(request, env) ? cachedPrincipal(request.headers, Date.now()) : undefined
  if (!principal) {
    const response = await app.fetch(request, env, executionCtx)
    await drain(request)
    return response
  }
  // A body that breaks off is not valid JSON, which the router answers.
  const text = await request.text().catch(() => "")
  const body = parseJson(text)
  if (!isPlainChat(body)) return app.fetch(new Request(request, { method: "POST", body: text }), env, executionCtx)
  const requestId = newRequestId()
  const incoming = { request, env, executionCtx, requestId, caller: callerOf(principal) }
  const response = await answer(incoming, body).catch((thrown: unknown) => {
    const error = toGatewayError(thrown)
    logRejectedCall(configOf(env).LOG_CALLS, error, { request_id: requestId, path: CHAT_PATH })
    recordRejection(incoming, { error, apiType: "completions", body })
    return toErrorResponse(thrown, { path: CHAT_PATH, requestId })
  })
  addCommonHeaders(response.headers, requestId)
  return response
}

type Incoming = Parameters<typeof createDeps>[0]

async function answer(incoming: Incoming, body: ChatRequest): Promise<Response> {
  const { caller } = incoming
  const bodyBytes = Number(incoming.request.headers.get("content-length"))
  const call = { format: chatFormat, body, bodyBytes, meta: requestMetaOf(incoming), caller }
  return handleInference(call, await createDeps(incoming))
}

/** Whether the head of a request promises a plain call: the path, a JSON body of declared length, no option of timing. */
function isPlainCall(request: Request, env: Env): boolean {
  const { method, url, headers } = request
  if (method !== "POST" || pathOf(url) !== CHAT_PATH) return false
  const length = Number(headers.get("content-length") ?? 0)
  if (!(length > 0 && length <= MAX_INFERENCE_BYTES) || !JSON_TYPE.test(headers.get("content-type") ?? "")) return false
  return !headers.has(TIMING_HEADER) && configError(env) === undefined && !isSite(request, env)
}

/** Without parsing the URL. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2)
  const end = url.slice(start).search(/[?#]/)
  return end === -1 ? url.slice(start) : url.slice(start, start + end)
}
