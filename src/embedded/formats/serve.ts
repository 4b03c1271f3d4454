import { type Invalid, readJson, toChatRequest } from "../chat-request.ts"
import { type Completion, newCompletion } from "../completion.ts"
import { formatSlugs } from "../models.ts"
import { reply } from "../reply.ts"
import { findFailure, invalid, unknownModel } from "../statuses.ts"
import type { CompletionEncoder } from "./encoder.ts"

/** An API format besides chat: its requests are translated to chat, and the scripted responses are encoded in it. */
export interface SimulatedFormat {
  read: (body: unknown) => Question | Invalid
  /** Converts an error of the OpenAI shape to the shape of this format. */
  toError: (response: Response) => Response | Promise<Response>
}

export interface Question {
  /** The request as a chat body. */
  chat: Record<string, unknown>
  encoderOf: (completion: Completion) => CompletionEncoder
}

export function serveFormat(format: SimulatedFormat): (request: Request) => Promise<Response> {
  return async (request) => {
    const response = await complete(request, format)
    return response.ok ? response : format.toError(response)
  }
}

async function complete(request: Request, format: SimulatedFormat): Promise<Response> {
  const question = format.read(await readJson(request))
  if ("message" in question) return invalid(400, question.message, question.param, null)
  const chat = toChatRequest({ ...question.chat, stream_options: { include_usage: true } })
  if ("message" in chat) return invalid(400, chat.message, chat.param, null)
  if (!formatSlugs.includes(chat.model)) return unknownModel(chat.model)
  const failure = findFailure(chat.model, null, Date.now())
  if (failure) return failure
  const completion = newCompletion(chat, Date.now())
  return reply(completion, question.encoderOf(completion), request.signal)
}
