import type { TranscriptEntry, TranscriptPage } from "../../api/account-types.ts"
import { api } from "../../api/client.ts"
import { withOneStepPerTool } from "./sessions/tool-step.tsx"

/** What begins a response of an intern. */
const BEGINS = new Set<TranscriptEntry["kind"]>(["prompt", "answer"])
/** How far each session was read: entries before this one are of former responses. */
const readTo = new Map<string, number>()

/** Calls of tools since the last prompt or answer of a session: a response does not have them, its transcript does. */
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
    // A session that this key may not read: the conversation goes on without its steps.
    return []
  }
  return withOneStepPerTool(entries.filter(({ kind }) => kind === "tool_call"))
}
