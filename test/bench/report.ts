import type { Workload } from "./workloads.ts"

/** One target under one workload in one round. */
export type Slice = {
  row: string
  workload: string
  round: number
  /** Milliseconds of CPU for a request, or for an event of a stream. */
  cpuEach: number
  firstByteMs: number
  /** Kilobytes of memory that a paced stream adds at the peak; 0 for the others. */
  kbEach: number
  /** The share of the expected events that arrived in time. */
  delivered: number
}

const BASE = "bare"

/** CPU of a row as a multiple of the bare Worker's in the same round, one for each round. */
export function ratiosOf(row: string, workload: string, slices: readonly Slice[]): number[] {
  const of = (name: string) => slices.filter((slice) => slice.row === name && slice.workload === workload)
  return of(row).flatMap(({ round, cpuEach }) => {
    const base = of(BASE).find((slice) => slice.round === round)
    return base ? [cpuEach / base.cpuEach] : []
  })
}

export function report(rows: readonly string[], workloads: readonly Workload[], slices: readonly Slice[]): string {
  const of = (row: string, workload: Workload) =>
    slices.filter((slice) => slice.row === row && slice.workload === workload.title)
  const cells: Record<string, (row: string, workload: Workload) => string> = {
    "": (row, workload) => range(ratiosOf(row, workload.title, slices)),
    "first byte": (row, workload) => `${median(of(row, workload).map((slice) => slice.firstByteMs)).toFixed(1)} ms`,
    delivered: (row, workload) => percent(median(of(row, workload).map((slice) => slice.delivered))),
    "memory a stream": (row, workload) => `${median(of(row, workload).map((slice) => slice.kbEach)).toFixed(0)} KB`,
  }
  const columns = workloads.flatMap((workload) =>
    ["", ...(workload.perSecond > 0 ? ["first byte", "delivered", "memory a stream"] : [])].map((name) => ({
      workload,
      name,
    })),
  )
  const relative = table(
    ["CPU, bare = 1", ...columns.map(({ workload, name }) => name || workload.title)],
    rows.map((row) => [
      row,
      ...columns.map(({ workload, name }) =>
        of(row, workload).length > 0 ? (cells[name]?.(row, workload) ?? "") : "-",
      ),
    ]),
  )
  const absolute = table(
    ["CPU, median", ...workloads.map(({ title }) => title)],
    rows.map((row) => [
      row,
      ...workloads.map((workload) => {
        const each = median(of(row, workload).map(({ cpuEach }) => cpuEach))
        if (Number.isNaN(each)) return "-"
        return workload.events === 0 ? `${each.toFixed(3)} ms/request` : `${(each * 1_000).toFixed(1)} us/event`
      }),
    ]),
  )
  return `${relative}\n\n${absolute}`
}

export function legend(workloads: readonly Workload[]): string {
  return [
    "CPU of the target's process as a multiple of the bare Worker's in the same round: median (least-most) of the rounds.",
    ...workloads.map(describeWorkload),
    "Of a stream the request and its settlement are counted in, spread over its events. Streams are shaped as OpenAI sends",
    "them: `usage: null` on every chunk. first byte: from the request to the first byte of the body, median. delivered:",
    "events that came in time. memory a stream: what the process adds at its peak, spread over the streams.",
    "bare: a Worker that only calls fetch. script: a Worker that parses and serializes both JSON bodies, or reads and writes",
    "every chunk of a stream, and does nothing else. gateway: this one as deployed; the simulated D1, KV and Durable",
    "Objects are in its CPU, which in production are not the Worker's. 5 detectors: with a key whose guardrail reads",
    "prompts and answers for e-mail addresses, phone numbers, card numbers, secrets and prompt injection. 400 keys: calls",
    "of 400 keys in turn. Portkey: on Node, without keys, metering or storage. LiteLLM: one worker, without a database.",
  ].join("\n")
}

function describeWorkload({ title, events, perSecond, concurrency, bytes, path }: Workload): string {
  if (events === 0) return `${title}: a request; ${bytes} bytes there and back, ${concurrency} at a time.`
  const pace = perSecond === 0 ? "written at once" : `${perSecond} a second`
  return `${title}: an event; POST /${path}, ${events} events a stream, ${pace}, ${concurrency} streams at a time.`
}

/**
 * CPU ratios above which the gateway has regressed, wide enough for a busy machine. About twice the values measured on
 * a quiet one.
 */
const BOUNDS: Readonly<Record<string, number>> = {
  "1 KB JSON": 9,
  "100 KB JSON": 8,
  "SSE burst": 6,
  "SSE 50 x 50/s": 8,
}

/** The workloads in which the gateway costs more than its bound. */
export function overBounds(slices: readonly Slice[]): string[] {
  return Object.entries(BOUNDS).flatMap(([workload, bound]) => {
    const ratio = median(ratiosOf("gateway", workload, slices))
    return ratio > bound ? [`${workload}: ${ratio.toFixed(1)} times the bare Worker, more than ${bound}`] : []
  })
}

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...body]
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n")
}

function range(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return values.length > 1
    ? `${median(values).toFixed(2)} (${least.toFixed(2)}-${most.toFixed(2)})`
    : median(values).toFixed(2)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]]
  return (low + high) / 2
}

function percent(part: number): string {
  return `${(part * 100).toFixed(part > 0.995 ? 0 : 1)}%`
}
