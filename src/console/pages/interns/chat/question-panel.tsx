import { useEffect, useRef, useState } from "preact/hooks"
import type { Question } from "../../../api/account-types.ts"
import { Button } from "../../../ui/button.tsx"
import { Select, TextField } from "../../../ui/field.tsx"
import { describeRemaining, useRemaining } from "../../../ui/time-left.tsx"
import type { Pending } from "./chat-state.ts"
import { DiffView } from "../sessions/tool-step.tsx"

const LABELS: Record<string, string> = {
  allow_once: "Allow once",
  allow_always: "Allow always",
  reject_once: "Reject",
  reject_always: "Reject always",
}
const TOTAL_MS = 300_000
const KEYS = "123456789"

type Props = { pending: Pending; onAnswer: (content: string, label: string) => void }

/** Details of the requested action, a button for each answer, and the remaining time. */
export function QuestionPanel({ pending, onAnswer }: Props) {
  const { question } = pending
  const element = useRef<HTMLElement>(null)
  // Shortcuts for answers work at once, wherever the focus is.
  useEffect(() => element.current?.focus(), [])
  return (
    <section ref={element} class="question" aria-label="Question of the intern" tabIndex={-1}>
      <Countdown deadline={pending.deadline} />
      {question.kind === "permission" ? (
        <Permission question={question} onAnswer={onAnswer} />
      ) : (
        <Form question={question} onAnswer={onAnswer} />
      )}
    </section>
  )
}

function Countdown({ deadline }: { deadline: number }) {
  const remainingMs = useRemaining(deadline)
  return (
    <div class="countdown">
      <span class="bar" aria-hidden="true">
        <i style={{ width: `${Math.min(100, Math.max(0, (remainingMs / TOTAL_MS) * 100))}%` }} />
      </span>
      <span class="quiet small num">{describeRemaining(remainingMs)}</span>
    </div>
  )
}

function Permission({
  question,
  onAnswer,
}: {
  question: Question & { kind: "permission" }
  onAnswer: Props["onAnswer"]
}) {
  const { operation, options, command, folder, url, input, diffs = [] } = question
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, key } = event
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (target instanceof HTMLElement && target.matches("input, textarea, select")) return
      const option = options[KEYS.indexOf(key)]
      if (key.length !== 1 || option === undefined) return
      event.preventDefault()
      onAnswer(option, LABELS[option] ?? option)
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [options, onAnswer])
  return (
    <>
      <h2>The intern asks to run this</h2>
      <pre class="command" tabIndex={0} role="region" aria-label="What would run">
        {command ?? url ?? input ?? operation ?? "The request has no details."}
      </pre>
      <p class="quiet small">
        {operation}
        {folder !== undefined && (
          <>
            {" "}
            in <code>{folder}</code>
          </>
        )}
      </p>
      {diffs.map((diff) => (
        <DiffView key={diff.path} {...diff} />
      ))}
      <div class="row">
        {options.map((option, at) => (
          <Button
            key={option}
            kind={option === "allow_once" ? "primary" : option.startsWith("reject") ? "danger" : "plain"}
            onClick={() => onAnswer(option, LABELS[option] ?? option)}
          >
            {LABELS[option] ?? option} <kbd>{at + 1}</kbd>
          </Button>
        ))}
      </div>
    </>
  )
}

function Form({ question, onAnswer }: { question: Question & { kind: "elicitation" }; onAnswer: Props["onAnswer"] }) {
  const [values, setValues] = useState<Record<string, string>>({})
  const submit = (event: Event) => {
    event.preventDefault()
    onAnswer(JSON.stringify({ action: "accept", content: values }), "Answered")
  }
  return (
    <form class="stack" onSubmit={submit}>
      <h2>{question.message}</h2>
      {question.fields.map(({ name, title, description, required, options }) => {
        const common = {
          label: title ?? name,
          ...(description !== undefined && { hint: description }),
          value: values[name] ?? "",
          onChange: (value: string) => setValues({ ...values, [name]: value }),
        }
        return options ? (
          <Select key={name} {...common} options={["", ...options].map((value) => ({ value, label: value }))} />
        ) : (
          <TextField key={name} {...common} required={required ?? false} />
        )
      })}
      <div class="row">
        <Button type="submit" kind="primary">
          Answer
        </Button>
        <Button onClick={() => onAnswer(JSON.stringify({ action: "decline" }), "Declined")}>Decline</Button>
      </div>
    </form>
  )
}
