import { isAscii, readAs, UNREAD } from "../content/fold.ts"
import { holds } from "./literal-context.ts"
import { CLASS, type Literal, Literals, STRIDE_BITS } from "./literals.ts"
import { elementAt } from "../../support/arrays.ts"

/** Signs that a text must contain for a match: one of the literals, a number of digits, or two near colons. */
export type Signs = {
  literals?: readonly Literal[]
  /** Minimum digits with at most two characters of ` .()/-` between neighbours. */
  digits?: number
  /** Two colons, with at most four characters between them. */
  colons?: true
}

/** Positions of a text where detectors may match. */
export type Survey = {
  /** For each list of signs: ranges of which every match touches one, from the first character of each to its last. */
  marks: readonly number[][]
  /** For each literal whether the text contains it. */
  seen: Uint8Array
  /**
   * Starts and numbers of the literals of `placed` in the text; undefined if there are too many.
   */
  places: { starts: number[]; literals: number[] } | undefined
  /** Ends of the literals of `verbs`, in order. */
  verbs: number[]
  /** The text has skipped characters (fold.ts). */
  hasUnread: boolean
  /** The text has letters or digits of two UTF-16 units. */
  hasPairs: boolean
  isAscii: boolean
}

const MAX_GAP = 2
const MAX_PLACES = 200_000
/** Marks within this distance are merged into one range, to keep their number low. */
const NEAR = 16
const COLONS_APART = 5
const LAST_ASCII = 0x7f
/** Emoji, which are no letters or digits. */
const FIRST_EMOJI = 0x1f300
const LAST_EMOJI = 0x1faff

type Known = Literal & { owners: number[]; isPlaced: boolean; isBound: boolean; isForeign: boolean; isVerb: boolean }

/** Action at the end of a literal: see `holds`, `Survey.verbs`, `Survey.places` and `Survey.marks`. */
const USE = { checked: 1, verb: 2, placed: 4, owned: 8 } as const

function useOf({ isBound, isVerb, isPlaced, owners }: Known): number {
  return (
    (isBound ? USE.checked : 0) |
    (isVerb ? USE.verb : 0) |
    (isPlaced ? USE.placed : 0) |
    (owners.length > 0 ? USE.owned : 0)
  )
}

/** Before any text. */
const FAR = -1_000_000

/** End of a literal. `plainFrom`: the text is unchanged from there; `digitBefore`: distance to the last digit. */
type LiteralEnd = { state: number; at: number; plainFrom: number; digitBefore: number }

/** Reads a text once for the signs of all detectors. */
export class Surveyor {
  readonly #lists: readonly Signs[]
  readonly #known: Known[] = []
  readonly #numbers = new Map<string, number>()
  readonly #literals: Literals
  /** By literal: its length, and its actions (USE). */
  readonly #lengths: Uint16Array
  readonly #uses: Uint8Array
  readonly #chains: { owner: number; digits: number }[]
  readonly #ofColons: number[]
  readonly #leastDigits: number
  readonly #longest: number

