import type { PresetVersion } from "../../api/account-types.ts"

export type DiffLine = { kind: "same" | "added" | "removed"; text: string }

/** A version as lines of text: its parameters, sorted by name, then the instructions. */
export function linesOf({ config, system_prompt: prompt }: PresetVersion): string[] {
  const parameters = Object.entries(config)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => `${name}: ${JSON.stringify(value, null, 2)}`.split("\n"))
  return [
    ...parameters,
    ...(prompt === null ? [] : ["instructions:", ...prompt.split("\n").map((line) => `  ${line}`)]),
  ]
}

/** The shortest change from one list of lines to another. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const lengths = commonLengths(before, after)
  const lines: DiffLine[] = []
  let [left, right] = [0, 0]
  while (left < before.length || right < after.length) {
    const [old, fresh] = [before[left], after[right]]
    if (old !== undefined && old === fresh) {
      lines.push({ kind: "same", text: old })
      left += 1
      right += 1
    } else if (
      fresh !== undefined &&
      (old === undefined || lengthAt(lengths, left, right + 1) > lengthAt(lengths, left + 1, right))
    ) {
      lines.push({ kind: "added", text: fresh })
      right += 1
    } else {
      lines.push({ kind: "removed", text: old ?? "" })
      left += 1
    }
  }
  return lines
}

type Lengths = readonly (readonly number[])[]
const lengthAt = (lengths: Lengths, left: number, right: number) => lengths[left]?.[right] ?? 0

/** Longest common subsequence of each pair of suffixes, in lines. */
function commonLengths(before: readonly string[], after: readonly string[]): Lengths {
  const table = Array.from({ length: before.length + 1 }, () => Array.from({ length: after.length + 1 }, () => 0))
  for (let left = before.length - 1; left >= 0; left -= 1) {
    const row = table[left] ?? []
    for (let right = after.length - 1; right >= 0; right -= 1) {
      row[right] =
        before[left] === after[right]
          ? lengthAt(table, left + 1, right + 1) + 1
          : Math.max(lengthAt(table, left + 1, right), lengthAt(table, left, right + 1))
    }
  }
  return table
}
