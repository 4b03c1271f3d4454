import { useLayoutEffect, useRef } from "preact/hooks"
import type { Model } from "../../api/types.ts"
import { compact, pricePerMillion } from "../../format/number.ts"
import { Button } from "../../ui/button.tsx"
import { Code, CopyButton } from "../../ui/text/code.tsx"
import { LateMarkdown } from "../../ui/text/late-markdown.tsx"
import { ModelPicker } from "../../ui/model-picker.tsx"
import { Status } from "../../ui/status.tsx"
import { columns, draft, removeColumn, retry } from "./state.ts"
import { Strip } from "./strip.tsx"
import type { Column, Run, Turn } from "./types.ts"

type Props = { column: Column; models: readonly Model[]; byId: ReadonlyMap<string, Model> }

/** The view follows the response if the reader is this close to the end. */
const FOLLOW_PX = 80

export function ColumnView({ column, models, byId }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const turns = column.turns.value
  const last = turns.at(-1)?.run.value
  const isNear = useRef(true)
  // Before paint: otherwise each new line shifts the content and back.
  useLayoutEffect(() => {
    const element = scroller.current
    if (element && isNear.current) element.scrollTop = element.scrollHeight
  }, [turns.length, last])
  const onScroll = () => {
    const element = scroller.current
    if (element) isNear.current = element.scrollHeight - element.scrollTop - element.clientHeight < FOLLOW_PX
  }
  return (
    <section class="chat-column" aria-label={`Conversation with ${column.model.value}`}>
      <header>
        <ModelPicker
          models={models}
          value={column.model.value}
          label="Model"
          onChoose={(id) => {
            column.model.value = id
          }}
        />
        {columns.value.length > 1 && (
          <span class="end">
            <Button
              size="small"
              kind="quiet"
              icon="close"
              label={`Remove ${column.model.value}`}
              onClick={() => removeColumn(column.id)}
            />
          </span>
        )}
      </header>
      <div class="chat-turns" ref={scroller} onScroll={onScroll} tabIndex={0} role="log" aria-label="Messages">
        {turns.length === 0 && <Hints model={byId.get(column.model.value)} />}
        {turns.map((turn, index) => (
          <TurnView
            key={turn.id}
            turn={turn}
            onRetry={index === turns.length - 1 ? () => void retry(column, byId) : undefined}
          />
        ))}
      </div>
    </section>
  )
}

function Hints({ model }: { model: Model | undefined }) {
  if (!model) return <p class="quiet chat-hint">Choose a model, then write a message below.</p>
  return (
    <div class="chat-hint stack tight">
      <p dir="auto">{model.description || model.name}</p>
      <p class="quiet small">
        {compact(model.context_length ?? 0)} tokens of context, {describePrice(model)}
      </p>
      <ul class="row" aria-label="Examples">
        {examplesFor(model.id).map((text) => (
          <li key={text}>
            <Button size="small" onClick={() => begin(text)}>
              {text}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  )
}

function describePrice({ pricing }: Model): string {
  const [prompt, completion] = [pricePerMillion(pricing.prompt), pricePerMillion(pricing.completion)]
  return prompt === "free" && completion === "free" ? "free" : `${prompt} in and ${completion} out per million tokens`
}

function examplesFor(id: string): readonly string[] {
  if (id === "embedded/guide")
    return ["How do I add my OpenAI key?", "How are calls charged?", "How do I limit what a key spends?"]
  return ["Explain failover between providers in a table", "Write a haiku about rate limits", "What can you do?"]
}

/** Puts a text into the composer, to edit or send it. */
function begin(text: string): void {
  draft.value = text
  document.querySelector<HTMLElement>(".composer textarea")?.focus()
}

function TurnView({ turn, onRetry }: { turn: Turn; onRetry: (() => void) | undefined }) {
  const run = turn.run.value
  return (
    <article class="turn">
      <div class="question" dir="auto">
        {turn.text}
        {turn.images.length > 0 && (
          <div class="row tight">
            {turn.images.map((url, index) => (
              <img key={index} src={url} alt={`Attachment ${index + 1}`} class="thumb" />
            ))}
          </div>
        )}
      </div>
      <Output run={run} />
      <Strip run={run} />
      {run.endMs !== null && (
        <div class="row tight turn-actions">
          <CopyButton text={run.text} label="Copy the response" />
          {onRetry && (
            <Button size="small" kind="quiet" onClick={onRetry}>
              Again
            </Button>
          )}
        </div>
      )}
    </article>
  )
}

function Output({ run }: { run: Run }) {
  return (
    <div class="answer">
      {run.fault && (
        <Status tone="warn">
          {run.fault} in place of {run.model}
        </Status>
      )}
      {run.reasoning !== "" && (
        <details class="fold" open={run.text === "" && run.status === "streaming"}>
          <summary>Reasoning</summary>
          <div class="reasoning" dir="auto">
            {run.reasoning}
          </div>
        </details>
      )}
      {run.text !== "" && <LateMarkdown text={run.text} isGrowing={run.status === "streaming"} />}
      {run.toolCalls.map((call, index) => (
        <div key={index} class="stack tight">
          <Status tone="busy">
            Tool call <code>{call.name}</code>
          </Status>
          <Code text={indent(call.arguments)} label={`Arguments of ${call.name}`} />
        </div>
      ))}
      {run.status === "waiting" && <span class="cursor" aria-label="Waiting for the first token" role="img" />}
      {run.error && (
        <div class="notice bad" role="alert">
          <strong>{run.error.message}</strong>
          <span class="quiet small">
            {run.error.status > 0 ? `Status ${run.error.status}` : "No status"}
            {run.error.isLate ? ", inside the stream: the client got 200 and then this error as its last event" : ""}
            {run.error.requestId ? ` · ${run.error.requestId}` : ""}
          </span>
        </div>
      )}
      {run.status === "stopped" && <Status tone="off">Stopped here; what was streamed is charged</Status>}
    </div>
  )
}

function indent(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
