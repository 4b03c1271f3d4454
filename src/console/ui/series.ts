export type Series = { label: string; values: readonly (number | null)[] }

const MAX_SERIES = 6

/** Colors by position; the last one, "other", is grey. */
export function seriesColor(index: number, label: string): string {
  return label === "other" ? "var(--series-other)" : `var(--series-${(index % MAX_SERIES) + 1})`
}
