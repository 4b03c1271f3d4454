import type { Run } from "../../../src/interns/run/run.ts"
import { record } from "../../../src/interns/run/acp/acp-values.ts"
import type { StoredEntry, TranscriptEntry } from "../../../src/interns/run/transcript.ts"
import type { TurnQuestion } from "../../../src/observability/turn.ts"
import { parseJson, parseStored } from "../../../src/support/text/json.ts"

/** Limit for the details of all questions of a turn, in UTF-16 units. Later questions have none. */
const MAX_DETAILS = 64_000
const ACTIONS = ["accept", "decline", "cancel"]

/** The questions of a turn with their outcomes, from the transcript. */
export function questionsOf(entries: readonly StoredEntry[], { ending }: Pick<Run, "ending">, endedAt: number) {
  const parsed = entries.map(({ at, body }) => ({ at, entry: parseStored<TranscriptEntry>(body) }))
  let room = MAX_DETAILS
  return parsed.flatMap(({ at: openedAt, entry }): TurnQuestion[] => {
    if (entry.kind !== "question") return []
    const answer = parsed.find(({ entry: other }) => other.kind === "answer" && other.question_id === entry.id)
    const content = answer?.entry.kind === "answer" ? answer.entry.content : null
    const { kind, operation, options, expires_at: expiresAt, ...details } = entry.question
    const isExpired = answer === undefined && ending === "deadline"
    const deadline = typeof expiresAt === "string" ? Date.parse(expiresAt) : endedAt
    room -= JSON.stringify(details).length
    return [
      {
        id: entry.id,
        kind: String(kind),
        operation: typeof operation === "string" ? operation : null,
        options: Array.isArray(options) ? options.map(String) : [],
        openedAt,
        closedAt: answer?.at ?? (isExpired ? Math.min(deadline, endedAt) : endedAt),
        state: answer ? "answered" : isExpired ? "expired" : "cancelled",
        decision: content === null ? null : decisionOf(String(kind), content),
        details: room >= 0 ? details : {},
      },
    ]
  })
}

/** For a form, only whether it was filled in: its content is only for the agent. */
function decisionOf(kind: string, content: string): string | null {
  const text = content.trim()
  if (kind === "permission") return text
  const { action = text } = record(parseJson(content))
  return ACTIONS.find((one) => one === action) ?? null
}
