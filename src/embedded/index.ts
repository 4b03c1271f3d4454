import { embeddedCatalogue } from "./catalogue.ts"
import { readJson, toChatRequest, toRecord } from "./chat-request.ts"
import { newCompletion } from "./completion.ts"
import { embed } from "./embed.ts"
import { mediaModels } from "./media/models.ts"
import { serveRealtime } from "./realtime/serve.ts"
import { realtimeModels } from "./realtime/models.ts"
import { findVideo, mediaRoutes } from "./media/serve.ts"
import { embeddedModels, formatSlugs } from "./models.ts"
import { reply } from "./reply.ts"
import { findFailure, invalid, unknownModel } from "./statuses.ts"
import { chatEncoder } from "./formats/chat.ts"
import { messagesFormat } from "./formats/messages.ts"
import { responsesFormat } from "./formats/responses.ts"
import { serveFormat } from "./formats/serve.ts"

/** Scripted models: an upstream that needs no network, and scripted faults. */
export default { fetch: serve }

const slugs = embeddedModels.filter(({ embeddings }) => !embeddings).map(({ slug }) => slug)
const embedders = new Set(embeddedModels.filter(({ embeddings }) => embeddings).map(({ slug }) => slug))

const routes = new Map<string, (request: Request) => Response | Promise<Response>>([
  ["GET /v1/models", listModels],
  ["GET /catalogue", () => Response.json(embeddedCatalogue)],
  ["POST /v1/chat/completions", (request) => complete(request, slugs)],
  ["POST /v1/embeddings", embeddings],
  ["GET /v1/realtime", serveRealtime],
  ...mediaRoutes,
  // A provider with the Responses API also has chat completions.
  ["POST /responses/v1/chat/completions", (request) => complete(request, formatSlugs)],
  ["POST /responses/v1/responses", serveFormat(responsesFormat)],
  ["POST /messages/v1/messages", serveFormat(messagesFormat)],
])

async function serve(request: Request): Promise<Response> {
  const { method } = request
  const { pathname } = new URL(request.url)
  const response = routes.get(`${method} ${pathname}`)
  if (response) return response(request)
  const video = method === "GET" ? findVideo(pathname) : undefined
  return video ?? invalid(404, `Unknown request URL: ${method} ${pathname}.`, null, "unknown_url")
}

function listModels(): Response {
  const data = [...embeddedModels, ...mediaModels, ...realtimeModels].map(({ slug }) => {
    return { id: slug, object: "model", created: 0, owned_by: "embedded" }
  })
  return Response.json({ object: "list", data })
}

async function complete(request: Request, offered: readonly string[]): Promise<Response> {
  const body = await readJson(request)
  if (body === undefined) return invalid(400, "We could not parse the JSON body of your request.", null, null)
  const chat = toChatRequest(body)
  if ("message" in chat) return invalid(400, chat.message, chat.param, null)
  if (!offered.includes(chat.model)) return unknownModel(chat.model)

  const failure = findFailure(chat.model, request.headers.get("authorization"), Date.now())
  if (failure) return failure
  const completion = newCompletion(chat, Date.now())
  return reply(completion, chatEncoder(completion), request.signal)
}

async function embeddings(request: Request): Promise<Response> {
  const body = toRecord(await readJson(request))
  if (!embedders.has(String(body["model"]))) return unknownModel(String(body["model"]))
  const response = embed(body)
  return response.ok ? Response.json(response.body) : invalid(400, response.message, response.param, null)
}
