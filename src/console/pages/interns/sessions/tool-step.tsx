import type { TranscriptEntry } from "../../../api/account-types.ts"
import { Status, type Tone } from "../../../ui/status.tsx"
import { diffLines } from "../../presets/diff.ts"

const SIGNS = { added: "+", removed: "-", same: " " }

/** A tool call: status, name and details. */
export function ToolStep({ entry }: { entry: TranscriptEntry }) {
  const { title, status, command, folder, url, paths = [], diffs = [], input } = entry
  const shown = command ?? url ?? input
  return (
    <div class="stack tight">
      <div class="step">
        <Status tone={toneOf(status)}>{status?.replace("_", " ") ?? "called"}</Status>
        <code>{title}</code>
        {folder !== undefined && (
          <span class="quiet small">
            in <code>{folder}</code>
          </span>
        )}
      </div>
      {shown !== undefined && (
        <pre class="command" tabIndex={0} role="region" aria-label={`What ${title ?? "the tool"} did`}>
          {shown}
        </pre>
      )}
      {paths.map((path) => (
        <code key={path}>{path}</code>
      ))}
      {diffs.map((diff) => (
        <DiffView key={diff.path} {...diff} />
      ))}
    </div>
  )
}

/** A file change as a line diff. */
export function DiffView({ path, before, after }: { path: string; before: string | null; after: string }) {
  const lines = diffLines(before === null ? [] : before.split("\n"), after.split("\n"))
  return (
    <div class="stack tight">
      <code>{path}</code>
      <pre class="command" tabIndex={0} role="region" aria-label={`Change of ${path}`}>
        {lines.map(({ kind, text }) => `${SIGNS[kind]} ${text}`).join("\n")}
      </pre>
    </div>
  )
}

function toneOf(status: string | undefined): Tone {
  if (status === "completed") return "good"
  return status === "failed" ? "bad" : "busy"
}
