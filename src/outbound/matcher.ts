import { foldByte, isEscape, type Unit } from "./spellings.ts"

/** `isExact`: letters match only in their case. */
export type Pattern = { units: readonly Unit[]; isExact: boolean; replacement: Uint8Array }

type Match = { pattern: Pattern; end: number }
/** Tree of the escapes with which patterns begin, by folded byte. */
type Escapes = { next: Map<number, Escapes>; patterns: Pattern[] }

/** Finds the longest pattern at each position. */
export class Matcher {
  /** By their first two bytes, longest first. */
  readonly #patterns = new Map<number, Pattern[]>()
  readonly #isPair = new Uint8Array(65_536)
  readonly #isFirst = new Uint8Array(256)
  readonly #escapes: Escapes = newEscapes()

  constructor(patterns: readonly Pattern[]) {
    for (const pattern of patterns.toSorted((a, b) => b.units.length - a.units.length)) {
      const [head, next] = pattern.units
      if (!head || !next) continue
      const seconds = new Set([...next.plain, ...next.escaped].map(([byte = 0]) => foldByte(byte)))
      for (const spelling of [...head.plain, ...head.escaped]) {
        const [first = 0, second] = spelling
        this.#isFirst[foldByte(first)] = 1
        if (isEscape(first)) addEscape(this.#escapes, spelling, pattern)
        else for (const byte of second === undefined ? seconds : [second]) this.#addPair(first, byte, pattern)
      }
    }
  }

  #addPair(first: number, second: number, pattern: Pattern): void {
    const pair = (foldByte(first) << 8) | foldByte(second)
    this.#isPair[pair] = 1
    const group = this.#patterns.get(pair)
    if (!group) this.#patterns.set(pair, [pattern])
    else if (group.at(-1) !== pattern) group.push(pattern)
  }

  /**
   * `end`: where an incomplete match may begin, unless the input is the last. `parts`: the output up to there; empty if
   * nothing was replaced.
   */
  scan(input: Uint8Array, isLast: boolean): { parts: Uint8Array[]; end: number } {
    const parts: Uint8Array[] = []
    let [at, from] = [0, 0]
    while (at < input.byteLength) {
      const found = this.#match(input, at, isLast)
      const end = found && found !== "partial" ? this.#endOf(input, at, found, isLast) : found
      if (end === "partial") break
      if (found && found !== "partial" && end !== undefined) {
        parts.push(input.subarray(from, at), found.pattern.replacement)
        at = end
        from = at
      } else at += 1
    }
    if (parts.length > 0) parts.push(input.subarray(from, at))
    return { parts, end: at }
  }

  /** End of the last overlapping pattern: a pattern that begins inside another is redacted with it. */
  #endOf(input: Uint8Array, at: number, match: Match, isLast: boolean): number | "partial" {
    let { end } = match
    for (let inside = at + 1; inside < end; inside++) {
      const found = this.#match(input, inside, isLast)
      if (found === "partial") return found
      if (found) end = Math.max(end, found.end)
    }
    return end
  }

  #match(input: Uint8Array, at: number, isLast: boolean): Match | "partial" | undefined {
    const first = foldByte(input[at] ?? 0)
    if (this.#isFirst[first] !== 1) return undefined
    const candidates = isEscape(first) ? this.#escaped(input, at) : this.#literal(input, at)
    if (candidates === "partial") return isLast ? undefined : "partial"
    for (const pattern of candidates) {
      const end = endIn(input, at, pattern)
      if (end === "partial" && !isLast) return end
      if (typeof end === "number") return { pattern, end }
    }
    return undefined
  }

  #literal(input: Uint8Array, at: number): readonly Pattern[] | "partial" {
    if (at === input.byteLength - 1) return "partial"
    const pair = (foldByte(input[at] ?? 0) << 8) | foldByte(input[at + 1] ?? 0)
    return this.#isPair[pair] === 1 ? (this.#patterns.get(pair) ?? []) : []
  }

  #escaped(input: Uint8Array, at: number): readonly Pattern[] | "partial" {
    const found: Pattern[] = []
    let node: Escapes | undefined = this.#escapes
    for (let next = at; node; next++) {
      found.push(...node.patterns)
      if (next === input.byteLength) return "partial"
      node = node.next.get(foldByte(input[next] ?? 0))
      if (node?.next.size === 0) {
        found.push(...node.patterns)
        break
      }
    }
    return found
  }
}

function newEscapes(): Escapes {
  return { next: new Map(), patterns: [] }
}

function addEscape(root: Escapes, spelling: Uint8Array, pattern: Pattern): void {
  let node = root
  for (const byte of spelling) {
    const next = node.next.get(foldByte(byte)) ?? newEscapes()
    node.next.set(foldByte(byte), next)
    node = next
  }
  if (node.patterns.at(-1) !== pattern) node.patterns.push(pattern)
}

/**
 * Where a pattern that begins at `at` ends. `partial`: the input ends before. A character that begins the spelling of
 * another, such as `%`, can be read in two ways, so all ends so far are followed.
 */
function endIn(input: Uint8Array, at: number, { units, isExact }: Pattern): number | "partial" | undefined {
  let ends = [at]
  let isCut = false
  for (const { plain, escaped } of units) {
    const next: number[] = []
    const read = (from: number, spelling: Uint8Array) => {
      const end = from + commonLength(input, from, spelling, isExact)
      if (end === from + spelling.byteLength) {
        if (!next.includes(end)) next.push(end)
      } else if (end === input.byteLength) isCut = true
    }
    for (const from of ends) {
      for (const spelling of plain) read(from, spelling)
      if (isEscape(input[from] ?? 0)) for (const spelling of escaped) read(from, spelling)
    }
    if (next.length === 0) return isCut ? "partial" : undefined
    ends = next
  }
  return isCut ? "partial" : Math.max(...ends)
}

function commonLength(input: Uint8Array, from: number, spelling: Uint8Array, isExact: boolean): number {
  let same = 0
  while (same < spelling.byteLength && from + same < input.byteLength) {
    const byte = input[from + same] ?? 0
    const other = spelling[same] ?? 0
    if (byte !== other && (isExact || foldByte(byte) !== foldByte(other))) break
    same += 1
  }
  return same
}
