import type { Limit } from "../api/types.ts"
import { usd } from "../format/number.ts"
import { now, relative } from "../format/time.ts"
import { Money } from "./values.tsx"

type Props = { value: number; max: number; held?: number; label: string; tone?: "warn" | "bad" | "series" | undefined }

const share = (value: number, max: number) => (max <= 0 ? 0 : Math.min(100, Math.max(0, (value / max) * 100)))

/** A share as a bar; the text beside it has the same value. */
export function Meter({ value, max, held = 0, label, tone }: Props) {
  return (
    <span class={`meter ${tone ?? ""}`} role="img" aria-label={label}>
      {held > 0 && <i class="held" style={{ width: `${share(value + held, max)}%` }} />}
      <i style={{ width: `${share(value, max)}%` }} />
    </span>
  )
}

const WARN_SHARE = 0.8

/** All limits of a call, widest first, with the one that is reached first. */
export function Ladder({ limits }: { limits: readonly Limit[] }) {
  return (
    <ul class="ladder" aria-label="Limits">
      {limits.map((limit) => (
        <Rung key={`${limit.kind} ${limit.name} ${limit.interval}`} limit={limit} />
      ))}
    </ul>
  )
}

function Rung({ limit }: { limit: Limit }) {
  const { limit: max, spent, held, left, binds, resets_at: resetsAt } = limit
  const isClose = spent + held >= max * WARN_SHARE
  const notes = [
    binds ? "← reached first" : "",
    resetsAt === null ? "" : `resets ${relative(Date.parse(resetsAt), now.value)}`,
    held > 0 ? `${usd(held)} held` : "",
  ]
  return (
    <li class={binds && isClose ? "binds" : ""}>
      <span class="subject">
        <span class="truncate" dir="auto">
          {subjectOf(limit)}
        </span>
        {limit.interval !== null && <span> · {limit.interval}</span>}
      </span>
      <span class="right">
        <Money value={left} /> left
      </span>
      <Meter
        value={spent}
        held={held}
        max={max}
        tone={left <= 0 ? "bad" : isClose ? "warn" : undefined}
        label={`${usd(spent)} of ${usd(max)} spent`}
      />
      <span class="note small">{notes.filter(Boolean).join(", ") || "\u00A0"}</span>
    </li>
  )
}

function subjectOf({ kind, name }: Limit): string {
  return {
    balance: `balance of ${name ?? "the organization"}`,
    budget: name ?? "budget",
    key: "key limit",
    guardrail: `guardrail ${name ?? ""}`,
    provider: `all calls at ${name ?? "a provider"}`,
    schedule: "runs of a schedule",
  }[kind]
}
