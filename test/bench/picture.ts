import { median, ratiosOf, type Slice } from "./report.ts"
import type { Workload } from "./workloads.ts"

const WIDTH = 860
const LEFT = 180
const BAR = 18
const GAP = 14
const COLOURS = ["#8a8f98", "#b9bec7", "#1f5fbf", "#5f8fd6", "#9bbbe8", "#b35c00", "#b02a2a"]
/** A longer bar is cut, with its number beside it. */
const MOST = 8

/** Bars of the CPU ratios of each workload, as an SVG document. `rows`: their names, in the order of their colours. */
export function picture(rows: readonly string[], workloads: readonly Workload[], slices: readonly Slice[]): string {
  let top = 30
  const drawn = workloads.flatMap(({ title }) => {
    const bars = rows.flatMap((row, at) => {
      const ratio = median(ratiosOf(row, title, slices))
      return Number.isNaN(ratio) ? [] : [{ row, ratio, colour: COLOURS[at % COLOURS.length] ?? "" }]
    })
    const label = `<text x="10" y="${top + 13}" font-weight="bold">${title}</text>`
    top += BAR
    const lines = bars.map((bar) => {
      const line = draw(bar, top)
      top += BAR
      return line
    })
    top += GAP
    return [label, ...lines]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="10" y="18">CPU of the process, as a multiple of a Worker that only calls fetch; less is better</text>
${drawn.join("\n")}
</svg>
`
}

function draw({ row, ratio, colour }: { row: string; ratio: number; colour: string }, top: number): string {
  const width = (Math.min(ratio, MOST) / MOST) * (WIDTH - LEFT - 80)
  return [
    `<text x="${LEFT - 8}" y="${top + 13}" text-anchor="end">${row}</text>`,
    `<rect x="${LEFT}" y="${top + 2}" width="${width.toFixed(1)}" height="${BAR - 4}" fill="${colour}"/>`,
    `<text x="${(LEFT + width + 6).toFixed(1)}" y="${top + 13}">${ratio.toFixed(2)}${ratio > MOST ? " (cut)" : ""}</text>`,
  ].join("")
}
