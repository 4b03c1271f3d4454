/** Metrics in the Prometheus text format, version 0.0.4. Pure. */

/** Upper bounds of the latency buckets. */
export const BUCKETS_MS = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000]

/** Counters of one model, provider and status. Buckets are JSON arrays, not cumulative. */
export type MetricSeries = {
  organization_id: string
  model: string
  provider: string
  status: number
  calls: number
  errors: number
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  cost_nano: number
  byok_cost_nano: number
  duration_ms: number
  first_token_ms: number
  first_token_count: number
  duration_buckets: string
  first_token_buckets: string
}

/** Current backlog. */
export type Backlog = { pending: number; dead: number; ledger: LedgerBacklog }
export type LedgerBacklog = { records: number; broadcasts: number; holds: number }

type Labels = Record<string, string>
type Sample = { suffix?: string; labels: Labels; value: number }
type Family = { name: string; help: string; type: "counter" | "gauge" | "histogram"; samples: Sample[] }

const NANO = 1e9
const MS = 1_000

export function toExposition(series: readonly MetricSeries[], backlog: Backlog): string {
  const counters: [name: string, help: string, read: (row: MetricSeries) => [Labels, number][]][] = [
    ["gateway_calls_total", "Settled calls, free ones included.", ({ calls }) => [[{}, calls]]],
    ["gateway_call_errors_total", "Calls that failed.", ({ errors }) => [[{}, errors]]],
    [
      "gateway_tokens_total",
      "Tokens. Cached tokens are part of the prompt.",
      (row) => [
        [{ type: "prompt" }, row.prompt_tokens],
        [{ type: "completion" }, row.completion_tokens],
        [{ type: "cached" }, row.cached_tokens],
      ],
    ],
    [
      "gateway_cost_usd_total",
      "Cost in USD: charged to the account, and of BYOK credentials.",
      (row) => [
        [{ payer: "account" }, row.cost_nano / NANO],
        [{ payer: "byok" }, row.byok_cost_nano / NANO],
      ],
    ],
  ]
  const families: Family[] = [
    ...counters.map(([name, help, read]) => ({
      name,
      help,
      type: "counter" as const,
      samples: series.flatMap((row) =>
        read(row).map(([labels, value]) => ({ labels: { ...labelsOf(row), ...labels }, value })),
      ),
    })),
    {
      name: "gateway_call_duration_seconds",
      help: "From the request to the end of the response.",
      type: "histogram",
      samples: series.flatMap((row) => histogram(row, row.duration_buckets, row.duration_ms)),
    },
    {
      name: "gateway_time_to_first_token_seconds",
      help: "From the request to the first content of a stream.",
      type: "histogram",
      samples: series
        .filter((row) => row.first_token_count > 0)
        .flatMap((row) => histogram(row, row.first_token_buckets, row.first_token_ms)),
    },
    gauge("gateway_destination_backlog_calls", "Calls that wait for delivery.", backlog.pending),
    gauge("gateway_destination_dead_letter_calls", "Calls that were not delivered within 24 hours.", backlog.dead),
    gauge("gateway_ledger_outbox_records", "Records that are not in the database yet.", backlog.ledger.records),
    gauge("gateway_ledger_unconfirmed_calls", "Calls that are not sorted yet.", backlog.ledger.broadcasts),
    gauge("gateway_ledger_open_holds", "Open holds of calls and leases.", backlog.ledger.holds),
  ]
  return families.map(toText).join("")
}

function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: "gauge", samples: [{ labels: {}, value }] }
}

function labelsOf({ organization_id: organization, model, provider, status }: MetricSeries): Labels {
  return { organization, model, provider, status: String(status) }
}

function histogram(row: MetricSeries, buckets: string, totalMs: number): Sample[] {
  const counts = JSON.parse(buckets) as number[]
  const labels = labelsOf(row)
  let count = 0
  const samples = counts.map((inBucket, at) => {
    count += inBucket
    const bound = BUCKETS_MS[at]
    const le = bound === undefined ? "+Inf" : String(bound / MS)
    return { suffix: "_bucket", labels: { ...labels, le }, value: count }
  })
  return [...samples, { suffix: "_sum", labels, value: totalMs / MS }, { suffix: "_count", labels, value: count }]
}

function toText({ name, help, type, samples }: Family): string {
  const lines = samples.map(({ suffix = "", labels, value }) => `${name}${suffix}${toLabels(labels)} ${value}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`
}

function toLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`)
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}

function escape(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
}
