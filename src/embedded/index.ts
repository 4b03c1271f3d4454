import { countTokens } from "./answers.ts"
import { toChatRequest, toRecord } from "./chat-request.ts"
import { newCompletion, toDocument, type Completion } from "./completion.ts"
import { embed } from "./embed.ts"
import { overloaded, portalPage } from "./faults.ts"
import { embeddedModels } from "./models.ts"
import { errorResponse, findFailure } from "./statuses.ts"
import { documentSteps, PACE_MS, play, sleep, streamSteps } from "./stream.ts"

/** Scripted models over the OpenAI chat wire: the upstream that needs no network, and the bench for faults. */
export default { fetch: serve }

const SLOW_MS = 6_000
const slugs = new Set(embeddedModels.filter(({ embeddings }) => !embeddings).map(({ slug }) => slug))
const embedders = new Set(embeddedModels.filter(({ embeddings }) => embeddings).map(({ slug }) => slug))

async function serve(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === "GET" && pathname === "/v1/models") return listModels()
  if (request.method === "POST" && pathname === "/v1/chat/completions") return complete(request)
  if (request.method === "POST" && pathname === "/v1/embeddings") return embeddings(request)
  return invalid(404, `Unknown request URL: ${request.method} ${pathname}.`, null, "unknown_url")
}

function listModels(): Response {
  const data = embeddedModels.map(({ slug }) => ({ id: slug, object: "model", created: 0, owned_by: "embedded" }))
  return Response.json({ object: "list", data })
}

async function complete(request: Request): Promise<Response> {
  const body = await readJson(request)
  if (body === undefined) return invalid(400, "We could not parse the JSON body of your request.", null, null)
  const chat = toChatRequest(body)
  if ("message" in chat) return invalid(400, chat.message, chat.param, null)
  if (!slugs.has(chat.model)) {
    return invalid(404, `The model '${chat.model}' does not exist.`, "model", "model_not_found")
  }

  const failure = findFailure(chat.model, request.headers.get("authorization"), Date.now())
  if (failure) return failure
  const completion = newCompletion(chat, Date.now())
  await sleep(delayMs(completion), request.signal)
  return reply(completion, request.signal)
}

async function embeddings(request: Request): Promise<Response> {
  const body = toRecord(await readJson(request))
  if (!body) return invalid(400, "We could not parse the JSON body of your request.", null, null)
  if (!embedders.has(String(body["model"]))) {
    return invalid(404, `The model '${String(body["model"])}' does not exist.`, "model", "model_not_found")
  }
  const answer = embed(body)
  return answer.ok ? Response.json(answer.body) : invalid(400, answer.message, answer.param, null)
}

function reply(completion: Completion, signal: AbortSignal): Response {
  const { request, fault } = completion
  if (fault.instead === "page") return new Response(portalPage, { headers: { "content-type": "text/html" } })
  const headers = request.stream
    ? { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" }
    : { "content-type": "application/json" }
  if (fault.instead === "nothing") return new Response(request.stream ? play([].values(), signal) : "", { headers })
  if (request.stream) return new Response(play(streamSteps(completion), signal), { headers })
  if (fault.instead === "error" || fault.afterTen === "error") return Response.json(overloaded)
  if (fault.split || fault.afterTen) return new Response(play(documentSteps(completion), signal), { headers })
  return Response.json(toDocument(completion))
}

/** How long the headers are held back: a document is paced by arriving as late as its last token would. */
function delayMs({ request, answers }: Completion): number {
  if (request.model === "slow") return SLOW_MS
  if (request.model !== "paced" || request.stream) return 0
  return PACE_MS * countTokens(answers[0]?.parts ?? [])
}

async function readJson(request: Request): Promise<unknown> {
  try {
    return await request.json()
  } catch {
    return undefined
  }
}

function invalid(status: number, message: string, param: string | null, code: string | null): Response {
  return errorResponse(status, { message, type: "invalid_request_error", param, code })
}
