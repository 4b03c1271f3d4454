import { elementAt } from "../../support/arrays.ts"
/**
 * Literals that every match of a pattern contains: possible starts, and groups of which each match contains one
 * element. Derived from the source of the regular expression, so that new patterns need no second table. In lower case;
 * a digit matches any digit.
 */
export type RequiredLiterals = {
  /** Literals of which one begins each match; undefined if unknown. */
  prefixes: string[] | undefined
  /** Each match contains one element of each group. */
  groups: string[][]
}

/** A part of a pattern; `exact`: its strings, if they are few. */
type Node = { exact: string[] | undefined; prefixes: string[] | undefined; groups: string[][] }

const MAX_STRINGS = 256
const MAX_PER_CLASS = 10
const EMPTY: Node = { exact: [""], prefixes: undefined, groups: [] }
const UNKNOWN: Node = { exact: undefined, prefixes: undefined, groups: [] }

export function requiredLiterals(source: string): RequiredLiterals {
  const { prefixes, groups } = withLiterals(new Parser(source).alternation())
  return { prefixes: prefixes && minimalSet(prefixes, (one, other) => one.startsWith(other)), groups }
}

/** The group that is rarest in ordinary texts; undefined for an empty list. */
export function mostSelectiveGroup(groups: readonly string[][]): string[] | undefined {
  const shortest = (group: readonly string[]) => Math.min(...group.map(({ length }) => length))
  return groups.toSorted((one, other) => shortest(other) - shortest(one) || one.length - other.length)[0]
}

class Parser {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  alternation(): Node {
    const branches = [this.#sequence()]
    while (this.#source[this.#at] === "|") {
      this.#at++
      branches.push(this.#sequence())
    }
    return branches.length === 1 ? elementAt(branches, 0) : alternationOf(branches)
  }

  #sequence(): Node {
    const parts: Node[] = []
    for (let char = this.#source[this.#at]; char !== undefined && char !== "|" && char !== ")";) {
      parts.push(this.#quantified(this.#atom(char)))
      char = this.#source[this.#at]
    }
    return sequenceOf(parts)
  }

  #atom(char: string): Node {
    this.#at++
    if (char === "(") return this.#group()
    if (char === "[") return this.#class()
    if (char === "\\") return this.#escape()
    if (char === "^" || char === "$") return EMPTY
    if (char === ".") return UNKNOWN
    return stringsNode([char])
  }

  #group(): Node {
    const [opening = ""] = /^\?(?:[:=!]|<[=!]|i:)/.exec(this.#source.slice(this.#at, this.#at + 4)) ?? []
    this.#at += opening.length
    const inner = this.alternation()
    this.#at++
    return /[=!]/.test(opening) ? EMPTY : inner
  }

  #class(): Node {
    const [written = ""] = /^\^?\]?(?:\\.|[^\]\\])*/s.exec(this.#source.slice(this.#at)) ?? []
    this.#at += written.length + 1
    const isFew = written.length <= MAX_PER_CLASS && !/^\^|\\[a-z]|.-./i.test(written)
    return isFew ? stringsNode(written.replaceAll("\\", "").split("")) : UNKNOWN
  }

  #escape(): Node {
    const char = this.#source.charAt(this.#at++)
    if (char === "b") return EMPTY
    if (char === "d") return stringsNode(["0"])
    if (char === "n") return stringsNode(["\n"])
    if (/[pP]/.test(char)) {
      const [name = ""] = /^(?:\{\w+\}|\w)/.exec(this.#source.slice(this.#at)) ?? []
      this.#at += name.length
    }
    return /[a-z]/i.test(char) ? UNKNOWN : stringsNode([char])
  }

  #quantified(node: Node): Node {
    const [written = "", min] = /^(?:[?*+]|\{(\d+)(?:,\d*)?\})/.exec(this.#source.slice(this.#at)) ?? []
    this.#at += written.length
    if (written === "") return node
    if (written === "?") return alternationOf([node, EMPTY])
    const times = written === "*" ? 0 : Number(min ?? 1)
    if (times === 0) return UNKNOWN
    const repeated = sequenceOf(Array.from({ length: Math.min(times, MAX_PER_CLASS) }, () => node))
    return { ...withLiterals(repeated), exact: undefined }
  }
}

/** A digit represents all digits; characters without lower case are kept. */
function stringsNode(chars: readonly string[]): Node {
  const exact = [...new Set(chars.map((char) => char.toLowerCase().replace(/\d/, "0")))]
  return { exact, prefixes: undefined, groups: [] }
}

/** Closes a sequence: its known strings become prefixes and a group. */
function withLiterals(node: Node): Node {
  if (!node.exact) return node
  const hasNoEmpty = node.exact.every((one) => one !== "")
  return {
    exact: node.exact,
    prefixes: hasNoEmpty ? node.exact : undefined,
    groups: hasNoEmpty ? [withoutSuperstrings(node.exact)] : [],
  }
}

function alternationOf(branches: readonly Node[]): Node {
  const exact = branches.every((branch) => branch.exact)
    ? [...new Set(branches.flatMap((branch) => branch.exact ?? []))]
    : undefined
  if (exact && exact.length <= MAX_STRINGS) return { exact, prefixes: undefined, groups: [] }
  const all = branches.map(withLiterals)
  const prefixes = all.every((branch) => branch.prefixes) ? all.flatMap((branch) => branch.prefixes ?? []) : undefined
  const selective = all.map(({ groups }) => mostSelectiveGroup(groups))
  const groups = selective.every((group) => group)
    ? [withoutSuperstrings(selective.flatMap((group) => group ?? []))]
    : []
  return { exact: undefined, prefixes, groups }
}

function sequenceOf(parts: readonly Node[]): Node {
  let exact: string[] | undefined = [""]
  let isFirst = true
  let prefixes: string[] | undefined
  const groups: string[][] = []
  const flush = () => {
    const run = withLiterals({ ...EMPTY, exact })
    if (isFirst && exact?.some((one) => one !== "")) prefixes = run.prefixes
    if (exact?.some((one) => one !== "")) isFirst = false
    groups.push(...run.groups)
    exact = [""]
  }
  for (const part of parts) {
    const product: string[] | undefined =
      part.exact && exact.length * part.exact.length <= MAX_STRINGS
        ? exact.flatMap((one) => (part.exact ?? []).map((other) => one + other))
        : undefined
    if (product) {
      exact = product
      continue
    }
    flush()
    if (part.exact) {
      exact = part.exact
      continue
    }
    if (isFirst) prefixes = part.prefixes
    isFirst = false
    groups.push(...part.groups)
  }
  if (groups.length === 0 && isFirst) return { exact, prefixes: undefined, groups: [] }
  flush()
  return { exact: undefined, prefixes, groups }
}

/** Drops literals that contain a shorter one of the group. */
function withoutSuperstrings(group: readonly string[]): string[] {
  return minimalSet(group, (one, other) => one.includes(other))
}

function minimalSet(group: readonly string[], contains: (one: string, other: string) => boolean): string[] {
  const distinct = [...new Set(group)]
  return distinct.filter((one) => !distinct.some((other) => other !== one && contains(one, other)))
}
