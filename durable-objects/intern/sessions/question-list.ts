import type { Env } from "../../../src/config/env.ts"
import type { InternIdentity } from "../../../src/interns/hosts/rpc.ts"
import { deleteQuestion, insertQuestion } from "../../../src/interns/questions-store.ts"
import { toQuestionText } from "../../../src/interns/run/answer.ts"
import type { Question, Run } from "../../../src/interns/run/run.ts"
import { logError } from "../../../src/support/log.ts"

/** A run's question before and after a change; null if the run has none. */
export type QuestionChange = { run: Run; before: Question | null; identity: InternIdentity | undefined; now: number }

/**
 * Mirrors open questions to D1, in the order of their changes. The rows are only for lists and events: the object
 * decides on answers, so a late or stale row does no harm.
 */
export function listQuestions(ctx: DurableObjectState, env: Env): (change: QuestionChange) => void {
  let last: Promise<unknown> = Promise.resolve()
  return ({ run, before, identity, now }) => {
    if (!identity) return
    const { id: internId, organizationId, workspaceId } = identity
    const { question, session } = run
    last = last
      .then(async () => {
        if (before) await deleteQuestion(env.DB, before.id)
        if (!question) return
        const { id, deadline } = question
        const row = { id, organizationId, workspaceId, internId, session, createdAt: now, deadline }
        await insertQuestion(env.DB, { ...row, question: JSON.stringify(toQuestionText(question)) })
      })
      .catch((cause: unknown) => logError("open question was not listed", { intern: internId }, cause))
    ctx.waitUntil(last)
  }
}
