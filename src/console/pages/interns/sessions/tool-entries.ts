import type { TranscriptEntry } from "../../../api/account-types.ts"

/** A tool call has an entry per status change: show one step, at its start, with the last status. */
export function withOneStepPerTool(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const shown: TranscriptEntry[] = []
  for (const entry of entries) {
    const index =
      entry.kind === "tool_call" ? shown.findIndex(({ kind, id }) => kind === "tool_call" && id === entry.id) : -1
    const begun = shown[index]
    if (!begun) shown.push(entry)
    else shown[index] = { ...begun, ...entry, n: begun.n, at: begun.at, title: entry.title || (begun.title ?? "") }
  }
  return shown
}
