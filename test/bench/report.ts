import type { Workload } from "./workloads.ts"

/** One target under one workload in one round. */
export type Slice = {
  row: string
  workload: string
  round: number
  /** Milliseconds of CPU for a request, or for an event of a stream. */
  cpuEach: number
  firstByteMs: number
  /** Of the events that were to come, the part that came in time. */
  delivered: number
}

const BASE = "bare"

export function report(rows: readonly string[], workloads: readonly Workload[], slices: readonly Slice[]): string {
  const of = (row: string, workload: Workload) =>
    slices.filter((slice) => slice.row === row && slice.workload === workload.title)
  const ratios = (row: string, workload: Workload) =>
    of(row, workload).flatMap(({ round, cpuEach }) => {
      const base = of(BASE, workload).find((slice) => slice.round === round)
      return base ? [cpuEach / base.cpuEach] : []
    })
  const cells: Record<string, (row: string, workload: Workload) => string> = {
    "": (row, workload) => range(ratios(row, workload)),
    "first byte": (row, workload) => `${median(of(row, workload).map((slice) => slice.firstByteMs)).toFixed(1)} ms`,
    delivered: (row, workload) => percent(median(of(row, workload).map((slice) => slice.delivered))),
  }
  const columns = workloads.flatMap((workload) =>
    ["", ...(workload.perSecond > 0 ? ["first byte", "delivered"] : [])].map((name) => ({ workload, name })),
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
  const [json, burst, ...paced] = workloads
  return [
    "CPU of the target's process as a multiple of the bare Worker's in the same round: median (least-most) of the rounds.",
    `1 KB JSON: a request; 1 KB there and back, ${json?.concurrency} at a time.`,
    `SSE burst: an event; ${burst?.events} events a stream written at once, ${burst?.concurrency} streams at a time.`,
    ...paced.map(({ title, events }) => `${title}: an event; streams x events a second, ${events} events a stream.`),
    "Of a stream the request and its settlement are counted in, spread over its events.",
    "first byte: from the request to the first byte of the body, median. delivered: events that came in time.",
    "bare: a Worker that passes everything on. gateway: this one as deployed, its streams passed natively, as those of an",
    "endpoint that has proven itself; scripted: every event is looked at. The simulated D1, KV and Durable Objects are in",
    "its CPU, which in production are not the Worker's. Portkey: on Node, without keys, metering or storage.",
  ].join("\n")
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

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]]
  return (low + high) / 2
}

function percent(part: number): string {
  return `${(part * 100).toFixed(part > 0.995 ? 0 : 1)}%`
}
