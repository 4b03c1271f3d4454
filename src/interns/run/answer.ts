import { toTimestamp } from "../../support/time/time.ts"
import { internError } from "../lifecycle/reasons.ts"
import type { Reply } from "./advance.ts"
import { optionOf } from "./questions.ts"
import { record } from "./acp/acp-values.ts"
import { fieldError } from "./form.ts"
import type { Question } from "./run.ts"

/** Answers to a form. */
const ACTIONS_WITHOUT_CONTENT = ["decline", "cancel"]

/** Parses a client message as the answer to a question; throws bad_request if it does not answer it. */
export function readReply(question: Question, content: string): Reply {
  return question.kind === "permission" ? readOption(question, content.trim()) : readForm(question, content)
}

function readOption(question: Question & { kind: "permission" }, kind: string): Reply {
  if (kind === "cancel") return { is: "cancel" }
  const optionId = optionOf(question, kind)
  if (optionId !== undefined) return { is: "option", optionId }
  throw internError("bad_request", `The answer must be one of ${[...kindsOf(question), "cancel"].join(", ")}.`)
}

/** A question for clients: its text, the exact operation, and the possible answers. */
export function toQuestionText(question: Question) {
  const expires_at = toTimestamp(question.deadline)
  return question.kind === "permission"
    ? {
        kind: question.kind,
        operation: question.operation,
        options: kindsOf(question),
        ...question.details,
        expires_at,
      }
    : { kind: question.kind, message: question.message, fields: question.fields, expires_at }
}

/** Each kind once, in the order of the options. */
export function kindsOf({ options }: Question & { kind: "permission" }): string[] {
  return [...new Set(options.map(({ kind }) => kind))]
}

function readForm({ fields }: Question & { kind: "elicitation" }, content: string): Reply {
  const { action, content: values } = record(parse(content))
  const shortAction = [content.trim(), action].find((one) => ACTIONS_WITHOUT_CONTENT.some((known) => known === one))
  if (shortAction !== undefined) return { is: "result", result: { action: shortAction } }
  if (action !== "accept") {
    throw internError("bad_request", 'The answer must be {"action": "accept", "content": {…}}, decline or cancel.')
  }
  const answers = record(values)
  const fault = fieldError(fields, answers)
  if (fault !== undefined) throw internError("bad_request", fault)
  return { is: "result", result: { action, content: answers } }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** The answer of an ACP client in the form of a chat answer. */
export function answerText(question: Question, result: unknown): string {
  if (question.kind === "elicitation") return JSON.stringify(result)
  const { outcome, optionId } = record(record(result)["outcome"])
  if (outcome !== "selected") return "cancel"
  return question.options.find(({ id }) => id === optionId)?.kind ?? String(optionId)
}
