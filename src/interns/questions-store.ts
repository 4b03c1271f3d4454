import { and, asc, eq, gt, lt } from "drizzle-orm"
import { openDb } from "../support/db.ts"
import { internQuestions, interns, type QuestionRow } from "./table.ts"

/** Scope of questions: an organization, a workspace, an intern, or the interns that a key created. */
export type QuestionScope = {
  organizationId: string
  workspaceId: string | null
  internId: string | null
  onlyKey: string | null
}

export async function insertQuestion(binding: D1Database, row: QuestionRow): Promise<void> {
  const db = openDb(binding)
  await db.batch([
    db.insert(internQuestions).values(row).onConflictDoNothing(),
    // Deletes questions of runs whose end was not recorded.
    db
      .delete(internQuestions)
      .where(and(eq(internQuestions.internId, row.internId), lt(internQuestions.deadline, row.createdAt))),
  ])
}

export async function deleteQuestion(db: D1Database, id: string): Promise<void> {
  await openDb(db).delete(internQuestions).where(eq(internQuestions.id, id))
}

export type OpenQuestion = QuestionRow & { internName: string }

const MAX_QUESTIONS = 100

/** Questions that can still be answered, the most urgent first. */
export async function listOpenQuestions(db: D1Database, scope: QuestionScope, now: number): Promise<OpenQuestion[]> {
  const { organizationId, workspaceId, internId, onlyKey } = scope
  const rows = await openDb(db)
    .select({ question: internQuestions, internName: interns.name })
    .from(internQuestions)
    .innerJoin(interns, eq(interns.id, internQuestions.internId))
    .where(
      and(
        eq(internQuestions.organizationId, organizationId),
        gt(internQuestions.deadline, now),
        workspaceId === null ? undefined : eq(internQuestions.workspaceId, workspaceId),
        internId === null ? undefined : eq(internQuestions.internId, internId),
        onlyKey === null ? undefined : eq(interns.createdByKey, onlyKey),
      ),
    )
    .orderBy(asc(internQuestions.deadline), asc(internQuestions.id))
    .limit(MAX_QUESTIONS)
  return rows.map(({ question, internName }) => ({ ...question, internName }))
}
