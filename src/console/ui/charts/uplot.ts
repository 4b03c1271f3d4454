import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import { dayMonth, hourMinute } from "../../format/time.ts"
import { seriesColor, type Series } from "./series.ts"

type Drawing = {
  times: readonly number[]
  series: readonly Series[]
  kind: "bars" | "line"
  format: (value: number) => string
  height: number
  stepMs: number
  /** Space for labels at the right of the plot, in pixels; 0 without. */
  labelWidth: number
  /** Where each series ends, from the top of the chart, in pixels. */
  onEnds: (tops: readonly number[]) => void
  onHover: (hover: { index: number; left: number } | undefined) => void
  onBrush: (from: number, to: number) => void
  /** A click without a drag. */
  onStep: (index: number) => void
}

/** Value of a design token in the current theme, as a canvas color. */
function colorOf(element: HTMLElement, token: string): string {
  const probe = document.createElement("span")
  probe.style.color = token
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Stacked bars: the top of each is the sum up to it; the tallest is drawn first. */
function stackSeries(series: readonly Series[]): (number | null)[][] {
  const sums: number[] = []
  return series.map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0)
      return sums[index]
    }),
  )
}

const DAY = 86_400_000

function bars(): uPlot.Series.PathBuilder {
  const make = uPlot.paths.bars
  if (!make) throw new Error("uPlot has no bars.")
  return make({ size: [0.7, 32], radius: 0.12 })
}

function seriesOptions(element: HTMLElement, { series, kind }: Drawing): uPlot.Series[] {
  const drawn = series.map(({ label }, index): uPlot.Series => {
    const color = colorOf(element, seriesColor(index, label))
    if (kind === "line") return { label, stroke: color, width: 1.5, points: { show: false }, spanGaps: false }
    return { label, fill: color, stroke: color, width: 0, paths: bars(), points: { show: false } }
  })
  return [{}, ...(kind === "bars" ? drawn.toReversed() : drawn)]
}

/** Ranges of more than two days have ticks per day, because hours would repeat. */
const DAYS_FROM_MS = 2 * DAY

function axes(element: HTMLElement, { times, format, stepMs }: Drawing): uPlot.Axis[] {
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0)
  const isInDays = stepMs >= DAY || span > DAYS_FROM_MS
  const stroke = colorOf(element, "var(--text-2)")
  const line = { stroke: colorOf(element, "var(--line)"), width: 1 }
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const label = (ms: number) => (isInDays ? dayMonth(ms) : hourMinute(ms))
  return [
    {
      stroke,
      font,
      grid: { show: false },
      ticks: { show: false },
      values: (_, splits) => splits.map((at) => label(at * 1000)),
      space: 70,
      // At most one tick per day.
      incrs: isInDays
        ? [1, 2, 7, 14, 30].map((days) => (days * DAY) / 1000)
        : [60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200],
    },
    {
      stroke,
      font,
      grid: line,
      ticks: { show: false },
      values: (_, splits) => splits.map(format),
      size: (self, labels) => widthOf(self, labels ?? [], font),
      space: 32,
    },
  ]
}

const MIN_AXIS_WIDTH = 64
const LABEL_GAP = 12

/** Width of the axis of values, in pixels: small amounts of money have long labels. */
function widthOf({ ctx }: uPlot, labels: readonly (string | null)[], font: string): number {
  ctx.save()
  ctx.font = font
  const widths = labels.map((label) => ctx.measureText(label ?? "").width)
  ctx.restore()
  return Math.ceil(Math.max(MIN_AXIS_WIDTH, ...widths.map((width) => width + LABEL_GAP)))
}

/** The value at which the label of each series is: the end of a line, the middle of the last segment of bars. */
function endsOf(values: readonly (readonly (number | null)[])[], kind: "bars" | "line"): number[] {
  if (kind === "line") return values.map((each) => each.findLast((value) => value !== null) ?? 0)
  const tops = values.map((each) => each.at(-1) ?? 0).toReversed()
  return tops.map((top, index) => (top + (tops[index - 1] ?? 0)) / 2)
}

export function drawChart(element: HTMLElement, drawing: Drawing): uPlot {
  const { times, series, kind, height, stepMs, labelWidth, onEnds, onHover, onBrush, onStep } = drawing
  const values = kind === "bars" ? stackSeries(series).toReversed() : series.map(({ values }) => [...values])
  const highest = Math.max(0, ...values.flat().map((value) => value ?? 0))
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0]
  // A bar is centered on its step.
  const margin = kind === "bars" ? stepMs / 2 : 0
  let isDrag = false
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      // Half of the last label may be right of the last step.
      padding: [8, Math.max(28, labelWidth), 0, 0],
      cursor: { y: false, points: { show: kind === "line" }, drag: { x: true, y: false, setScale: false } },
      scales: {
        x: { range: [(first - margin) / 1000, (last + margin) / 1000] },
        y: { range: [0, highest === 0 ? 1 : highest * 1.08] },
      },
      series: seriesOptions(element, drawing),
      axes: axes(element, drawing),
      hooks: {
        ready: [
          (self) =>
            self.over.addEventListener("click", () => {
              const { idx } = self.cursor
              if (!isDrag && typeof idx === "number") onStep(idx)
              isDrag = false
            }),
        ],
        draw: [(self) => onEnds(endsOf(values, kind).map((value) => self.valToPos(value, "y") + self.over.offsetTop))],
        setCursor: [
          ({ cursor: { idx, left }, over }) =>
            onHover(
              typeof idx === "number" && left !== undefined && left >= 0
                ? { index: idx, left: left + over.offsetLeft }
                : undefined,
            ),
        ],
        setSelect: [
          (self) => {
            const { left, width } = self.select
            isDrag = width > 4
            if (isDrag) onBrush(self.posToVal(left, "x") * 1000, self.posToVal(left + width, "x") * 1000)
          },
        ],
      },
    },
    [times.map((ms) => ms / 1000), ...values],
    element,
  )
}
