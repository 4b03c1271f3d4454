type Fitting = {
  /** A track of the grid, such as `120px` or `minmax(160px, 2fr)`. */
  width: string
  /** Columns with a rank can be left out if the table is too narrow: those with the highest rank first. */
  optional?: number
}

const GAP = 16
/** Padding of a row: at most, so that a table that fits never scrolls. */
const PADDING = 40

/** The columns whose least widths fit into the available pixels. `money` is the width of `var(--money)`. */
export function fitColumns<C extends Fitting>(
  columns: readonly C[],
  { available, money }: { available: number; money: number },
): readonly C[] {
  const least = ({ width }: Fitting) =>
    width === "var(--money)" ? money : Number.parseFloat(/[\d.]+(?=px)/.exec(width)?.[0] ?? "0")
  let fitting = columns
  const needed = () => fitting.reduce((sum, column) => sum + least(column) + GAP, PADDING - GAP)
  while (needed() > available) {
    const rank = Math.max(0, ...fitting.map(({ optional = 0 }) => optional))
    if (rank === 0) return fitting
    fitting = fitting.filter(({ optional }) => optional !== rank)
  }
  return fitting
}
