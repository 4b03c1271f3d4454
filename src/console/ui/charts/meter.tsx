import type { Limit } from "../../api/types.ts"
import { usd } from "../../format/number.ts"
import { now, relative } from "../../format/time.ts"
import { may } from "../../state/session.ts"
import { hrefOf } from "../chip.tsx"
import { Money } from "../values.tsx"

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

/** Widest first: what many keys share before what one key has. */
const WIDTHS: readonly Limit["kind"][] = ["balance", "budget", "key", "guardrail", "schedule", "provider"]
const INTERVALS: readonly Limit["interval"][] = [null, "monthly", "weekly", "daily"]

const rankOf = ({ kind, interval }: Limit) => WIDTHS.indexOf(kind) * INTERVALS.length + INTERVALS.indexOf(interval)

/** All limits of a call, widest first, with the one that is reached first. */
export function Ladder({ limits }: { limits: readonly Limit[] }) {
  const sorted = limits.toSorted((a, b) => rankOf(a) - rankOf(b))
  return (
    <ul class="ladder" aria-label="Limits">
      {sorted.map((limit, index) => (
        <Rung key={index} limit={limit} />
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
      <span class="subject" title={nameOfLimit(limit)}>
        <span class="truncate" dir="auto">
          <Subject limit={limit} />
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

/** The page that changes the limit. */
function hrefOfLimit({ kind, id }: Limit): string | undefined {
  if (kind === "guardrail" && may("guardrails:read")) return hrefOf("guardrail", id)
  if (kind === "budget" && may("members:read")) return hrefOf("workspace", id)
  if (kind === "provider" && may("byok:read")) return hrefOf("provider", id)
  return undefined
}

function Subject({ limit }: { limit: Limit }) {
  const href = hrefOfLimit(limit)
  return href === undefined ? <>{subjectOf(limit)}</> : <a href={href}>{subjectOf(limit)}</a>
}

function subjectOf({ kind, name, subject }: Limit): string {
  const guardrail = `guardrail ${name ?? ""}`.trim()
  return {
    balance: `balance of ${name ?? "the organization"}`,
    budget: `workspace ${name ?? ""}`.trim(),
    key: "key limit",
    guardrail: subject === "member" ? `${guardrail} of its member` : guardrail,
    provider: `all calls at ${name ?? "a provider"}`,
    schedule: "runs of a schedule",
  }[kind]
}

/** `workspace Research, daily`. */
export function nameOfLimit(limit: Limit): string {
  return `${subjectOf(limit)}${limit.interval === null ? "" : `, ${limit.interval}`}`
}