  /**
   * `placed`: literals whose starts are needed; `requested`: literals whose presence is needed; `verbs`: literals whose
   * ends are needed.
   */
  constructor(
    lists: readonly Signs[],
    placed: readonly string[],
    requested: readonly string[],
    verbs: readonly string[] = [],
  ) {
    this.#lists = lists
    for (const [owner, { literals }] of lists.entries()) for (const one of literals ?? []) this.#add(one, owner)
    for (const text of placed) this.#plain(text).isPlaced = true
    for (const text of requested) this.#plain(text)
    for (const text of verbs) this.#plain(text).isVerb = true
    this.#literals = new Literals(this.#known.map(({ text }) => text))
    this.#lengths = Uint16Array.from(this.#known, ({ text }) => text.length)
    this.#uses = Uint8Array.from(this.#known, useOf)
    this.#chains = [...lists.entries()].flatMap(([owner, { digits }]) =>
      digits === undefined ? [] : [{ owner, digits }],
    )
    this.#ofColons = [...lists.entries()].filter(([, { colons }]) => colons).map(([owner]) => owner)
    this.#leastDigits = Math.min(...this.#chains.map(({ digits }) => digits))
    this.#longest = Math.max(...this.#known.map(({ text }) => text.length))
  }

  numberOf(text: string): number {
    return this.#numbers.get(text) as number
  }

  #plain(text: string): Known {
    const number = this.#numbers.get(text)
    if (number !== undefined) return elementAt(this.#known, number)
    const known: Known = {
      text,
      owners: [],
      isPlaced: false,
      isBound: !isAscii(text),
      isForeign: !isAscii(text),
      isVerb: false,
    }
    this.#numbers.set(text, this.#known.push(known) - 1)
    return known
  }

  #add(literal: Literal, owner: number): void {
    const isPlain = Object.keys(literal).length === 1
    if (isPlain) this.#plain(literal.text).owners.push(owner)
    else {
      const isForeign = !isAscii(literal.text)
      this.#known.push({ ...literal, owners: [owner], isPlaced: false, isBound: true, isForeign, isVerb: false })
    }
  }

  survey(text: string): Survey {
    const survey: Survey = {
      marks: this.#lists.map((): number[] => []),
      seen: new Uint8Array(this.#known.length),
      places: { starts: [], literals: [] },
      verbs: [],
      hasUnread: false,
      hasPairs: false,
      isAscii: true,
    }
    this.#read(text, 0, text.length, survey)
    return survey
  }

  /** Updates the survey for a text with changes at some indexes, without the marks. */
  surveyChanged({ seen, places, ...others }: Survey, text: string, changed: readonly number[]): Survey {
    const survey: Survey = {
      ...others,
      marks: [],
      seen: seen.slice(),
      places: places && { starts: [...places.starts], literals: [...places.literals] },
      verbs: [],
    }
    let last = 0
    for (let at = 0; at < changed.length; at++) {
      const first = changed[at] ?? 0
      let to = first + this.#longest
      for (let next = changed[at + 1]; next !== undefined && next <= to + this.#longest; next = changed[++at + 1]) {
        to = next + this.#longest
      }
      const from = Math.max(last, first - this.#longest)
      last = Math.min(text.length, to)
      this.#read(text, from, last, survey)
    }
    return survey
  }

  #read(text: string, from: number, to: number, survey: Survey): void {
    const { classes, table, firstEnd } = this.#literals
    const { marks } = survey
    const least = this.#leastDigits
    /** Skipped units so far, since distances count only the characters that are read. */
    let skipped = 0
    let plainFrom = 0
    let digits = 0
    let lastDigit = FAR
    let skippedAtDigit = 0
    let lastColon = FAR
    let state = 0
    let allUnits = 0
    for (let at = from; at < to; at++) {
      let one: number = CLASS.other
      // Fast path: most characters are letters outside literals.
      for (; at < to; at++) {
        const unit = text.charCodeAt(at)
        allUnits |= unit
        one = classes[unit] ?? 0
        if (one < CLASS.other || one >= CLASS.unread) break
        state = table[(state << STRIDE_BITS) + one] ?? 0
        if (state >= firstEnd)
          this.#end({ state: state - firstEnd, at, plainFrom, digitBefore: at - skipped - lastDigit }, text, survey)
      }
      if (at === to) break
      if (one >= CLASS.unread) {
        const rune = text.codePointAt(at) ?? 0
        const read = readAs(rune)
        const width = rune > 0xffff ? 2 : 1
        plainFrom = at + width
        skipped += read === UNREAD ? width : width - 1
        at += width - 1
        if (read === UNREAD) {
          survey.hasUnread = true
          continue
        }
        if (width === 2) survey.hasPairs ||= isLetterOrDigit(rune)
        one = read > 0xffff ? CLASS.other : (classes[read] ?? 0)
        if (one >= CLASS.unread) one = CLASS.other
      }
      if (one === CLASS.digit) {
        const gap = at - skipped - lastDigit - 1
        const isNext = gap <= MAX_GAP && (gap === 0 || skipped !== skippedAtDigit || this.#isGap(text, at - gap, at))
        digits = isNext ? digits + 1 : 1
        lastDigit = at - skipped
        skippedAtDigit = skipped
        if (digits >= least) for (const chain of this.#chains) if (digits >= chain.digits) mark(marks[chain.owner], at)
      } else if (one === CLASS.colon) {
        if (at - skipped - lastColon <= COLONS_APART) for (const owner of this.#ofColons) mark(marks[owner], at)
        lastColon = at - skipped
      }
      state = table[(state << STRIDE_BITS) + one] ?? 0
      if (state >= firstEnd)
        this.#end({ state: state - firstEnd, at, plainFrom, digitBefore: at - skipped - lastDigit }, text, survey)
    }
    if (allUnits > LAST_ASCII) survey.isAscii = false
  }

  #end({ state, at, plainFrom, digitBefore }: LiteralEnd, text: string, survey: Survey): void {
    const ends = elementAt(this.#literals.ends, state)
    for (let one = 0; one < ends.length; one++) {
      const number = ends[one] ?? 0
      const use = this.#uses[number] ?? 0
      const start = at - (this.#lengths[number] ?? 0) + 1
      const isPlain = start >= plainFrom
      if ((use & USE.checked) !== 0) {
        if (!holds(elementAt(this.#known, number), text, { start: isPlain ? start : -1, at, digitBefore })) continue
      }
      survey.seen[number] = 1
      if ((use & USE.verb) !== 0) survey.verbs.push(at)
      if ((use & USE.placed) !== 0 && isPlain && survey.places) {
        if (survey.places.starts.push(start) > MAX_PLACES) survey.places = undefined
        else survey.places.literals.push(number)
      }
      if ((use & USE.owned) !== 0) {
        for (const owner of elementAt(this.#known, number).owners) mark(survey.marks[owner], at)
      }
    }
  }

  #isGap(text: string, from: number, to: number): boolean {
    for (let at = from; at < to; at++) {
      const one = this.#literals.classes[text.charCodeAt(at)] ?? 0
      if (one < CLASS.firstGap || one > CLASS.lastGap) return false
    }
    return true
  }
}

function isLetterOrDigit(rune: number): boolean {
  return (rune < FIRST_EMOJI || rune > LAST_EMOJI) && /[\p{L}\p{N}]/u.test(String.fromCodePoint(rune))
}

function mark(ranges: number[] | undefined, at: number): void {
  if (!ranges) return
  const last = ranges.length - 1
  if (last > 0 && at - (ranges[last] ?? 0) <= NEAR) ranges[last] = at
  else ranges.push(at, at)
}
