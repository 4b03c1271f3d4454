import type uPlot from "uplot"
import { useEffect, useRef, useState } from "preact/hooks"
import { absolute, dayMonth, hourMinute } from "../../format/time.ts"
import { useNarrow } from "../../state/screen.ts"
import { isDark } from "../../state/theme.ts"
import { setQuery } from "../../state/router.ts"
import { MAX_DIRECT, type Series, seriesColor, spread } from "./series.ts"

type Props = {
  label: string
  /** Starts of the steps, in milliseconds. */
  times: readonly number[]
  series: readonly Series[]
  kind: "bars" | "line"
  format: (value: number) => string
  height?: number
  stepMs: number
  /** Opens the calls of a step. */
  onStep?: (from: number, to: number) => void
}

/** Pages that open with a chart call it while they load, before their requests occupy the connections. */
export const loadDrawing = () => import("./uplot.ts")

const LABEL_WIDTH = 172
const LABEL_GAP = 18
/** Height of the axis of times, below the plot. */
const AXIS_HEIGHT = 50

type Hover = { index: number; left: number } | undefined

/** Stacked bars or lines from zero. Hover shows all series, a drag selects a range, a click opens a step. */
export function Chart({ label, times, series, kind, format, height = 220, stepMs, onStep }: Props) {
  const target = useRef<HTMLDivElement>(null)
  const [hover, setHover] = useState<Hover>()
  const [ends, setEnds] = useState<readonly number[]>([])
  const dark = isDark.value
  const isDirect = series.length <= MAX_DIRECT && !useNarrow()
  useEffect(() => void loadDrawing().catch(() => {}), [])
  useEffect(() => {
    const element = target.current
    if (!element || times.length === 0 || series.length === 0) return undefined
    let chart: uPlot | undefined
    let isGone = false
    const resized = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height }))
    // Without the code, the table of the same data remains.
    const draw = ({ drawChart }: Awaited<ReturnType<typeof loadDrawing>>) => {
      if (isGone) return
      chart = drawChart(element, {
        times,
        series,
        kind,
        format,
        height,
        stepMs,
        labelWidth: isDirect ? LABEL_WIDTH : 0,
        onEnds: setEnds,
        onHover: setHover,
        onBrush: chooseRange,
        onStep: (index) => {
          const from = times[index]
          if (from !== undefined) onStep?.(from, from + stepMs)
        },
      })
      resized.observe(element)
    }
    loadDrawing().then(draw, () => {})
    return () => {
      isGone = true
      resized.disconnect()
      chart?.destroy()
    }
  }, [times, series, kind, height, stepMs, dark, format, isDirect])
  const labelTops = isDirect ? spread(ends, LABEL_GAP, height - AXIS_HEIGHT) : []
  return (
    <figure class={`chart ${onStep ? "opens" : ""}`} aria-label={label}>
      <div ref={target} style={{ height: `${height}px` }} aria-hidden="true" />
      {hover && <Tip hover={hover} times={times} series={series} format={format} stepMs={stepMs} />}
      <figcaption>
        <ul class={isDirect ? "labels" : "legend"}>
          {series.map((each, index) => (
            <li key={each.label} {...(isDirect && { style: { top: `${labelTops[index] ?? 0}px` } })}>
              <i style={{ background: seriesColor(index, each.label) }} />
              <bdi class="truncate">{each.label}</bdi>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  )
}

function chooseRange(from: number, to: number): void {
  setQuery({ range: null, from: new Date(from).toISOString(), to: new Date(to).toISOString() })
}

const DAY = 86_400_000

export function stepLabel(ms: number, stepMs: number): string {
  return stepMs >= DAY ? dayMonth(ms) : `${dayMonth(ms)} ${hourMinute(ms)}`
}

function Tip({
  hover,
  times,
  series,
  format,
  stepMs,
}: { hover: NonNullable<Hover> } & Pick<Props, "times" | "series" | "format" | "stepMs">) {
  const time = times[hover.index]
  if (time === undefined) return null
  const shown = series.map((each, index) => ({ ...each, index, value: each.values[hover.index] ?? null }))
  const isRight = hover.left > 320
  return (
    <div
      class="tip"
      style={isRight ? { right: `calc(100% - ${hover.left - 12}px)` } : { left: `${hover.left + 12}px` }}
    >
      <div class="quiet" title={absolute(time)}>
        {stepLabel(time, stepMs)}
      </div>
      <ul>
        {shown
          .filter(({ value }) => value !== null && value !== 0)
          .map(({ label, index, value }) => (
            <li key={label}>
              <i style={{ background: seriesColor(index, label) }} />
              <bdi class="truncate">{label}</bdi>
              <b>{format(value ?? 0)}</b>
            </li>
          ))}
      </ul>
    </div>
  )
}
