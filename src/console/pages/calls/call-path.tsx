import "./calls.css"
import type { CallStory } from "../../api/types.ts"
import { clock, duration } from "../../format/time.ts"
import { Chip } from "../../ui/chip.tsx"
import { Status } from "../../ui/status.tsx"
import { type Part, pathOf, type Stage } from "./path.ts"

type Scale = { from: number; to: number }

function Track({ parts, scale }: { parts: readonly Part[]; scale: Scale }) {
  const span = Math.max(1, scale.to - scale.from)
  return (
    <span class="track">
      {parts.map(({ kind, from, to, label }) => (
        <i
          key={from}
          class={kind}
          title={`${label} ${clock(from)} to ${clock(to)}`.trim()}
          style={{
            left: `min(100% - 2px, ${((from - scale.from) / span) * 100}%)`,
            width: `max(2px, ${((to - from) / span) * 100}%)`,
          }}
        />
      ))}
    </span>
  )
}

const lengthOf = (parts: readonly Part[]) => parts.reduce((sum, { from, to }) => sum + to - from, 0)

function Row({ stage, scale }: { stage: Stage; scale: Scale }) {
  if (stage.kind === "finding") {
    const { id, name, action, patterns } = stage.finding
    return (
      <li class="finding">
        <Status tone={action === "block" ? "bad" : "warn"}>{action}</Status>
        <Chip kind="guardrail" id={id} label={name} />
        <span class="quiet">{patterns.join(", ")}</span>
      </li>
    )
  }
  if (stage.kind === "step")
    return (
      <li>
        <span class="quiet truncate">{stage.label}</span>
        <Track parts={stage.parts} scale={scale} />
        <span class="num right quiet">{duration(lengthOf(stage.parts))}</span>
      </li>
    )
  const { attempt, parts } = stage
  const isGood = attempt.error === null && attempt.status === 200
  return (
    <li>
      <Status tone={isGood ? "good" : "bad"}>
        {attempt.provider} {attempt.status ?? "no response"}
      </Status>
      <Track parts={parts} scale={scale} />
      <span class="num right">{duration(stage.duration)}</span>
      <Facts stage={stage} />
    </li>
  )
}

function Facts({ stage: { attempt, parts } }: { stage: Extract<Stage, { kind: "attempt" }> }) {
  const { model, is_byok: isByok, key_number: keyNumber, cache, error } = attempt
  const streamed = parts.length > 1
  return (
    <div class="path-facts">
      <span class="quiet" dir="auto">
        {model}
      </span>
      {isByok && <span class="tag">own key</span>}
      {keyNumber !== null && <span class="tag">key {keyNumber}</span>}
      {cache === "hit" && <span class="tag">from the cache</span>}
      {streamed &&
        parts.map(({ kind, label, from, to }) => (
          <span key={label} class="part">
            <i class={kind} />
            {label} <span class="num">{duration(to - from)}</span>
          </span>
        ))}
      {error && <p class="attempt-error">{error.message}</p>}
    </div>
  )
}

/** Steps of a call, in order: gateway, guardrails with findings, and each provider with its time. */
export function CallPath({ story }: { story: Pick<CallStory, "times" | "trail" | "guardrails"> }) {
  const { stages, from, to, settlementMs } = pathOf(story)
  return (
    <div class="stack tight">
      <ol class="call-path" aria-label="Path of the call">
        {stages.map((stage, index) => (
          <Row key={index} stage={stage} scale={{ from, to }} />
        ))}
      </ol>
      {story.trail.length === 0 && <p class="quiet small">No provider was tried.</p>}
      <p class="row between quiet small">
        <span>{clock(from)}</span>
        <span>
          {duration(to - from)} in total{settlementMs > 0 && `, charged ${duration(settlementMs)} later`}
        </span>
      </p>
    </div>
  )
}
