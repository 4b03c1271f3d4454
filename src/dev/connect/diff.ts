/** Diff of two texts by line: added (+) and removed (-). */
export function diffLines(before: string, after: string): string[] {
  const [old, next] = [linesOf(before), linesOf(after)]
  const common = lengthsOfCommon(old, next)
  const result: string[] = []
  let [at, to] = [0, 0]
  while (at < old.length || to < next.length) {
    if (at < old.length && to < next.length && old[at] === next[to]) {
      result.push(`  ${old[at]}`)
      at++
      to++
    } else if (to >= next.length || (at < old.length && lengthAt(common, at + 1, to) >= lengthAt(common, at, to + 1))) {
      result.push(`- ${old[at++]}`)
    } else result.push(`+ ${next[to++]}`)
  }
  return result
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n")
}

/** Lengths of the longest common subsequences of all pairs of suffixes. */
function lengthsOfCommon(old: readonly string[], next: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => Array.from({ length: next.length + 1 }, () => 0))
  for (let at = old.length - 1; at >= 0; at--) {
    for (let to = next.length - 1; to >= 0; to--) {
      const row = lengths[at]
      if (!row) continue
      const isSame = old[at] === next[to]
      row[to] = isSame
        ? lengthAt(lengths, at + 1, to + 1) + 1
        : Math.max(lengthAt(lengths, at + 1, to), lengthAt(lengths, at, to + 1))
    }
  }
  return lengths
}

function lengthAt(lengths: readonly number[][], at: number, to: number): number {
  return lengths[at]?.[to] ?? 0
}
