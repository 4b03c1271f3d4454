import type { Outage, Process } from "./gateway.ts"
import type { Sample } from "./measure.ts"

const ROWS = 16

function of(sample: Sample, name: Process["name"], field: "rssMb" | "descriptors"): number {
  return sample.processes.find((one) => one.name === name)?.[field] ?? 0
}

/** At most sixteen rows of the run. */
export function table(samples: readonly Sample[]): string {
  const step = Math.max(1, Math.ceil(samples.length / ROWS))
  const rows = samples.filter((_, at) => at % step === step - 1 || at === samples.length - 1)
  const head = [
    "minute",
    "runtime MB",
    "node MB",
    "descriptors",
    "calls",
    "p50",
    "p95",
    "p99",
    "served",
    "charged",
    "kills",
  ]
  const body = rows.map((sample) => [
    (sample.second / 60).toFixed(1),
    of(sample, "runtime", "rssMb").toFixed(0),
    of(sample, "supervisor", "rssMb").toFixed(0),
    String(of(sample, "runtime", "descriptors") + of(sample, "supervisor", "descriptors")),
    String(sample.calls),
    ...[sample.p50, sample.p95, sample.p99].map((ms) => `${ms.toFixed(0)} ms`),
    `$${sample.servedUsd.toFixed(4)}`,
    `$${sample.chargedUsd.toFixed(4)}`,
    String(sample.kills),
  ])
  const widths = head.map((title, at) => Math.max(title.length, ...body.map((row) => row[at]?.length ?? 0)))
  return [head, ...body].map((row) => row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join("  ")).join("\n")
}

const WIDTH = 900
const PANEL = 150
const LEFT = 100
const GAP = 40

type Line = { label: string; colour: string; values: readonly number[] }
type Panel = { title: string; unit: string; lines: readonly Line[] }

/** Memory, descriptors, latency and drift over time; vertical lines are kills. */
export function picture(samples: readonly Sample[], outages: readonly Outage[], startedAt: number): string {
  const values = (read: (sample: Sample) => number) => samples.map(read)
  const panels: Panel[] = [
    {
      title: "Resident memory",
      unit: "MB",
      lines: [
        { label: "runtime", colour: "#1f5fbf", values: values((one) => of(one, "runtime", "rssMb")) },
        { label: "node", colour: "#b35c00", values: values((one) => of(one, "supervisor", "rssMb")) },
      ],
    },
    {
      title: "Open descriptors",
      unit: "",
      lines: [
        { label: "runtime", colour: "#1f5fbf", values: values((one) => of(one, "runtime", "descriptors")) },
        { label: "node", colour: "#b35c00", values: values((one) => of(one, "supervisor", "descriptors")) },
      ],
    },
    {
      title: "JSON calls",
      unit: "ms",
      lines: [
        { label: "p50", colour: "#2a7d2a", values: values(({ p50 }) => p50) },
        { label: "p95", colour: "#b35c00", values: values(({ p95 }) => p95) },
        { label: "p99", colour: "#b02a2a", values: values(({ p99 }) => p99) },
      ],
    },
    {
      title: "Charged less served",
      unit: "USD",
      lines: [{ label: "", colour: "#6a3fa0", values: values(({ chargedUsd, servedUsd }) => chargedUsd - servedUsd) }],
    },
  ]
  const end = Math.max(1, samples.at(-1)?.second ?? 1)
  const x = (second: number) => LEFT + (second / end) * (WIDTH - LEFT - 20)
  const kills = outages.map(({ from }) => x((from - startedAt) / 1_000))
  const drawn = panels.map((panel, at) => draw(panel, { top: at * (PANEL + GAP) + 30, samples, x, kills }))
  const height = panels.length * (PANEL + GAP) + 20
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
${drawn.join("\n")}
</svg>
`
}

type Frame = { top: number; samples: readonly Sample[]; x: (second: number) => number; kills: readonly number[] }

function draw({ title, unit, lines }: Panel, { top, samples, x, kills }: Frame): string {
  const all = lines.flatMap(({ values }) => values)
  const [low, high] = [Math.min(0, ...all), Math.max(0, ...all) || 1]
  const y = (value: number) => top + PANEL - ((value - low) / (high - low)) * PANEL
  const paths = lines.map(({ colour, values }) => {
    const points = values.map((value, at) => `${x(samples[at]?.second ?? 0).toFixed(1)},${y(value).toFixed(1)}`)
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.join(" ")}"/>`
  })
  const legend = lines.map(
    ({ label, colour }, at) => `<text x="${WIDTH - 160 + at * 55}" y="${top - 8}" fill="${colour}">${label}</text>`,
  )
  const marks = kills.map((at) => `<line x1="${at}" x2="${at}" y1="${top}" y2="${top + PANEL}" stroke="#ddd"/>`)
  const label = (value: number) =>
    `<text x="${LEFT - 8}" y="${y(value) + 4}" text-anchor="end">${Number(value.toPrecision(3))} ${unit}</text>`
  return [
    `<text x="${LEFT}" y="${top - 8}" font-weight="bold">${title}</text>`,
    `<rect x="${LEFT}" y="${top}" width="${WIDTH - LEFT - 20}" height="${PANEL}" fill="none" stroke="#999"/>`,
    ...marks,
    ...paths,
    ...legend,
    label(low),
    label(high),
  ].join("\n")
}
