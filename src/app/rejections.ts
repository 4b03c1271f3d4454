import type { Context, ErrorHandler } from "hono"
import type { App } from "../access/app.ts"
import { configOf } from "../config/config.ts"
import { onError, toGatewayError } from "../http/error-response.ts"
import { BASE_PATH } from "../http/paths.ts"
import { logRejectedCall } from "../inference/accounting/call-log.ts"
import { incomingCall } from "../inference/context.ts"
import { recordRejection } from "../inference/errors/rejections.ts"
import type { GenerationDraft } from "../ledger/generation.ts"

const API_TYPES: Readonly<Record<string, GenerationDraft["apiType"]>> = {
  "/chat/completions": "completions",
  "/completions": "completions",
  "/fim/completions": "completions",
  "/responses": "completions",
  "/messages": "completions",
  "/embeddings": "embeddings",
  "/rerank": "rerank",
  "/moderations": "decisions",
  "/images/generations": "image",
  "/images": "image",
  "/images/edits": "image",
  "/audio/speech": "tts",
  "/audio/transcriptions": "stt",
  "/audio/translations": "stt",
  "/videos": "video",
  "/realtime/client_secrets": "realtime",
  generateContent: "completions",
  streamGenerateContent: "completions",
  embedContent: "embeddings",
  batchEmbedContents: "embeddings",
}

/** The model and the method of a call of the Gemini API. */
const GEMINI_CALL = /^\/models\/(.+):(\w+)$/

/** Responds to an error. An error of an inference call is logged and, with a valid key, recorded for GET /calls. */
export const recordingRejections: ErrorHandler<App> = (thrown, c) => {
  const apiType = apiTypeOf(c.req.method, c.req.path.slice(BASE_PATH.length))
  if (apiType !== undefined) {
    const call = { request_id: c.var.requestId, path: c.req.path }
    logRejectedCall(configOf(c.env).LOG_CALLS, toGatewayError(thrown), call)
    if ("principal" in c.var) c.executionCtx.waitUntil(record(thrown, c, apiType))
  }
  return onError(thrown, c)
}

function apiTypeOf(method: string, path: string): GenerationDraft["apiType"] | undefined {
  if (method === "GET") return path === "/realtime" ? "realtime" : undefined
  return method === "POST" ? API_TYPES[GEMINI_CALL.exec(path)?.[2] ?? path] : undefined
}

async function record(thrown: Error, c: Context<App>, apiType: GenerationDraft["apiType"]): Promise<void> {
  const incoming = incomingCall(c)
  recordRejection(incoming, { error: toGatewayError(thrown), apiType, body: await readModelSource(c) })
}

/** The part of a request that names the model: the body, the path, or the query of a WebSocket. */
async function readModelSource(c: Context<App>): Promise<unknown> {
  const [, model, method] = GEMINI_CALL.exec(c.req.path.slice(BASE_PATH.length)) ?? []
  if (model !== undefined) return { model, stream: method === "streamGenerateContent" }
  return c.req.method === "GET" ? { model: c.req.query("model"), stream: true } : parsedBody(c)
}

/** The parsed body, if a validator has read it. A body that was not read is not read for this. */
async function parsedBody(c: Context<App>): Promise<unknown> {
  return Object.keys(c.req.bodyCache).length > 0 ? c.req.json().catch(() => undefined) : undefined
}
