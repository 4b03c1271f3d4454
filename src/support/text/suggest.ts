const MAX_SUGGESTIONS = 3
/** Minimum share of letter pairs that two names have in common. */
const MIN_SIMILARITY = 0.5
/** A name that is much less similar than the best one is not suggested. */
const MIN_SHARE_OF_BEST = 0.8

/** The ids most similar to an unknown name. */
export function suggestNames(name: string, ids: Iterable<string>): string[] {
  const namePairs = pairsOf(name)
  const similar = [...ids]
    .map((id) => ({ id, score: similarity(namePairs, pairsOf(id)) }))
    .filter(({ score }) => score >= MIN_SIMILARITY)
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
  const [best] = similar
  return similar
    .filter(({ score }) => score >= MIN_SHARE_OF_BEST * (best?.score ?? 0))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ id }) => id)
}

function pairsOf(name: string): Set<string> {
  const text = name.toLowerCase().slice(0, 256)
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)))
}

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0
  for (const pair of a) if (b.has(pair)) shared += 1
  return a.size + b.size === 0 ? 0 : (2 * shared) / (a.size + b.size)
}

/** `a, b or c`. */
export function anyOf(names: readonly string[]): string {
  const [last = "", ...others] = names.toReversed()
  return others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`
}
