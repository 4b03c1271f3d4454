import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { acceptJson, newRouter } from "../edge/router.ts"
import { json, jsonBody, ok } from "../edge/schema.ts"
import { answer } from "./answer.ts"
import { ChatChunk, ChatResult } from "./chat/schemas.ts"
import { chatSurface } from "./chat/surface.ts"
import { arrivalOf, bodyBytes, FAILURES, MAX_INFERENCE_BYTES, openWorld, ROUTING_HEADERS } from "./context.ts"
import { embeddingsIntake } from "./embeddings/intake.ts"
import { EmbeddingsRequest, EmbeddingsResult } from "./embeddings/schemas.ts"
import { ResponsesEvent, ResponsesRequest, ResponsesResult } from "./responses/schemas.ts"
import { responsesSurface } from "./responses/surface.ts"
import { ChatRequest } from "./schemas.ts"
import { serve } from "./serve.ts"

const chat = createRoute({
  method: "post",
  path: "/chat/completions",
  operationId: "createChatCompletion",
  tags: ["Chat"],
  summary: "A chat completion, as JSON or as server-sent events.",
  description: "With `stream: true` the answer is a stream of `ChatChunk` events that ends with `data: [DONE]`.",
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  parameters: ROUTING_HEADERS,
  request: { body: jsonBody(ChatRequest) },
  responses: {
    200: {
      description: "The completion, or its stream.",
      headers: z.object({ "x-generation-id": z.string() }),
      content: { ...json(ChatResult), "text/event-stream": { schema: ChatChunk } },
    },
    ...FAILURES,
  },
})

const responses = createRoute({
  method: "post",
  path: "/responses",
  operationId: "createResponse",
  tags: ["Responses"],
  summary: "A response, as JSON or as server-sent events. Nothing is stored.",
  description: "With `stream: true` the answer is a stream of `ResponsesEvent` events that ends with `data: [DONE]`.",
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  parameters: ROUTING_HEADERS,
  request: { body: jsonBody(ResponsesRequest) },
  responses: {
    200: {
      description: "The response, or its stream.",
      content: { ...json(ResponsesResult), "text/event-stream": { schema: ResponsesEvent } },
    },
    ...FAILURES,
  },
})

const embeddings = createRoute({
  method: "post",
  path: "/embeddings",
  operationId: "createEmbeddings",
  tags: ["Embeddings"],
  summary: "Vectors for texts.",
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  request: { body: jsonBody(EmbeddingsRequest) },
  responses: { 200: ok(EmbeddingsResult, "A vector for each input."), ...FAILURES },
})

export const inference = newRouter()
  .openapi(chat, async (c) => {
    const request = c.req.valid("json")
    return answer(chatSurface, request, bodyBytes(c, request), arrivalOf(c), c.var.caller, await openWorld(c))
  })
  .openapi(responses, async (c) => {
    const request = c.req.valid("json")
    return answer(responsesSurface, request, bodyBytes(c, request), arrivalOf(c), c.var.caller, await openWorld(c))
  })
  .openapi(embeddings, async (c) => {
    const request = c.req.valid("json")
    const told = await serve(
      embeddingsIntake(request, bodyBytes(c, request)),
      arrivalOf(c),
      c.var.caller,
      await openWorld(c),
    )
    return told as never
  })
