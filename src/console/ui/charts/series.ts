export type Series = { label: string; values: readonly (number | null)[] }

const MAX_SERIES = 6

/** Up to this number of series, labels are beside the plot instead of in a legend. */
export const MAX_DIRECT = 3

/** Moves labels apart, in their order from the top, so that none overlaps and all are above `bottom`. */
export function spread(tops: readonly number[], gap: number, bottom: number): number[] {
  const order = tops.map((_, index) => index).toSorted((a, b) => (tops[a] ?? 0) - (tops[b] ?? 0))
  const placed = [...tops]
  let limit = bottom - gap * (order.length - 1)
  let least = 0
  for (const index of order) {
    const top = Math.max(least, Math.min(tops[index] ?? 0, limit))
    placed[index] = top
    least = top + gap
    limit += gap
  }
  return placed
}

/** Colors by position; the last one, "other", is grey. */
export function seriesColor(index: number, label: string): string {
  return label === "other" ? "var(--series-other)" : `var(--series-${(index % MAX_SERIES) + 1})`
}
