import { readAs, UNREAD } from "../content/fold.ts"
import { elementAt } from "../../support/arrays.ts"

/** A literal of a detector's matches. In lower case; a digit matches any digit. */
export type Literal = {
  text: string
  /** No letter or digit right before it, except in an escape such as `\n`. */
  starts?: true
  /** No letter may follow. */
  ends?: true
  /** Its first letter is a capital. */
  isUpper?: true
  /** A digit must occur within this many characters before the literal's end. */
  digitWithin?: number
}

/** Character classes with special handling in survey.ts. */
export const CLASS = { digit: 0, colon: 1, other: 2, firstGap: 3, lastGap: 8, unread: 254, pair: 255 } as const
const GAPS = " .()/-"
const FIRST_LETTER = CLASS.lastGap + 1
const FIRST_SHARED = FIRST_LETTER + 26
const MAX_SIGNS = 16
/** A table row is 128 bytes: fewer rows fit better into the CPU cache. */
export const STRIDE_BITS = 6
const STRIDE = 1 << STRIDE_BITS
/** Limit of a 16-bit state number. */
const MAX_STATES = 0x10000
const UNITS = 0x10000
/** End of the range with other forms of alphabetic letters. */
const LAST_FORM = 0x2fff

/**
 * Aho-Corasick automaton over all literals. `table`: next state by state and class. In states from `firstEnd` on, a
 * literal ends.
 */
export class Literals {
  readonly classes = new Uint8Array(UNITS).fill(CLASS.other)
  readonly table: Uint16Array
  readonly firstEnd: number
  /** The literals that end in each state from `firstEnd` on. */
  readonly ends: readonly (readonly number[])[]

  constructor(texts: readonly string[]) {
    this.#findClasses(texts)
    const trie = texts.reduce((sum, { length }) => sum + length, 1)
    const table = new Int32Array(trie * STRIDE)
    const current: number[][] = [[]]
    for (const [literal, text] of texts.entries()) {
      let state = 0
      for (let at = 0; at < text.length; at++) {
        const scope = state * STRIDE + (this.classes[text.charCodeAt(at)] ?? 0)
        if (table[scope] === 0) table[scope] = current.push([]) - 1
        state = table[scope] ?? 0
      }
      current[state]?.push(literal)
    }
    const open = connect(table, current)
    // States with a literal end come last, so that their number identifies them; the others are sorted by depth.
    const order = [
      ...open.filter((state) => current[state]?.length === 0),
      ...open.filter((state) => current[state]?.length !== 0),
    ]
    if (current.length > MAX_STATES)
      throw new Error(`The literals have ${current.length} states, more than ${MAX_STATES}.`)
    const places = new Uint16Array(current.length)
    for (const [scope, state] of order.entries()) places[state] = scope
    this.table = new Uint16Array(current.length * STRIDE)
    for (const [scope, state] of order.entries()) {
      for (let one = 0; one < STRIDE; one++) {
        this.table[scope * STRIDE + one] = places[table[state * STRIDE + one] ?? 0] ?? 0
      }
    }
    this.firstEnd = order.findIndex((state) => current[state]?.length !== 0)
    this.ends = order.slice(this.firstEnd).map((state) => elementAt(current, state))
  }

  /**
   * Each ASCII symbol has its own class while classes are available. Other characters of literals share classes, so
   * their matches are verified.
   */
  #findClasses(texts: readonly string[]): void {
    const { classes } = this
    for (let gap = 0; gap < GAPS.length; gap++) classes[GAPS.charCodeAt(gap)] = CLASS.firstGap + gap
    for (let digit = 0; digit < 10; digit++) classes[48 + digit] = CLASS.digit
    classes[58] = CLASS.colon
    for (let letter = 0; letter < 26; letter++) {
      classes[97 + letter] = FIRST_LETTER + letter
      classes[65 + letter] = FIRST_LETTER + letter
    }
    const used = new Set(texts.join(""))
    const units = [...used].map((char) => char.charCodeAt(0)).filter((unit) => classes[unit] === CLASS.other)
    const signs = units.filter((unit) => unit < 0x80).slice(0, MAX_SIGNS)
    for (const [at, unit] of signs.entries()) classes[unit] = FIRST_SHARED + at
    const first = FIRST_SHARED + signs.length
    for (const unit of units) if (classes[unit] === CLASS.other) classes[unit] = first + (unit % (STRIDE - first))
    for (let unit = 0x80; unit <= LAST_FORM; unit++) {
      const char = String.fromCharCode(unit)
      for (const form of [char.toLowerCase(), char.toUpperCase().toLowerCase(), char.normalize("NFKC").toLowerCase()]) {
        if (classes[unit] === CLASS.other && form.length === 1 && (used.has(form) || form < "\x80")) {
          classes[unit] = classes[form.charCodeAt(0)] ?? 0
        }
      }
    }
    for (let unit = 0x80; unit < UNITS; unit++) {
      if (unit >= 0xd800 && unit < 0xdc00) classes[unit] = CLASS.pair
      const read = readAs(unit)
      if (read === UNREAD) classes[unit] = CLASS.unread
      else if (read !== unit) classes[unit] = classes[read] ?? 0
    }
  }
}

/** Computes the fail transitions of the Aho-Corasick automaton and merges the outputs. Returns the states by depth. */
function connect(table: Int32Array, ends: readonly number[][]): number[] {
  const fails = new Int32Array(ends.length)
  const open = [0]
  for (let read = 0; read < open.length; read++) {
    const state = open[read] ?? 0
    const fail = fails[state] ?? 0
    if (state !== 0) ends[state]?.push(...(ends[fail] ?? []))
    for (let one = 0; one < STRIDE; one++) {
      const child = table[state * STRIDE + one] ?? 0
      const other = state === 0 ? 0 : (table[fail * STRIDE + one] ?? 0)
      if (child === 0) {
        table[state * STRIDE + one] = other
        continue
      }
      fails[child] = other
      open.push(child)
    }
  }
  return open
}
