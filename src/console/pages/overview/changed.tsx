import { usd } from "../../format/number.ts"
import { useNames } from "../../state/names.ts"
import { Chip, type ChipKind } from "../../ui/chip.tsx"
import type { Range } from "../../ui/charts/range.tsx"
import { type AnalyticsQuery, type Dimension, rangeOf, useAnalytics } from "./analytics.ts"
import { describeCause, spendChanges } from "./causes.ts"
import type { ComparisonRange } from "./periods.ts"
import { numberIn } from "./series.ts"
import { TOTALS } from "./totals.tsx"

const SOURCES: readonly { dimension: Dimension; kind: ChipKind }[] = [
  { dimension: "model", kind: "model" },
  { dimension: "api_key_hash", kind: "key" },
  { dimension: "app", kind: "app" },
]
const QUERY = {
  metrics: ["usage", "requests", "total_tokens"],
  dimensions: SOURCES.map(({ dimension }) => dimension),
  limit: 2_000,
} as const satisfies Partial<AnalyticsQuery>
const KEYS = ["keys"] as const
const NOTHING = [] as const
const SHOWN = 2

/** The models, keys and apps whose spend changed most against the other period, with the cause. */
export function Changed({ range, compared }: { range: Range; compared: ComparisonRange }) {
  const former = useAnalytics({ metrics: TOTALS, time_range: rangeOf(compared) })
  // Without spend before, everything is new, which the figures show.
  const hasBefore = numberIn(former.data?.[0], "usage") > 0
  const before = useAnalytics(hasBefore ? { ...QUERY, time_range: rangeOf(compared) } : null)
  const now = useAnalytics(hasBefore ? { ...QUERY, time_range: rangeOf(range) } : null)
  const changes = SOURCES.flatMap(({ dimension, kind }) =>
    spendChanges(now.data ?? [], before.data ?? [], { dimension, scale: compared.scale })
      .slice(0, SHOWN)
      .map((change) => ({ kind, change })),
  )
  const names = useNames(changes.some(({ kind }) => kind === "key") ? KEYS : NOTHING)
  if (now.data === undefined || before.data === undefined) return null
  return (
    <section class="stack tight" aria-label="What changed most">
      <h2>What changed most</h2>
      {changes.length === 0 ? (
        <p class="quiet">No model, key or app spent much more or less than in {compared.name}.</p>
      ) : (
        <ul class="changed">
          {changes.map(({ kind, change }) => (
            <li key={`${kind} ${change.id}`}>
              <Chip kind={kind} id={change.id} label={names.get(change.id) ?? nameOf(kind, change.id)} />
              <b class="num">
                {change.delta >= 0 ? "+" : ""}
                {usd(change.delta)}
              </b>
              <span class="quiet">{describeCause(change)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const nameOf = (kind: ChipKind, id: string) => (kind === "key" ? id.slice(0, 10) : id)
