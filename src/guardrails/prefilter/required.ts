import { elementAt } from "../../support/arrays.ts"
/**
 * Literals that every match of a pattern contains: possible starts, and groups of which each match contains one
 * element. Derived from the source of the regular expression, so that new patterns need no second table. In lower case;
 * a digit matches any digit.
 */
export type Required = {
  /** Literals of which one begins each match; undefined if unknown. */
  openings: string[] | undefined
  /** Each match contains one element of each group. */
  groups: string[][]
}

/** A part of a pattern; `exact`: its strings, if they are few. */
type Node = { exact: string[] | undefined; openings: string[] | undefined; groups: string[][] }

const MAX_STRINGS = 256
const MAX_PER_CLASS = 10
const NOTHING: Node = { exact: [""], openings: undefined, groups: [] }
const ANYTHING: Node = { exact: undefined, openings: undefined, groups: [] }

export function requiredOf(source: string): Required {
  const { openings, groups } = closed(new Parser(source).alternation())
  return { openings: openings && withoutLonger(openings, (one, other) => one.startsWith(other)), groups }
}

/** The group that is rarest in ordinary texts; undefined for an empty list. */
export function bestGroup(groups: readonly string[][]): string[] | undefined {
  const worth = (group: readonly string[]) => Math.min(...group.map(({ length }) => length))
  return groups.toSorted((one, other) => worth(other) - worth(one) || one.length - other.length)[0]
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
    return branches.length === 1 ? elementAt(branches, 0) : anyOf(branches)
  }

  #sequence(): Node {
    const parts: Node[] = []
    for (let char = this.#source[this.#at]; char !== undefined && char !== "|" && char !== ")";) {
      parts.push(this.#repeated(this.#atom(char)))
      char = this.#source[this.#at]
    }
    return sequenceOf(parts)
  }

  #atom(char: string): Node {
    this.#at++
    if (char === "(") return this.#group()
    if (char === "[") return this.#class()
    if (char === "\\") return this.#escape()
    if (char === "^" || char === "$") return NOTHING
    if (char === ".") return ANYTHING
    return ofStrings([char])
  }

  #group(): Node {
    const [opening = ""] = /^\?(?:[:=!]|<[=!]|i:)/.exec(this.#source.slice(this.#at, this.#at + 4)) ?? []
    this.#at += opening.length
    const inner = this.alternation()
    this.#at++
    return /[=!]/.test(opening) ? NOTHING : inner
  }

  #class(): Node {
    const [written = ""] = /^\^?\]?(?:\\.|[^\]\\])*/s.exec(this.#source.slice(this.#at)) ?? []
    this.#at += written.length + 1
    const isFew = written.length <= MAX_PER_CLASS && !/^\^|\\[a-z]|.-./i.test(written)
    return isFew ? ofStrings(written.replaceAll("\\", "").split("")) : ANYTHING
  }

  #escape(): Node {
    const char = this.#source.charAt(this.#at++)
    if (char === "b") return NOTHING
    if (char === "d") return ofStrings(["0"])
    if (char === "n") return ofStrings(["\n"])
    if (/[pP]/.test(char)) {
      const [name = ""] = /^(?:\{\w+\}|\w)/.exec(this.#source.slice(this.#at)) ?? []
      this.#at += name.length
    }
    return /[a-z]/i.test(char) ? ANYTHING : ofStrings([char])
  }

  #repeated(node: Node): Node {
    const [written = "", least] = /^(?:[?*+]|\{(\d+)(?:,\d*)?\})/.exec(this.#source.slice(this.#at)) ?? []
    this.#at += written.length
    if (written === "") return node
    if (written === "?") return anyOf([node, NOTHING])
    const times = written === "*" ? 0 : Number(least ?? 1)
    if (times === 0) return ANYTHING
    const some = sequenceOf(Array.from({ length: Math.min(times, MAX_PER_CLASS) }, () => node))
    return { ...closed(some), exact: undefined }
  }
}

/** A digit represents all digits; characters without lower case are kept. */
function ofStrings(chars: readonly string[]): Node {
  const exact = [...new Set(chars.map((char) => char.toLowerCase().replace(/\d/, "0")))]
  return { exact, openings: undefined, groups: [] }
}

/** Closes a sequence: its known strings become openings and a group. */
function closed(node: Node): Node {
  if (!node.exact) return node
  const isSome = node.exact.every((one) => one !== "")
  return { exact: node.exact, openings: isSome ? node.exact : undefined, groups: isSome ? [within(node.exact)] : [] }
}

function anyOf(branches: readonly Node[]): Node {
  const exact = branches.every((branch) => branch.exact)
    ? [...new Set(branches.flatMap((branch) => branch.exact ?? []))]
    : undefined
  if (exact && exact.length <= MAX_STRINGS) return { exact, openings: undefined, groups: [] }
  const all = branches.map(closed)
  const openings = all.every((branch) => branch.openings) ? all.flatMap((branch) => branch.openings ?? []) : undefined
  const best = all.map(({ groups }) => bestGroup(groups))
  const groups = best.every((group) => group) ? [within(best.flatMap((group) => group ?? []))] : []
  return { exact: undefined, openings, groups }
}

function sequenceOf(parts: readonly Node[]): Node {
  let exact: string[] | undefined = [""]
  let isFirst = true
  let openings: string[] | undefined
  const groups: string[][] = []
  const flush = () => {
    const run = closed({ ...NOTHING, exact })
    if (isFirst && exact?.some((one) => one !== "")) openings = run.openings
    if (exact?.some((one) => one !== "")) isFirst = false
    groups.push(...run.groups)
    exact = [""]
  }
  for (const part of parts) {
    const crossed: string[] | undefined =
      part.exact && exact.length * part.exact.length <= MAX_STRINGS
        ? exact.flatMap((one) => (part.exact ?? []).map((other) => one + other))
        : undefined
    if (crossed) {
      exact = crossed
      continue
    }
    flush()
    if (part.exact) {
      exact = part.exact
      continue
    }
    if (isFirst) openings = part.openings
    isFirst = false
    groups.push(...part.groups)
  }
  if (groups.length === 0 && isFirst) return { exact, openings: undefined, groups: [] }
  flush()
  return { exact: undefined, openings, groups }
}

/** Drops literals that contain a shorter one of the group. */
function within(group: readonly string[]): string[] {
  return withoutLonger(group, (one, other) => one.includes(other))
}

function withoutLonger(group: readonly string[], has: (one: string, other: string) => boolean): string[] {
  const distinct = [...new Set(group)]
  return distinct.filter((one) => !distinct.some((other) => other !== one && has(one, other)))
}
