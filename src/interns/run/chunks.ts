import { errors } from "../../errors/errors.ts"
import { codeOf, metadataOf } from "../lifecycle/reasons.ts"
import type { TurnUsage } from "./acp/acp.ts"
import { toQuestionText } from "./answer.ts"
import type { Delta, Finish, Question } from "./run.ts"

/** Spelling of the vendor fields by kind of client (CLIENT_DIALECT). */
export type Spelling = { vendor: string }

export function spellingOf(clientSpelling: string | undefined): Spelling {
  return { vendor: clientSpelling === "openrouter" ? "openrouter" : "service" }
}

/** Fields of every chunk of a response. `created`: epoch seconds. */
export type Head = { id: string; created: number }

/** A chunk of an intern's stream, the JSON after `data: `. `isFirst` adds the role. */
export function deltaChunk(head: Head, model: string, delta: Delta, isFirst: boolean) {
  return chunk(head, model, [choice(withRole(delta, isFirst), null)])
}

type QuestionChunk = {
  model: string
  question: Question
  isFirst: boolean
  spelling: Spelling
}

export function questionChunk(head: Head, { model, question, isFirst, spelling }: QuestionChunk) {
  return chunk(head, model, [choice(withRole({ tool_calls: [toCall(question, spelling)] }, isFirst), null)])
}

export function finishChunk(head: Head, model: string, finish: Finish, isFirst: boolean) {
  const choices = [choice(withRole({}, isFirst), finish.reason)]
  return { ...chunk(head, model, choices), ...(finish.reason === "error" && { error: toError(finish.error) }) }
}

/** The last chunk. Always sent, with the id of the session. */
export function finalChunk(head: Head, model: string, session: string | null, usage: TurnUsage | null) {
  return { ...chunk(head, model, []), session_id: session, usage }
}

/** The model of chunks before the agent names one. */
export function placeholderModel({ vendor }: Spelling): string {
  return `${vendor}/intern`
}

function chunk({ id, created }: Head, model: string, choices: unknown[]) {
  return { id, object: "chat.completion.chunk", created, model, choices }
}

function choice(delta: object, finishReason: Finish["reason"] | null) {
  return { index: 0, delta, finish_reason: finishReason }
}

function withRole(delta: object, isFirst: boolean): object {
  return isFirst ? { role: "assistant", ...delta } : delta
}

function toCall(question: Question, { vendor }: Spelling) {
  const fn = { name: `${vendor}.provide_input`, arguments: JSON.stringify(toQuestionText(question)) }
  return { index: 0, id: question.id, type: "function", function: fn }
}

function toError({ reason, message, status, retryable }: (Finish & { reason: "error" })["error"]) {
  return { code: status ?? errors[codeOf(reason)].status, message, metadata: metadataOf(reason, retryable) }
}
