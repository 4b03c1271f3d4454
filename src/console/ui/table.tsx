import { Component, type ComponentChildren, type CSSProperties } from "preact"
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { navigate } from "../state/router.ts"
import { useNarrow } from "../state/screen.ts"
import { fitColumns } from "./hooks/fit-columns.ts"

export type Column<T> = {
  id: string
  label: ComponentChildren
  /** A track of the grid, such as `120px` or `minmax(160px, 2fr)`. */
  width: string
  cell: (row: T) => ComponentChildren
  align?: "right"
  /** Left out if the table is too narrow: the highest rank first. For values that the page of the row has. */
  optional?: number
  /** Position on a narrow screen: first line, end of the first line, second line (default), or hidden. */
  narrow?: "title" | "lead" | "hide"
  /** Label before the value on a narrow screen, which has no header. */
  narrowLabel?: string
  sort?: { direction: "asc" | "desc" | undefined; onSort: () => void }
}

type Props<T> = {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  rowKey: (row: T) => string
  /** URL of a row, opened by Enter or a click. */
  href?: (row: T) => string
  selected?: string | null
  compact?: boolean
  bounded?: boolean
  /** Called when the end scrolls into view. */
  onEnd?: () => void
}

const VIRTUAL_FROM = 60
const OVERSCAN = 12
/** Renders the rows in view first, and the surrounding rows when the page is idle. */
const OVERSCAN_AFTER_MS = 400
/** Distance from the end, in rows, at which the next page is requested. */
const READ_AHEAD = 60

