import { isAscii, normalizeRune, IGNORED } from "../content/texts/normalize.ts"
import { hasRequiredContext } from "./literal-context.ts"
import { CLASS, type Literal, AhoCorasick, STRIDE_BITS } from "./aho-corasick.ts"
import { elementAt } from "../../support/arrays.ts"
import { addCandidate } from "./candidate-ranges.ts"

/** Requirement of a text for a match: one of the literals, a number of digits, or two near colons. */
export type Triggers = {
  literals?: readonly Literal[]
  /** Minimum digits with at most two characters of ` .()/-` between neighbours. */
  digits?: number
  /** Two colons, with at most four characters between them. */
  colons?: true
}

/** Positions of a text where detectors may match. */
export type PrefilterResult = {
  /** For each detector: ranges of which every match touches one, as first and last index. */
  candidates: readonly number[][]
  /** For each literal whether the text contains it, by its index in `indexes`. */
  present: Uint8Array
  indexes: ReadonlyMap<string, number>
  /** Starts and indexes of the `positioned` literals in the text; undefined if there are too many. */
  literalHits: { starts: number[]; literals: number[] } | undefined
  /** Ends of the `verbParts` literals, in order. */
  verbEnds: number[]
  /** The text has ignored characters (normalize.ts). */
  hasIgnored: boolean
  /** The text has letters or digits of two UTF-16 units. */
  hasAstralLetters: boolean
  isAscii: boolean
}

const MAX_GAP = 2
const MAX_LITERAL_HITS = 200_000
const MAX_COLON_DISTANCE = 5
const LAST_ASCII = 0x7f
/** Emoji, which are no letters or digits. */
const FIRST_EMOJI = 0x1f300
const LAST_EMOJI = 0x1faff

type IndexedLiteral = Literal & {
  owners: number[]
  needsStart: boolean
  needsContext: boolean
  isNonAscii: boolean
  isVerb: boolean
}

/** Action at the end of a literal: see `hasRequiredContext` and the fields of `PrefilterResult`. */
const ACTION = { checkContext: 1, recordVerb: 2, recordStart: 4, addCandidate: 8 } as const

function actionsOf({ needsContext, isVerb, needsStart, owners }: IndexedLiteral): number {
  return (
    (needsContext ? ACTION.checkContext : 0) |
    (isVerb ? ACTION.recordVerb : 0) |
    (needsStart ? ACTION.recordStart : 0) |
    (owners.length > 0 ? ACTION.addCandidate : 0)
  )
}

/** Before any text. */
const NEVER = -1_000_000

/** End of a literal. `rawFrom`: the text is unchanged from there; `digitBefore`: distance to the last digit. */
type LiteralEnd = { state: number; at: number; rawFrom: number; digitBefore: number }

/** Scans a text once for the triggers of all detectors. */
export class Prefilter {
  readonly #triggers: readonly Triggers[]
  readonly #indexed: IndexedLiteral[] = []
  readonly #indexes = new Map<string, number>()
  readonly #automaton: AhoCorasick
  /** By literal: its length, and its actions (USE). */
  readonly #lengths: Uint16Array
  readonly #actions: Uint8Array
  readonly #digitTriggers: { owner: number; digits: number }[]
  readonly #colonOwners: number[]
  readonly #minDigits: number
  readonly #maxLength: number
  /** Reused, so that a check of a short text allocates nothing. */
  #scratch: PrefilterResult | undefined

