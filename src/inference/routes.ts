import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { GatewayError } from "../edge/errors.ts"
import { regionOf } from "../edge/region.ts"
import { acceptJson, newRouter } from "../edge/router.ts"
import { failures, json, jsonBody, ok } from "../edge/schema.ts"
import type { App, Env } from "../env.ts"
import { loadCatalogue } from "../models/compile.ts"
import { openLedger } from "../credits/ledger-client.ts"
import { configuredProviders } from "../providers/configured.ts"
import type { Provider } from "../providers/provider.ts"
import { pseudonym } from "../support/pseudonym.ts"
import { chatIntake } from "./chat/intake.ts"
import { embeddingsIntake } from "./embeddings/intake.ts"
import { EmbeddingsRequest, EmbeddingsResult } from "./embeddings/schemas.ts"
import { EndpointHealth } from "./routing/health.ts"
import { responsesIntake } from "./responses/intake.ts"
import { ResponsesEvent, ResponsesRequest, ResponsesResult } from "./responses/schemas.ts"
import { ChatChunk, ChatResult } from "./chat/schemas.ts"
import { ChatRequest, MAX_SESSION_ID_LENGTH } from "./schemas.ts"
import { serve } from "./serve.ts"
import type { Arrival, World } from "./world.ts"
import { timersOf } from "./timers.ts"

/** Room for a long conversation with pictures; an isolate's 128 MB hold several of these at once. */
export const MAX_INFERENCE_BYTES = 16 * 1024 * 1024

/** How an inference call can fail. */
const FAILURES = failures(
  "invalid_request",
  "unauthenticated",
  "payment_required",
  "forbidden",
  "not_found",
  "timeout",
  "payload_too_large",
  "unsupported_media_type",
  "unprocessable",
  "rate_limited",
  "internal",
  "provider_failed",
  "unavailable",
  "provider_timeout",
  "provider_overloaded",
)

function headerParameter(name: string, description: string) {
  return { name, in: "header" as const, required: false, description, schema: { type: "string" as const } }
}

/** Described, not validated: any other value of the one means "disabled", and the other is checked in arrivalOf. */
const ROUTING_HEADERS = [
  headerParameter(
    "X-Service-Metadata",
    "`enabled` adds how the call was routed. `X-Service-Experimental-Metadata` is read too.",
  ),
  headerParameter("X-Session-Id", "The session, where the body names none."),
]

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
    refuseUnavailable(request)
    return serve(chatIntake(request, bodyBytes(c, request)), arrivalOf(c), c.var.caller, await openWorld(c))
  })
  .openapi(responses, async (c) => {
    const request = c.req.valid("json")
    refuseUnavailable(request)
    return serve(responsesIntake(request, bodyBytes(c, request)), arrivalOf(c), c.var.caller, await openWorld(c))
  })
  .openapi(embeddings, async (c) => {
    const request = c.req.valid("json")
    const answer = await serve(
      embeddingsIntake(request, bodyBytes(c, request)),
      arrivalOf(c),
      c.var.caller,
      await openWorld(c),
    )
    return answer as never
  })

/** What endpoints taught this isolate. */
const health = new EndpointHealth()

async function openWorld(c: Context<App>): Promise<World> {
  const { env } = c
  return {
    ledger: openLedger(env, c.var.caller.organizationId),
    catalogue: await loadCatalogue(env),
    providers: configuredProviders(env),
    health,
    timers: timersOf(env),
    send: (request, provider) => send(request, provider, env),
    pseudonymOf: (user) => pseudonym(env.MASTER_KEY ?? "", user),
    later: (work) => c.executionCtx.waitUntil(work),
    signal: c.req.raw.signal,
  }
}

function send(request: Request, provider: Provider, env: Env): Promise<Response> {
  return provider.embedded && env.EMBEDDED ? env.EMBEDDED.fetch(request) : fetch(request)
}

/** The size of a request as it came; of one that came without its length, as it would be written. */
function bodyBytes(c: Context<App>, body: object): number {
  return Number(c.req.header("content-length") ?? new TextEncoder().encode(JSON.stringify(body)).byteLength)
}

const METADATA_HEADERS = [
  "x-service-metadata",
  "x-service-experimental-metadata",
  "x-openrouter-metadata",
  "x-openrouter-experimental-metadata",
]
const MAX_ATTRIBUTION_LENGTH = 512

function arrivalOf(c: Context<App>): Arrival {
  const header = (...names: string[]) => {
    for (const name of names) {
      const value = c.req.header(name)
      if (value) return value.slice(0, MAX_ATTRIBUTION_LENGTH)
    }
    return null
  }
  const sessionId = c.req.header("x-session-id") ?? null
  if (sessionId !== null && sessionId.length > MAX_SESSION_ID_LENGTH) {
    throw new GatewayError("invalid_request", `x-session-id: must be at most ${MAX_SESSION_ID_LENGTH} characters.`)
  }
  return {
    requestId: c.var.requestId,
    sessionId,
    appUrl: header("http-referer", "referer"),
    appTitle: header("x-title", "x-service-title", "x-openrouter-title"),
    userAgent: header("user-agent"),
    region: regionOf(c.req.raw, c.env),
    wantsMetadata: METADATA_HEADERS.some((name) => c.req.header(name)?.toLowerCase() === "enabled"),
  }
}

/** What the interface knows and this gateway does not do yet is refused by name: nothing is silently ignored. */
function refuseUnavailable({
  plugins,
  tools,
}: Pick<ChatRequest, "plugins"> & { tools?: readonly { type: string }[] | null | undefined }): void {
  plugins?.forEach((plugin, index) => {
    if (plugin.enabled !== false) {
      throw new GatewayError("invalid_request", `plugins[${index}].id: ${plugin.id} is not available on this gateway.`)
    }
  })
  tools?.forEach((tool, index) => {
    if (tool.type !== "function") {
      throw new GatewayError("invalid_request", `tools[${index}].type: ${tool.type} is not available on this gateway.`)
    }
  })
}
