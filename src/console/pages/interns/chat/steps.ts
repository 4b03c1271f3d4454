import type { TranscriptEntry, TranscriptPage } from "../../../api/account-types.ts"
import { api } from "../../../api/client.ts"
import { withOneStepPerTool } from "../sessions/tool-entries.ts"

/** Entry kinds that start a response of an intern. */
const BEGINS = new Set<TranscriptEntry["kind"]>(["prompt", "answer"])
/** Read position of each session: earlier entries belong to earlier responses. */
const readTo = new Map<string, number>()

/** Tool calls since the last prompt or answer of a session: only its transcript has them, not the response. */
export async function readSteps(internId: string, session: string): Promise<TranscriptEntry[]> {
  const path = `/interns/${internId}/sessions/${encodeURIComponent(session)}`
  let entries: TranscriptEntry[] = []
  let after = readTo.get(path) ?? 0
  try {
    for (let hasMore = true; hasMore;) {
      const page = await api<TranscriptPage>(`${path}?limit=200&after=${after}`)
      entries = [...entries, ...page.data]
      after = page.data.at(-1)?.n ?? after
      hasMore = page.has_more
      const begin = entries.findLastIndex(({ kind }) => BEGINS.has(kind))
      if (begin === -1) continue
      entries = entries.slice(begin)
      readTo.set(path, (entries[0]?.n ?? 1) - 1)
    }
  } catch {
    // This key may not read the session: the conversation continues without its steps.
    return []
  }
  return withOneStepPerTool(entries.filter(({ kind }) => kind === "tool_call"))
}
