import type { TranscriptEntry } from "../../../api/account-types.ts"
import { LateMarkdown } from "../../../ui/text/late-markdown.tsx"
import { Status } from "../../../ui/status.tsx"
import { Money, Time } from "../../../ui/values.tsx"
import { withOneStepPerTool } from "./tool-entries.ts"
import { ToolStep } from "./tool-step.tsx"

/** Messages and actions of a session, in order. */
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
          <LateMarkdown text={entry.text ?? ""} />
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
      return <ToolStep entry={entry} />
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

/** Summary of a question in one line. */
function subjectOf(question: TranscriptEntry["question"]): string {
  if (question?.kind === "elicitation") return question.message
  return question?.command ?? question?.operation ?? "for permission"
}
