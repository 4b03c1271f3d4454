/** Candidates within this distance are merged into one range, to keep their number low. */
const MERGE_DISTANCE = 16

/** Adds an index to ranges in order, as first and last index each. */
export function addCandidate(ranges: number[] | undefined, at: number): void {
  if (!ranges) return
  const last = ranges.length - 1
  if (last > 0 && at - (ranges[last] ?? 0) <= MERGE_DISTANCE) ranges[last] = at
  else ranges.push(at, at)
}