/** Rows in a grid. From 60 rows on, only those in view are in the document. */
export function Table<T>({ label, columns: all, rows, rowKey, href, selected, compact, bounded, onEnd }: Props<T>) {
  const element = useRef<HTMLDivElement>(null)
  const columns = useFittingColumns(element, all)
  const rowHeight = useRowHeight(compact ?? false)
  const view = useView(element, { total: rows.length, rowHeight, onEnd })
  const shown = rows.slice(view.first, view.last)
  const style: CSSProperties = { "--columns": columns.map(({ width }) => width).join(" ") }
  return (
    <div
      ref={element}
      class={`table ${compact ? "compact" : ""} ${bounded ? "bounded" : ""}`}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      style={style}
    >
      <div role="rowgroup">
        <div class="head" role="row">
          {columns.map(({ id, label: text, align, sort }) => (
            <div
              key={id}
              role="columnheader"
              class={`cell ${align ?? ""}`}
              aria-sort={ariaSort(sort?.direction, sort !== undefined)}
            >
              {sort ? (
                <button type="button" onClick={sort.onSort}>
                  {text} {sort.direction === "asc" ? "↑" : sort.direction === "desc" ? "↓" : ""}
                </button>
              ) : (
                text
              )}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" data-rows>
        {view.first > 0 && <div style={{ height: `${view.first * rowHeight}px` }} aria-hidden="true" />}
        {shown.map((row, index) => {
          const key = rowKey(row)
          return (
            <Row
              key={key}
              row={row}
              columns={columns}
              position={view.first + index + 2}
              url={href?.(row)}
              isSelected={selected === key}
              height={view.isVirtual ? rowHeight : undefined}
            />
          )
        })}
        {view.last < rows.length && (
          <div style={{ height: `${(rows.length - view.last) * rowHeight}px` }} aria-hidden="true" />
        )}
      </div>
    </div>
  )
}

function ariaSort(
  direction: "asc" | "desc" | undefined,
  sortable: boolean,
): "ascending" | "descending" | "none" | undefined {
  if (direction === "asc") return "ascending"
  if (direction === "desc") return "descending"
  return sortable ? "none" : undefined
}

type RowProps<T> = {
  row: T
  columns: readonly Column<T>[]
  position: number
  url: string | undefined
  isSelected: boolean
  height: number | undefined
}

/** While the list scrolls, only changed rows are rendered again. */
class Row<T> extends Component<RowProps<T>> {
  override shouldComponentUpdate(next: Readonly<RowProps<T>>): boolean {
    const before = this.props
    return (
      next.row !== before.row ||
      next.columns !== before.columns ||
      next.position !== before.position ||
      next.url !== before.url ||
      next.isSelected !== before.isSelected ||
      next.height !== before.height
    )
  }

  override render() {
    return <Cells {...this.props} />
  }
}

function Cells<T>({ row, columns, position, url, isSelected, height }: RowProps<T>) {
  const open = (event: MouseEvent) => {
    const { target } = event
    if (url === undefined || (target instanceof Element && target.closest("a, button, input, label"))) return
    if (getSelection()?.toString()) return
    navigate(url)
  }
  return (
    <div
      role="row"
      aria-rowindex={position}
      aria-selected={isSelected}
      class={`tr ${url === undefined ? "" : "link"}`}
      onClick={open}
      {...(height !== undefined && { style: { height: `${height}px` } })}
    >
      {columns.map(({ id, cell, align, narrow, narrowLabel }) => (
        <div
          key={id}
          role="cell"
          class={`cell ${align ?? ""} ${narrow ?? ""}`}
          dir={align === undefined ? "auto" : undefined}
        >
          {narrowLabel !== undefined && <span class="only-narrow narrow-label">{narrowLabel}</span>}
          {cell(row)}
        </div>
      ))}
    </div>
  )
}

function useRowHeight(compact: boolean): number {
  return useNarrow() ? 64 : compact ? 28 : 36
}

/** On the screen of a phone, rows have two lines with all columns. */
function useFittingColumns<C extends Column<never>>(
  element: { current: HTMLDivElement | null },
  columns: readonly C[],
): readonly C[] {
  const isNarrow = useNarrow()
  const [space, setSpace] = useState<{ available: number; money: number }>()
  useLayoutEffect(() => {
    const table = element.current
    if (!table) return undefined
    const measure = () => {
      const money = Number.parseFloat(getComputedStyle(table).getPropertyValue("--money"))
      setSpace({ available: table.clientWidth, money })
    }
    measure()
    const resized = new ResizeObserver(measure)
    resized.observe(table)
    return () => resized.disconnect()
  }, [element])
  return useMemo(
    () => (isNarrow || space === undefined ? columns : fitColumns(columns, space)),
    [columns, isNarrow, space?.available, space?.money],
  )
}

function scrollParent(element: HTMLElement): HTMLElement {
  for (let parent = element.parentElement; parent; parent = parent.parentElement) {
    const { overflowY } = getComputedStyle(parent)
    if (overflowY === "auto" || overflowY === "scroll") return parent
  }
  return document.documentElement
}

type View = { first: number; last: number; isVirtual: boolean }

/** The rows in view, with some above and below. */
function useView(
  element: { current: HTMLDivElement | null },
  { total, rowHeight, onEnd }: { total: number; rowHeight: number; onEnd: (() => void) | undefined },
): View {
  const isVirtual = total >= VIRTUAL_FROM
  const [range, setRange] = useState(() => ({ first: 0, last: Math.ceil(innerHeight / rowHeight) }))
  const [overscan, setOverscan] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setOverscan(OVERSCAN), OVERSCAN_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  const latest = useRef(onEnd)
  latest.current = onEnd
  useLayoutEffect(() => {
    const table = element.current
    if (!table) return undefined
    const parent = scrollParent(table)
    const measure = () => {
      const top = parent.getBoundingClientRect().top - table.getBoundingClientRect().top
      const first = Math.max(0, Math.floor(top / rowHeight) - overscan)
      const last = Math.ceil((top + parent.clientHeight) / rowHeight) + overscan
      setRange((before) => (before.first === first && before.last === last ? before : { first, last }))
      if (last + READ_AHEAD >= total) latest.current?.()
    }
    measure()
    parent.addEventListener("scroll", measure, { passive: true })
    const resized = new ResizeObserver(measure)
    resized.observe(parent)
    return () => {
      parent.removeEventListener("scroll", measure)
      resized.disconnect()
    }
  }, [element, total, rowHeight, overscan])
  if (!isVirtual) return { first: 0, last: total, isVirtual }
  return { first: Math.min(range.first, total), last: Math.min(range.last, total), isVirtual }
}
