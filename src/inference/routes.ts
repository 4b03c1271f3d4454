import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { acceptJson, newRouter } from "../http/router.ts"
import { json, jsonBody, ok } from "../http/schema.ts"
import { depsOf, newCall } from "./common-routes.ts"
import { handleInference, handlePlainInference } from "./pipeline.ts"
import { ChatChunk, ChatResult } from "../formats/chat/schemas.ts"
import { CompletionsChunk, CompletionsRequest, CompletionsResult, FimRequest } from "../formats/completions/schemas.ts"
import { fimFormat } from "./endpoints/completions/fim.ts"
import { completionsFormat } from "./endpoints/completions/format.ts"
import { chatFormat } from "./endpoints/chat/format.ts"
import {
  bodyBytes,
  createDeps,
  FAILURES,
  incomingCall,
  MAX_INFERENCE_BYTES,
  requestMetaOf,
  ROUTING_HEADERS,
} from "./context.ts"
import { embeddingsRequest } from "./embeddings/request.ts"
import { EmbeddingsRequest, EmbeddingsResult } from "./embeddings/schemas.ts"
import { inlineFiles } from "../files/inline.ts"
import { findStoredFile } from "../files/stored-file.ts"
import { countOf, CountRequest, CountResult } from "./endpoints/messages/count.ts"
import { betasIn } from "../formats/messages/betas.ts"
import { MessagesEvent, MessagesRequest, MessagesResult } from "../formats/messages/schemas.ts"
import { messagesFormat } from "./endpoints/messages/format.ts"
import { ResponsesEvent, ResponsesRequest, ResponsesResult } from "../formats/responses/schemas.ts"
import { responsesFormat } from "./endpoints/responses/format.ts"
import { ChatRequest } from "../formats/schemas.ts"
import { sizeAfter } from "./screening/screen.ts"

const chat = createRoute({
  method: "post",
  path: "/chat/completions",
  operationId: "createChatCompletion",
  tags: ["Chat"],
  summary: "Create a chat completion",
  description: "With `stream: true` the response is a stream of `ChatChunk` events that ends with `data: [DONE]`.",
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

const completions = createRoute({
  method: "post",
  path: "/completions",
  operationId: "createCompletion",
  tags: ["Completions"],
  summary: "Create a text completion",
  description:
    "The legacy format of OpenAI. A provider that has it receives the prompt as it is, others as the message of a user. With `stream: true` the response is a stream of `CompletionsChunk` events that ends with `data: [DONE]`.",
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  parameters: ROUTING_HEADERS,
  request: { body: jsonBody(CompletionsRequest) },
  responses: {
    200: {
      description: "The completion, or its stream.",
      content: { ...json(CompletionsResult), "text/event-stream": { schema: CompletionsChunk } },
    },
    ...FAILURES,
  },
})

const fim = createRoute({
  method: "post",
  path: "/fim/completions",
  operationId: "createFimCompletion",
  tags: ["Completions"],
  summary: "Complete code between a prompt and a suffix",
  description:
    "The format of Mistral's API, which editors use. The response is a chat completion; with `stream: true` it is a stream of `ChatChunk` events that ends with `data: [DONE]`. A suffix needs a provider with text completions.",
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  parameters: ROUTING_HEADERS,
  request: { body: jsonBody(FimRequest) },
  responses: {
    200: {
      description: "The completion, or its stream.",
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
  summary: "Create a response",
  description:
    "Nothing is stored. With `stream: true` the response is a stream of `ResponsesEvent` events that ends with `data: [DONE]`.",
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

const messages = createRoute({
  method: "post",
  path: "/messages",
  operationId: "createMessage",
  tags: ["Messages"],
  summary: "Create a message",
  description: "With `stream: true` the response is a stream of `MessagesEvent` events that ends with `message_stop`.",
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  parameters: ROUTING_HEADERS,
  request: { body: jsonBody(MessagesRequest) },
  responses: {
    200: {
      description: "The message, or its stream.",
      content: { ...json(MessagesResult), "text/event-stream": { schema: MessagesEvent } },
    },
    ...FAILURES,
  },
})

const countTokens = createRoute({
  method: "post",
  path: "/messages/count_tokens",
  operationId: "countMessageTokens",
  tags: ["Messages"],
  summary: "Count the tokens of a message",
  description: "An estimate: about four characters a token.",
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  request: { body: jsonBody(CountRequest) },
  responses: { 200: ok(CountResult, "The estimate."), ...FAILURES },
})

const embeddings = createRoute({
  method: "post",
  path: "/embeddings",
  operationId: "createEmbeddings",
  tags: ["Embeddings"],
  summary: "Create embeddings",
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  request: { body: jsonBody(EmbeddingsRequest) },
  responses: { 200: ok(EmbeddingsResult, "A vector for each input."), ...FAILURES },
})

export const inference = newRouter({ relaysText: true })
  .openapi(chat, async (c) => {
    const request = c.req.valid("json")
    return handleInference(newCall(c, chatFormat, request), await depsOf(c))
  })
  .openapi(fim, async (c) => {
    const request = c.req.valid("json")
    return handleInference(newCall(c, fimFormat, request), await depsOf(c))
  })
  .openapi(completions, async (c) => {
    const request = c.req.valid("json")
    return handleInference(newCall(c, completionsFormat, request), await depsOf(c))
  })
  .openapi(responses, async (c) => {
    const request = c.req.valid("json")
    return handleInference(newCall(c, responsesFormat, request), await depsOf(c))
  })
  .openapi(messages, async (c) => {
    const betas = betasIn(c.req.header("anthropic-beta"))
    const request = { ...c.req.valid("json"), ...(betas && { betas }) }
    return handleInference(newCall(c, messagesFormat, request), await depsOf(c))
  })
  .openapi(countTokens, async (c) => {
    const request = await inlineFiles(c.req.valid("json"), (id) => findStoredFile(c.env, c.var.principal, id))
    return c.json({ input_tokens: countOf(request) }, 200)
  })
  .openapi(embeddings, async (c) => {
    const request = c.req.valid("json")
    const incoming = incomingCall(c)
    const call = { body: request, meta: requestMetaOf(incoming), caller: incoming.caller }
    const bytes = bodyBytes(c.req.raw, request)
    const toRequest = (body: EmbeddingsRequest) => embeddingsRequest(body, sizeAfter(body, request, bytes))
    return (await handlePlainInference(call, toRequest, await createDeps(incoming))) as never
  })
