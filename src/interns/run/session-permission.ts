import type { AcpEvent, PermissionOption } from "./acp/acp.ts"
import { MAX_DETAIL_LENGTH, type PermissionDetails } from "./permission-details.ts"
import { optionOf, selected } from "./questions.ts"
import type { Question, Run, Step } from "./run.ts"

/**
 * Standing answers of a session (`allow_always`, `reject_always`) to daemon agents. The agent receives a one-time answer,
 * because the agent's memory of an answer is not limited to the session and not revocable; the gateway repeats the answer.
 */

export type Decision = "allow" | "reject"

type PermissionRequest = { operation: string | null; details?: PermissionDetails }

/**
 * The subject of an answer: the same command in the same folder, the same URL, the same files, or else the same tool.
 * `name`: for display. Undefined if the subject was cut and may therefore equal that of another call.
 */
export function subjectOf({ operation, details = {} }: PermissionRequest): { key: string; name: string } | undefined {
  const { command, folder, url, paths = [], diffs = [] } = details
  const files = [...new Set([...paths, ...diffs.map(({ path }) => path)])].toSorted()
  const parts =
    command !== undefined
      ? ["command", command, folder ?? ""]
      : url !== undefined
        ? ["url", url]
        : files.length > 0
          ? ["files", operation ?? "", ...files]
          : ["tool", operation ?? ""]
  if (parts.some((part) => part.length > MAX_DETAIL_LENGTH)) return undefined
  const name = command ?? url ?? (files.length > 0 ? files.join(", ") : (operation ?? ""))
  return name === "" ? undefined : { key: JSON.stringify(parts), name }
}

const STANDING: Readonly<Record<string, Decision>> = { allow_always: "allow", reject_always: "reject" }
const ONCE = { allow: "allow_once", reject: "reject_once" } as const

/** The answer for the agent, and the decision for the session; undefined for a one-time answer. */
export function sessionAnswer(
  question: Question,
  optionId: unknown,
): { decision: Decision; optionId: string } | undefined {
  if (question.kind !== "permission") return undefined
  const option = question.options.find(({ id }) => id === optionId)
  const decision = option && STANDING[option.kind]
  if (decision === undefined) return undefined
  const once = optionOf(question, ONCE[decision])
  return once === undefined ? undefined : { decision, optionId: once }
}

/** Answers a question by a standing decision. Undefined if the agent does not offer that answer. */
export function decide(run: Run, request: AcpEvent & { is: "permission" }, decision: Decision): Step | undefined {
  const option = request.options.find(({ kind }: PermissionOption) => kind === ONCE[decision])
  if (!option || run.state === "cancelling" || run.state === "ended") return undefined
  const { rpc, operation, options, details } = request
  const question: Question = { id: "", rpc, deadline: 0, kind: "permission", operation, options, details }
  return { run: { ...run, questionCount: run.questionCount + 1 }, effects: [selected(question, option.id)] }
}
