import { useEffect, useRef, useState } from "preact/hooks"
import { count, exactUsd, percent, usd } from "../../format/number.ts"
import { duration } from "../../format/time.ts"
import { Chip } from "../../ui/chip.tsx"
import { Meter, nameOfLimit } from "../../ui/charts/meter.tsx"
import { Status, type Tone } from "../../ui/status.tsx"
import type { Run } from "./types.ts"

/** Below each response: timing, tokens, cost and route. Estimated while the response streams. */
export function Strip({ run }: { run: Run }) {
  return (
    <div class="strip">
      <Figures run={run} />
      <CallPath run={run} />
    </div>
  )
}

function tokensPerSecond({ completionTokens, firstTokenMs, endMs, startedAt }: Run): number | null {
  if (firstTokenMs === null) return null
  const streamedMs = (endMs ?? performance.now() - startedAt) - firstTokenMs
  return streamedMs < 50 ? null : completionTokens / (streamedMs / 1000)
}

function Figures({ run }: { run: Run }) {
  const speed = tokensPerSecond(run)
  const about = run.isEstimated ? "≈" : ""
  const { cost, held } = run
  return (
    <p class="figures-line num">
      <span>{run.firstTokenMs === null ? "– first token" : `${duration(run.firstTokenMs)} first token`}</span>
      {(speed !== null || run.endMs === null) && (
        <span>{speed === null ? "– tok/s" : `${Math.round(speed)} tok/s`}</span>
      )}
      <span title={run.isEstimated ? "Estimated until the provider reports its count" : "As the provider counted"}>
        {about}
        {count(run.promptTokens)} → {about}
        {count(run.completionTokens)} tokens
      </span>
      {cost !== null && (
        <span title={exactUsd(cost)}>
          {about}
          {usd(cost)}
          {held !== null && ` of ${usd(held)} held`}
        </span>
      )}
      {cost !== null && held !== null && held > 0 && (
        <span class="hold">
          <Meter value={cost} max={held} label={`${percent(cost / held)} of the hold`} />
        </span>
      )}
    </p>
  )
}

type Step = { id: string; label: string; tone: Tone; facts: [string, string][] }

/** The route of the call from routing metadata; each stage opens its details. */
function stepsOf(run: Run): Step[] {
  const { metadata, error, status } = run
  if (!metadata) {
    if (error)
      return [
        { id: "refused", label: `refused ${error.status || ""}`, tone: "bad", facts: [["Reason", error.message]] },
      ]
    return [
      {
        id: "sent",
        label: status === "stopped" ? "stopped" : "sent",
        tone: status === "stopped" ? "off" : "busy",
        facts: [],
      },
    ]
  }
  const stages = metadata.pipeline.map((stage, index): Step => ({
    id: `stage ${index}`,
    label: stage.type.replaceAll("_", " "),
    tone: "good",
    facts: [
      [stage.name, stage.summary],
      ...Object.entries(stage.data ?? {}).map(([name, value]): [string, string] => [name, JSON.stringify(value)]),
    ],
  }))
  const { endpoints, attempts } = metadata
  const plan: Step = {
    id: "plan",
    label: `plan ${count(endpoints.total)} ${endpoints.total === 1 ? "target" : "targets"}`,
    tone: endpoints.total > 0 ? "good" : "bad",
    facts: [
      ["Strategy", metadata.strategy],
      ["Region", metadata.region],
      ...endpoints.available.map(({ model, provider, selected }): [string, string] => [
        provider,
        selected ? `${model}, selected` : model,
      ]),
    ],
  }
  const tried = attempts.map((attempt, index): Step => {
    const isOk = attempt.status === 200 && !(error && index === attempts.length - 1)
    const timing = run.timing.find(({ name }) => name === `provider-${index + 1}`)
    return {
      id: `attempt ${index}`,
      label: [
        attempt.provider,
        ...(isOk ? [] : [attempt.status ?? "no response"]),
        ...(timing ? [duration(timing.ms)] : []),
      ].join(" "),
      tone: isOk ? "good" : "bad",
      facts: [
        ["Model", attempt.model],
        ["Status", String(attempt.status ?? "no response")],
        ...(timing ? [["Waited", duration(timing.ms)] as [string, string]] : []),
      ],
    }
  })
  return [...stages, plan, ...(attempts.length > 0 ? holdSteps(run) : []), ...tried, ...lastSteps(run)]
}

/** The hold and the limits that it was under. */
function holdSteps({ held, limits = [] }: Run): Step[] {
  if (held === null) return []
  const facts = limits.map((limit): [string, string] => [
    nameOfLimit(limit),
    `${usd(limit.left)} left of ${usd(limit.limit)}${limit.binds ? ", reached first" : ""}`,
  ])
  return [{ id: "hold", label: "hold", tone: "good", facts: [["Held", exactUsd(held)], ...facts] }]
}

function lastSteps({ status, error, cost, finishReason, isEstimated, metadata }: Run): Step[] {
  const relay: Step = {
    id: "relay",
    label: "relay",
    tone: error ? "bad" : status === "stopped" ? "off" : "good",
    facts: error ? [["Error", error.message]] : [["Finish reason", finishReason ?? "none"]],
  }
  const settle: Step = {
    id: "settle",
    label: "settle",
    tone: status === "streaming" ? "busy" : "good",
    facts: [
      ["Charged", cost === null ? "nothing" : exactUsd(cost)],
      ["Paid by", metadata?.is_byok ? "your own provider key" : "balance"],
      ["Tokens", isEstimated ? "estimated" : "counted by the provider"],
    ],
  }
  const hasBegun = error ? error.isLate : true
  return hasBegun ? [relay, settle] : []
}

function CallPath({ run }: { run: Run }) {
  const [open, setOpen] = useState<string | null>(null)
  const steps = stepsOf(run)
  const shown = steps.find(({ id }) => id === open)
  const facts = useRef<HTMLDListElement>(null)
  useEffect(() => facts.current?.scrollIntoView({ block: "nearest" }), [open])
  return (
    <>
      <ol class="path" aria-label="Path of the call">
        {steps.map(({ id, label, tone }) => (
          <li key={id}>
            <button type="button" aria-expanded={open === id} onClick={() => setOpen(open === id ? null : id)}>
              <Status tone={tone}>{label}</Status>
            </button>
          </li>
        ))}
        {run.generationId && run.endMs !== null && (
          <li>
            <Chip kind="call" id={run.generationId} label={`${run.generationId.slice(0, 12)}…`} />
          </li>
        )}
      </ol>
      {shown && (
        <dl ref={facts} class="facts station">
          {shown.facts.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      )}
    </>
  )
}
