import { combineChecks } from "./combine.ts"
import type { CheckDeps } from "./checker.ts"
import { runCheck } from "./run-check.ts"
import type { ContentCheckRule } from "../schemas.ts"

export type CheckTest = { name: string; available: boolean; flagged: boolean; categories: string[] }

/** Results of the checks of requests in these rules, for a text of a user. */
export async function testChecks(
  rules: readonly ContentCheckRule[],
  text: string,
  { contentChecks, requestId }: CheckDeps,
): Promise<CheckTest[]> {
  const due = combineChecks([{ content_checks: rules }]).filter(({ input }) => input.size > 0)
  return Promise.all(
    due.map(async ({ name }) => {
      const settings = contentChecks.get(name)
      const texts = [{ role: "user", text }]
      const result = settings ? await runCheck(settings, { stage: "request", texts, requestId }) : null
      const { isFlagged = false, categories = [] } = result ?? {}
      return { name, available: result !== null, flagged: isFlagged, categories }
    }),
  )
}
