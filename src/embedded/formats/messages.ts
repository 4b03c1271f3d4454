import type { Json } from "../../support/text/json.ts"
import { toMessagesError } from "../../formats/messages/errors.ts"
import { advance, type EventState, fail, finish, newEventState, type Step } from "../../formats/messages/events.ts"
import { toMessagesResult } from "../../formats/messages/from-chat.ts"
import { MessagesRequest } from "../../formats/messages/schemas.ts"
import { CLAUDE_FORMAT } from "../../formats/messages/thinking.ts"
import { toChatRequest } from "../../formats/messages/to-chat.ts"
import { toRecord } from "../chat-request.ts"
import { type Chunk, type Completion, toDocument } from "../completion.ts"
import { overloaded } from "../faults.ts"
import { invalid } from "../statuses.ts"
import { readAs } from "./read.ts"
import type { SimulatedFormat } from "./serve.ts"
import { type CompletionEncoder, toEventFrame } from "./encoder.ts"

export const messagesFormat: SimulatedFormat = {
  read: (body) =>
    readAs(MessagesRequest, body, (request) => ({
      chat: toChatRequest(request),
      encoderOf: (completion) => messagesEncoder(completion),
    })),
  toError: async (response) => {
    const { error } = toRecord(await response.json())
    const headers = new Headers(response.headers)
    headers.delete("content-length")
    const result = toMessagesError(response.status, String(toRecord(error)["message"]))
    return Response.json(result, { status: response.status, headers })
  },
}

/** This API's status for an overloaded provider. */
const OVERLOADED = 529

function messagesEncoder(completion: Completion): CompletionEncoder {
  const newId = () => crypto.randomUUID().replaceAll("-", "")
  const facts = { id: `msg_${newId()}`, model: completion.request.model, newId }
  const result = completion.fault.usage === "none" ? withoutUsage : (event: Json) => event
  let state: EventState = newEventState(facts)
  let isThinking = false
  const emitStep = ([next, events]: Step) => {
    state = next
    return events.map((event) => toEventFrame(result(event)))
  }
  return {
    chunk(chunk) {
      const { reasoning, content } = deltaOf(chunk)
      const isOver = isThinking && content !== undefined && content !== ""
      isThinking = reasoning !== undefined || (isThinking && !isOver)
      return [...(isOver ? emitStep(advance(state, SIGNATURE)) : []), ...emitStep(advance(state, asClaudeChunk(chunk)))]
    },
    failure: () => emitStep(fail(state, { code: OVERLOADED, message: overloaded.error.message })),
    end: () => emitStep(finish(state)),
    document: () => result(toMessagesResult(withSignatures(toDocument(completion)), facts)),
    failed: () => invalid(OVERLOADED, overloaded.error.message, null, null),
  }
}

function withoutUsage(result: Json): Json {
  const { message, ...event } = Object.fromEntries(Object.entries(result).filter(([key]) => key !== "usage"))
  return message === undefined ? event : { ...event, message: withoutUsage(toRecord(message)) }
}

/** A reasoning detail in this API's format, whose signature is verified when it is sent back. */
const DETAIL = { type: "reasoning.text", index: 0, format: CLAUDE_FORMAT }
const SIGNED = { ...DETAIL, signature: "c2ltLXNpZ25hdHVyZQ==" }
const SIGNATURE: Chunk = { choices: [{ index: 0, delta: { reasoning_details: [{ ...SIGNED, text: "" }] } }] }

function deltaOf(chunk: Chunk): Json {
  const [choice] = chunk["choices"] as unknown[]
  return toRecord(toRecord(choice)["delta"])
}

function asClaudeChunk(chunk: Chunk): Chunk {
  const { reasoning, ...delta } = deltaOf(chunk)
  if (reasoning === undefined) return chunk
  const details = [{ ...DETAIL, text: reasoning }]
  return { ...chunk, choices: [{ index: 0, delta: { ...delta, reasoning_details: details } }] }
}

function withSignatures(document: Chunk): Chunk {
  const choices = (document["choices"] as Json[]).map((choice) => {
    const { reasoning, ...message } = toRecord(choice["message"])
    if (reasoning === undefined) return choice
    return { ...choice, message: { ...message, reasoning_details: [{ ...SIGNED, text: reasoning }] } }
  })
  return { ...document, choices }
}
