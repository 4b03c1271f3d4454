import { normalizeRune, IGNORED } from "../content/texts/normalize.ts"

/** A literal of a detector's matches. In lower case; a digit matches any digit. */
export type Literal = {
  text: string
  /** No letter or digit right before it, except in an escape such as `\n`. */
  wordStart?: true
  /** No letter may follow. */
  wordEnd?: true
  /** Its first letter is a capital. */
  isCapitalized?: true
  /** A digit must occur within this many characters before the literal's end. */
  digitWithin?: number
}

/** Character classes with special handling in prefilter.ts. */
export const CLASS = {
  digit: 0,
  colon: 1,
  other: 2,
  firstGap: 3,
  lastGap: 8,
  ignored: 254,
  highSurrogate: 255,
} as const
const GAPS = " .()/-"
const FIRST_LETTER = CLASS.lastGap + 1
const FIRST_SYMBOL = FIRST_LETTER + 26
const MAX_SYMBOLS = 16
/** A table row is 128 bytes: fewer rows fit better into the CPU cache. */
export const STRIDE_BITS = 6
const STRIDE = 1 << STRIDE_BITS
/** Limit of a 16-bit state number. */
const MAX_STATES = 0x10000
const UNITS = 0x10000
/** End of the range with other forms of alphabetic letters. */
const LAST_LETTER_VARIANT = 0x2fff

/**
 * Aho-Corasick automaton over all literals. `table`: next state by state and class. In states from `firstFinal` on, a
 * literal ends.
 */
export class AhoCorasick {
  readonly classes = new Uint8Array(UNITS).fill(CLASS.other)
  readonly table: Uint16Array
  readonly firstFinal: number
  /** The literals that end in each state from `firstFinal` on. */
  readonly outputs: readonly (readonly number[])[]

  constructor(texts: readonly string[]) {
    this.#assignClasses(texts)
    const maxStates = texts.reduce((sum, { length }) => sum + length, 1)
    const table = new Int32Array(maxStates * STRIDE)
    const outputs: (readonly number[] | undefined)[] = [undefined]
    for (const [literal, text] of texts.entries()) {
      let state = 0
      for (let at = 0; at < text.length; at++) {
        const cell = state * STRIDE + (this.classes[text.charCodeAt(at)] ?? 0)
        if (table[cell] === 0) table[cell] = outputs.push(undefined) - 1
        state = table[cell] ?? 0
      }
      outputs[state] = [...(outputs[state] ?? []), literal]
    }
    const byDepth = addFailTransitions(table, outputs)
    // States with a literal end come last, so that their number identifies them; the others are sorted by depth.
    const order = [
      ...byDepth.filter((state) => outputs[state] === undefined),
      ...byDepth.filter((state) => outputs[state] !== undefined),
    ]
    if (outputs.length > MAX_STATES)
      throw new Error(`The literals have ${outputs.length} states, more than ${MAX_STATES}.`)
    const renumbered = new Uint16Array(outputs.length)
    for (const [index, state] of order.entries()) renumbered[state] = index
    this.table = new Uint16Array(outputs.length * STRIDE)
    for (const [index, state] of order.entries()) {
      for (let charClass = 0; charClass < STRIDE; charClass++) {
        this.table[index * STRIDE + charClass] = renumbered[table[state * STRIDE + charClass] ?? 0] ?? 0
      }
    }
    this.firstFinal = order.findIndex((state) => outputs[state] !== undefined)
    this.outputs = order.slice(this.firstFinal).map((state) => outputs[state] ?? [])
  }

  /**
   * Each ASCII symbol has its own class while classes are available. Other characters of literals share classes, so
   * their matches are verified.
   */
  #assignClasses(texts: readonly string[]): void {
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
    const symbols = units.filter((unit) => unit < 0x80).slice(0, MAX_SYMBOLS)
    for (const [at, unit] of symbols.entries()) classes[unit] = FIRST_SYMBOL + at
    const firstShared = FIRST_SYMBOL + symbols.length
    for (const unit of units)
      if (classes[unit] === CLASS.other) classes[unit] = firstShared + (unit % (STRIDE - firstShared))
    for (let unit = 0x80; unit <= LAST_LETTER_VARIANT; unit++) {
      const char = String.fromCharCode(unit)
      for (const form of [char.toLowerCase(), char.toUpperCase().toLowerCase(), char.normalize("NFKC").toLowerCase()]) {
        if (classes[unit] === CLASS.other && form.length === 1 && (used.has(form) || form < "\x80")) {
          classes[unit] = classes[form.charCodeAt(0)] ?? 0
        }
      }
    }
    for (let unit = 0x80; unit < UNITS; unit++) {
      if (unit >= 0xd800 && unit < 0xdc00) classes[unit] = CLASS.highSurrogate
      const read = normalizeRune(unit)
      if (read === IGNORED) classes[unit] = CLASS.ignored
      else if (read !== unit) classes[unit] = classes[read] ?? 0
    }
  }
}

/** Computes the fail transitions of the Aho-Corasick automaton and merges the outputs. Returns the states by depth. */
function addFailTransitions(table: Int32Array, ends: (readonly number[] | undefined)[]): number[] {
  const fails = new Int32Array(ends.length)
  const queue = [0]
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0
    const fail = fails[state] ?? 0
    const [longest, shorter] = [ends[state], ends[fail]]
    if (state !== 0 && shorter) ends[state] = longest ? [...longest, ...shorter] : shorter
    for (let charClass = 0; charClass < STRIDE; charClass++) {
      const child = table[state * STRIDE + charClass] ?? 0
      const fallback = state === 0 ? 0 : (table[fail * STRIDE + charClass] ?? 0)
      if (child === 0) {
        table[state * STRIDE + charClass] = fallback
        continue
      }
      fails[child] = fallback
      queue.push(child)
    }
  }
  return queue
}
