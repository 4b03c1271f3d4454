import type { TranscriptEntry } from "../../../api/account-types.ts"
import { Markdown } from "../../../ui/markdown.tsx"
import { Status, type Tone } from "../../../ui/status.tsx"
import { Money, Time } from "../../../ui/values.tsx"

/** What was said and done in a session, in order. */
export function Transcript({ entries, name }: { entries: readonly TranscriptEntry[]; name: string }) {
  return (
    <ol class="transcript" aria-label="Transcript">
      {withOneStepPerTool(entries).map((entry) => (
        <li key={entry.n} class={entry.kind}>
          <Entry entry={entry} name={name} />
        </li>
      ))}
    </ol>
  )
}

/** A call of a tool is noted when it begins and when it ends: it is shown once, where it began, as it ended. */
function withOneStepPerTool(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const shown: TranscriptEntry[] = []
  for (const entry of entries) {
    const index =
      entry.kind === "tool_call" ? shown.findIndex(({ kind, id }) => kind === "tool_call" && id === entry.id) : -1
    const begun = shown[index]
    if (begun)
      shown[index] = {
        ...begun,
        ...(entry.title && { title: entry.title }),
        ...(entry.status && { status: entry.status }),
      }
    else shown.push(entry)
  }
  return shown
}

function Entry({ entry, name }: { entry: TranscriptEntry; name: string }) {
  switch (entry.kind) {
    case "prompt":
      return (
        <article class="say user" aria-label="You">
          <span class="quiet small">
            You, <Time at={entry.at} />
          </span>
          <p dir="auto">{entry.text}</p>
        </article>
      )
    case "text":
      return (
        <article class="say" aria-label={name}>
          <Markdown text={entry.text ?? ""} />
        </article>
      )
    case "reasoning":
      return (
        <details class="fold">
          <summary>Reasoning</summary>
          <p class="quiet" dir="auto">
            {entry.text}
          </p>
        </details>
      )
    case "tool_call":
      return (
        <div class="step">
          <Status tone={toneOf(entry.status)}>{entry.status?.replace("_", " ") ?? "called"}</Status>
          <code>{entry.title}</code>
        </div>
      )
    case "question":
      return (
        <div class="step">
          <Status tone="warn">asked</Status>
          <code>{subjectOf(entry.question)}</code>
        </div>
      )
    case "answer":
      return (
        <div class="step">
          <Status tone="off">answered</Status>
          <span dir="auto">{entry.content}</span>
        </div>
      )
    default:
      return <End entry={entry} />
  }
}

function End({ entry: { error, usage, at } }: { entry: TranscriptEntry }) {
  if (error)
    return (
      <div class="notice bad">
        <strong>The turn failed.</strong> {error.message}
      </div>
    )
  return (
    <p class="quiet small">
      End of the turn, <Time at={at} />
      {usage?.cost !== undefined && (
        <>
          , <Money value={usage.cost} />
        </>
      )}
    </p>
  )
}

function toneOf(status: string | undefined): Tone {
  if (status === "completed") return "good"
  return status === "failed" ? "bad" : "busy"
}

/** What a question was about, in one line. */
function subjectOf(question: TranscriptEntry["question"]): string {
  if (question?.kind === "elicitation") return question.message
  return question?.command ?? question?.operation ?? "for permission"
}