  /**
   * `positioned`: literals whose starts are needed; `presenceOnly`: literals whose presence is needed; `verbParts`:
   * literals whose ends are needed.
   */
  constructor(
    triggers: readonly Triggers[],
    positioned: readonly string[],
    presenceOnly: readonly string[],
    verbParts: readonly string[] = [],
  ) {
    this.#triggers = triggers
    for (const [owner, { literals }] of triggers.entries())
      for (const one of literals ?? []) this.#indexTrigger(one, owner)
    for (const text of positioned) this.#indexPlain(text).needsStart = true
    for (const text of presenceOnly) this.#indexPlain(text)
    for (const text of verbParts) this.#indexPlain(text).isVerb = true
    this.#automaton = new AhoCorasick(this.#indexed.map(({ text }) => text))
    this.#lengths = Uint16Array.from(this.#indexed, ({ text }) => text.length)
    this.#actions = Uint8Array.from(this.#indexed, actionsOf)
    this.#digitTriggers = [...triggers.entries()].flatMap(([owner, { digits }]) =>
      digits === undefined ? [] : [{ owner, digits }],
    )
    this.#colonOwners = [...triggers.entries()].filter(([, { colons }]) => colons).map(([owner]) => owner)
    this.#minDigits = Math.min(...this.#digitTriggers.map(({ digits }) => digits))
    this.#maxLength = Math.max(...this.#indexed.map(({ text }) => text.length))
  }

  literalIndex(text: string): number {
    return this.#indexes.get(text) as number
  }

  #indexPlain(text: string): IndexedLiteral {
    const index = this.#indexes.get(text)
    if (index !== undefined) return elementAt(this.#indexed, index)
    const literal: IndexedLiteral = {
      text,
      owners: [],
      needsStart: false,
      needsContext: !isAscii(text),
      isNonAscii: !isAscii(text),
      isVerb: false,
    }
    this.#indexes.set(text, this.#indexed.push(literal) - 1)
    return literal
  }

  #indexTrigger(literal: Literal, owner: number): void {
    const isPlain = Object.keys(literal).length === 1
    if (isPlain) this.#indexPlain(literal.text).owners.push(owner)
    else {
      const isNonAscii = !isAscii(literal.text)
      this.#indexed.push({
        ...literal,
        owners: [owner],
        needsStart: false,
        needsContext: true,
        isNonAscii,
        isVerb: false,
      })
    }
  }

  scan(text: string): PrefilterResult {
    const result: PrefilterResult = {
      candidates: this.#triggers.map((): number[] => []),
      present: new Uint8Array(this.#indexed.length),
      indexes: this.#indexes,
      literalHits: { starts: [], literals: [] },
      verbEnds: [],
      hasIgnored: false,
      hasAstralLetters: false,
      isAscii: true,
    }
    this.#scan(text, 0, text.length, result)
    return result
  }

  /** Whether a text has a candidate of one detector. */
  hasCandidate(text: string, owner: number): boolean {
    const result = (this.#scratch ??= { ...this.scan(""), literalHits: undefined })
    for (const ranges of result.candidates) ranges.length = 0
    result.verbEnds = []
    this.#scan(text, 0, text.length, result)
    return (result.candidates[owner]?.length ?? 0) > 0
  }

  /** Updates a result for a text with changes at some indexes, without candidates. */
  rescan(
    { present, literalHits, ...others }: PrefilterResult,
    text: string,
    changed: readonly number[],
  ): PrefilterResult {
    const result: PrefilterResult = {
      ...others,
      candidates: [],
      present: present.slice(),
      literalHits: literalHits && { starts: [...literalHits.starts], literals: [...literalHits.literals] },
      verbEnds: [],
    }
    let last = 0
    for (let at = 0; at < changed.length; at++) {
      const first = changed[at] ?? 0
      let to = first + this.#maxLength
      for (let next = changed[at + 1]; next !== undefined && next <= to + this.#maxLength; next = changed[++at + 1]) {
        to = next + this.#maxLength
      }
      const from = Math.max(last, first - this.#maxLength)
      last = Math.min(text.length, to)
      this.#scan(text, from, last, result)
    }
    return result
  }

  #scan(text: string, from: number, to: number, result: PrefilterResult): void {
    const { classes, table, firstFinal: firstEnd } = this.#automaton
    const { candidates } = result
    const minDigits = this.#minDigits
    /** Ignored units so far, since distances count only the characters that are read. */
    let skipped = 0
    let rawFrom = 0
    let digits = 0
    let lastDigit = NEVER
    let skippedAtDigit = 0
    let lastColon = NEVER
    let state = 0
    let allUnits = 0
    for (let at = from; at < to; at++) {
      let charClass: number = CLASS.other
      // Fast path: most characters are letters outside literals.
      for (; at < to; at++) {
        const unit = text.charCodeAt(at)
        allUnits |= unit
        charClass = classes[unit] ?? 0
        if (charClass < CLASS.other || charClass >= CLASS.ignored) break
        state = table[(state << STRIDE_BITS) + charClass] ?? 0
        if (state >= firstEnd)
          this.#onEnd({ state: state - firstEnd, at, rawFrom, digitBefore: at - skipped - lastDigit }, text, result)
      }
      if (at === to) break
      if (charClass >= CLASS.ignored) {
        const rune = text.codePointAt(at) ?? 0
        const normalized = normalizeRune(rune)
        const width = rune > 0xffff ? 2 : 1
        rawFrom = at + width
        skipped += normalized === IGNORED ? width : width - 1
        at += width - 1
        if (normalized === IGNORED) {
          result.hasIgnored = true
          continue
        }
        if (width === 2) result.hasAstralLetters ||= isLetterOrDigit(rune)
        charClass = normalized > 0xffff ? CLASS.other : (classes[normalized] ?? 0)
        if (charClass >= CLASS.ignored) charClass = CLASS.other
      }
      if (charClass === CLASS.digit) {
        const gap = at - skipped - lastDigit - 1
        const isNext = gap <= MAX_GAP && (gap === 0 || skipped !== skippedAtDigit || this.#isGap(text, at - gap, at))
        digits = isNext ? digits + 1 : 1
        lastDigit = at - skipped
        skippedAtDigit = skipped
        if (digits >= minDigits)
          for (const chain of this.#digitTriggers) if (digits >= chain.digits) addCandidate(candidates[chain.owner], at)
      } else if (charClass === CLASS.colon) {
        if (at - skipped - lastColon <= MAX_COLON_DISTANCE)
          for (const owner of this.#colonOwners) addCandidate(candidates[owner], at)
        lastColon = at - skipped
      }
      state = table[(state << STRIDE_BITS) + charClass] ?? 0
      if (state >= firstEnd)
        this.#onEnd({ state: state - firstEnd, at, rawFrom, digitBefore: at - skipped - lastDigit }, text, result)
    }
    if (allUnits > LAST_ASCII) result.isAscii = false
  }

  #onEnd({ state, at, rawFrom, digitBefore }: LiteralEnd, text: string, result: PrefilterResult): void {
    const ends = elementAt(this.#automaton.outputs, state)
    for (let entry = 0; entry < ends.length; entry++) {
      const index = ends[entry] ?? 0
      const actions = this.#actions[index] ?? 0
      const start = at - (this.#lengths[index] ?? 0) + 1
      const isRaw = start >= rawFrom
      if ((actions & ACTION.checkContext) !== 0) {
        if (
          !hasRequiredContext(elementAt(this.#indexed, index), text, {
            start: isRaw ? start : -1,
            at,
            digitBefore,
          })
        )
          continue
      }
      result.present[index] = 1
      if ((actions & ACTION.recordVerb) !== 0) result.verbEnds.push(at)
      if ((actions & ACTION.recordStart) !== 0 && isRaw && result.literalHits) {
        if (result.literalHits.starts.push(start) > MAX_LITERAL_HITS) result.literalHits = undefined
        else result.literalHits.literals.push(index)
      }
      if ((actions & ACTION.addCandidate) !== 0) {
        for (const owner of elementAt(this.#indexed, index).owners) addCandidate(result.candidates[owner], at)
      }
    }
  }

  #isGap(text: string, from: number, to: number): boolean {
    for (let at = from; at < to; at++) {
      const charClass = this.#automaton.classes[text.charCodeAt(at)] ?? 0
      if (charClass < CLASS.firstGap || charClass > CLASS.lastGap) return false
    }
    return true
  }
}

function isLetterOrDigit(rune: number): boolean {
  return (rune < FIRST_EMOJI || rune > LAST_EMOJI) && /[\p{L}\p{N}]/u.test(String.fromCodePoint(rune))
}
