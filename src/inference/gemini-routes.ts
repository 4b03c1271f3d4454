import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import type { App } from "../access/app.ts"
import { GatewayError } from "../errors/errors.ts"
import * as schemas from "../formats/gemini/schemas.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { json, jsonBody, ok } from "../http/schema.ts"
import type { Json } from "../support/text/json.ts"
import { depsOf, newCall } from "./common-routes.ts"
import { bodyBytes, createDeps, FAILURES, incomingCall, MAX_INFERENCE_BYTES, requestMetaOf } from "./context.ts"
import type { EmbeddingsRequest } from "./embeddings/schemas.ts"
import { geminiEmbeddingsRequest } from "./endpoints/gemini/embeddings.ts"
import { geminiFormat } from "./endpoints/gemini/format.ts"
import { countTokens, parseGemini, toChatRequest, toEmbeddingsRequest } from "./endpoints/gemini/request.ts"
import { handleInference, handlePlainInference } from "./pipeline.ts"
import { sizeAfter } from "./screening/screen.ts"

/**
 * The Gemini API of Google's clients. The method follows the name of the model after a colon, so one route serves all
 * methods; the document describes each of them.
 */

const tags = ["Gemini"]
const NamedModel = z.object({ model: z.string().meta({ description: "The model, `author/slug` or an alias." }) })

type Method = { name: string; summary: string; description?: string; request: z.ZodType; response: z.ZodType }

const toOperation = ({ name, summary, description, request, response }: Method) =>
  createRoute({
    method: "post",
    path: `/models/{model}:${name}`,
    operationId: `gemini${name[0]?.toUpperCase()}${name.slice(1)}`,
    tags,
    summary,
    ...(description !== undefined && { description }),
    request: { params: NamedModel, body: jsonBody(request) },
    responses: { 200: ok(response), ...FAILURES },
  })

const generating = toOperation({
  name: "generateContent",
  summary: "Generate content in Google's format",
  description:
    "The base URL of Google's clients is the one without `/v1`; they append `/v1` or `/v1beta`. Names of fields may be in camel case or in snake case.",
  request: schemas.GeminiRequest,
  response: schemas.GeminiResponse,
})

const OTHERS = [
  toOperation({
    name: "countTokens",
    summary: "Count tokens in Google's format",
    description: "An estimate: about four characters a token.",
    request: schemas.GeminiCountRequest,
    response: schemas.GeminiCount,
  }),
  toOperation({
    name: "embedContent",
    summary: "Create an embedding in Google's format",
    request: schemas.GeminiEmbedRequest,
    response: schemas.GeminiEmbedding,
  }),
  toOperation({
    name: "batchEmbedContents",
    summary: "Create embeddings in Google's format",
    request: schemas.GeminiBatchEmbedRequest,
    response: schemas.GeminiEmbeddings,
  }),
]

const Alt = z.enum(["sse", "json"]).meta({
  description: "`sse` for server-sent events; `json`, the default, for an array of the same objects.",
})

const streaming = createRoute({
  method: "post",
  path: "/models/{model}:streamGenerateContent",
  operationId: "geminiStreamGenerateContent",
  tags,
  summary: "Stream content in Google's format",
  request: {
    params: NamedModel,
    query: z.object({ alt: Alt.optional() }),
    body: jsonBody(schemas.GeminiRequest),
  },
  responses: {
    200: {
      description: "A stream of `GeminiEvent` events.",
      content: { "text/event-stream": { schema: schemas.GeminiEvent }, ...json(z.array(schemas.GeminiEvent)) },
    },
    ...FAILURES,
  },
})

const call = createRoute({
  method: "post",
  path: "/models/{name{.+:.+}}",
  hide: true,
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  request: { body: jsonBody(z.looseObject({})) },
  responses: {
    200: {
      description: "OK",
      content: { ...json(z.looseObject({})), "text/event-stream": { schema: z.looseObject({}) } },
    },
    ...FAILURES,
  },
})

type Handler = (c: Context<App>, body: Json, model: string) => Response | Promise<Response>

const METHODS: Readonly<Record<string, Handler>> = {
  generateContent: (c, body, model) => generate(c, body, model, false),
  streamGenerateContent: (c, body, model) => generate(c, body, model, true),
  countTokens: (c, body) => c.json({ totalTokens: countTokens(parseGemini(schemas.GeminiCountRequest, body)) }),
  embedContent(c, body, model) {
    const { content, outputDimensionality, ...fields } = parseGemini(schemas.GeminiEmbedRequest, body)
    return embed(c, { ...fields, requests: [{ content, outputDimensionality }] }, { model, isBatch: false })
  },
  batchEmbedContents: (c, body, model) =>
    embed(c, parseGemini(schemas.GeminiBatchEmbedRequest, body), { model, isBatch: true }),
}

export const gemini = newRouter({ relaysText: true }).openapi(call, async (c) => {
  const name = c.req.param("name") ?? ""
  const colon = name.lastIndexOf(":")
  const method = name.slice(colon + 1)
  const handle = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (!handle) {
    const methods = Object.keys(METHODS).join(", ")
    throw new GatewayError("not_found", `There is no method ${method}. A path ends in :method, one of ${methods}.`)
  }
  return handle(c, c.req.valid("json"), name.slice(0, colon))
})
for (const route of [generating, streaming, ...OTHERS]) gemini.openAPIRegistry.registerPath(route)

async function generate(c: Context<App>, body: Json, model: string, isStream: boolean): Promise<Response> {
  const { chat, ...options } = toChatRequest(body, model, isStream)
  const alt = Alt.safeParse(c.req.query("alt") ?? "json")
  if (isStream && !alt.success) throw new GatewayError("invalid_request", `alt: accepts ${Alt.options.join(" and ")}.`)
  const format = geminiFormat({ ...options, isSse: alt.data === "sse" })
  return handleInference(newCall(c, format, chat), await depsOf(c))
}

async function embed(
  c: Context<App>,
  body: schemas.GeminiBatchEmbedRequest,
  { model, isBatch }: { model: string; isBatch: boolean },
): Promise<Response> {
  const request = toEmbeddingsRequest(body, model)
  const incoming = incomingCall(c)
  const bytes = bodyBytes(c.req.raw, request)
  const toRequest = (one: EmbeddingsRequest) => geminiEmbeddingsRequest(one, sizeAfter(one, request, bytes), isBatch)
  const plain = { body: request, meta: requestMetaOf(incoming), caller: incoming.caller }
  return handlePlainInference(plain, toRequest, await createDeps(incoming))
}
