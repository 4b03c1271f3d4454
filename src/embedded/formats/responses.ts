import { advance, type EventState, fail, finish, newEventState, type Step } from "../../formats/responses/events.ts"
import { toResponsesResult } from "../../formats/responses/from-chat.ts"
import { ResponsesRequest } from "../../formats/responses/schemas.ts"
import { toChatRequest } from "../../formats/responses/to-chat.ts"
import { type Completion, toDocument } from "../completion.ts"
import { overloaded } from "../faults.ts"
import { readAs } from "./read.ts"
import type { SimulatedFormat } from "./serve.ts"
import { type CompletionEncoder, toEventFrame } from "./encoder.ts"

export const responsesFormat: SimulatedFormat = {
  read: (body) =>
    readAs(ResponsesRequest, body, (request) => ({
      chat: toChatRequest(request),
      encoderOf: (completion) => responsesEncoder(request, completion),
    })),
  toError: (response) => response,
}

const { message, code, type } = overloaded.error
const FAILURE = { code, message, error_type: type }

function responsesEncoder(request: ResponsesRequest, completion: Completion): CompletionEncoder {
  const newId = () => crypto.randomUUID().replaceAll("-", "")
  const facts = { id: `resp_${newId()}`, model: completion.request.model, createdAt: completion.createdAt, newId }
  let state: EventState = newEventState(request, facts)
  const emitStep = ([next, events]: Step) => {
    state = next
    return events.map(toEventFrame)
  }
  return {
    chunk: (chunk) => emitStep(advance(state, chunk)),
    // Before the first event there is no response that could fail.
    failure: () => (state.phase === "new" ? [toEventFrame(ERROR_EVENT)] : emitStep(fail(state, FAILURE))),
    end: () => emitStep(finish(state, { completedAt: Date.now() })),
    document: () => toResponsesResult(toDocument(completion), request, { ...facts, completedAt: Date.now() }),
    failed: () => Response.json(fail(state, FAILURE)[1].at(-1)?.["response"]),
  }
}

const ERROR_EVENT = { type: "error", sequence_number: 0, code: type, message, param: null }
