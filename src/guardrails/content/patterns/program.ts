import { RE2JS } from "re2js"
import { elementAt } from "../../../support/arrays.ts"

/** A program step of re2js; `out` and `arg` are indexes of other steps. */
export type Step = {
  op: number
  out: number
  arg: number
  /** One character, or the beginnings and ends of ranges. */
  runes: Int32Array
  matchRune: (rune: number) => boolean
}

/**
 * A pattern compiled by RE2 to a program for an NFA. re2js only matches complete texts; a stream needs to know where an
 * open match may have begun, so nfa-scanner.ts runs the program itself.
 */
export type Program = {
  steps: readonly Step[]
  start: number
  /** Steps after the first character of a match, by conditions and character. */
  firstSteps: Map<number, Int32Array>
  /** Cache by step and ASCII character of whether the step takes it: 0 unknown, 1 no, 2 yes. */
  consumesCache: Uint8Array | undefined
  /** Most cells of 4 bytes that a search keeps. */
  maxCells: number
}

/** Limits of a stored pattern, and of a built-in detector, whose states most texts of an isolate share. */
const MAX_CELLS = { pattern: 600_000, detector: 2_600_000 }

/** Opcodes of re2js 2.10.0. A test verifies them. */
export const OP = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  fail: 5,
  match: 6,
  nop: 7,
  runes: 8,
  any: 10,
  anyButNewline: 11,
}

const ASCII = 128
/** Larger programs get no cache: it would exceed half a megabyte. */
const MAX_CACHED_STEPS = 4_096

/** Throws the error of re2js for an invalid pattern. */
export function compileProgram(pattern: string, maxCells = MAX_CELLS.pattern): Program {
  const { re2Input } = RE2JS.compile(pattern) as RE2JS & { re2Input: { prog: { inst: Step[]; start: number } } }
  const { inst: steps, start } = re2Input.prog
  const consumesCache = steps.length <= MAX_CACHED_STEPS ? new Uint8Array(steps.length * ASCII) : undefined
  return { steps, start, firstSteps: new Map(), consumesCache, maxCells }
}

/** A program that is compiled on first use and cached. */
export function lazyProgram(pattern: string): () => Program {
  let program: Program | undefined
  return () => (program ??= compileProgram(pattern, MAX_CELLS.detector))
}

export const BEFORE_TEXT = -1
export const AFTER_TEXT = -1

const BEGIN_LINE = 1
const END_LINE = 2
const BEGIN_TEXT = 4
const END_TEXT = 8
const BOUNDARY = 16
const NO_BOUNDARY = 32
const NEWLINE = 10

/** Flags of the conditions between two characters: line and text edges and word boundaries. */
export function conditionsBetween(before: number, after: number): number {
  let flags = before === BEFORE_TEXT ? BEGIN_TEXT | BEGIN_LINE : before === NEWLINE ? BEGIN_LINE : 0
  flags |= after === AFTER_TEXT ? END_TEXT | END_LINE : after === NEWLINE ? END_LINE : 0
  return flags | (isWord(before) === isWord(after) ? NO_BOUNDARY : BOUNDARY)
}

/** RE2's definition: ASCII letters, digits and the underscore. */
function isWord(rune: number): boolean {
  return (rune >= 97 && rune <= 122) || (rune >= 48 && rune <= 57) || (rune >= 65 && rune <= 90) || rune === 95
}

/** Whether the step takes this character. */
export function consumes({ steps, consumesCache }: Program, index: number, rune: number): boolean {
  const step = elementAt(steps, index)
  if (!consumesCache || rune >= ASCII) return stepMatches(step, rune)
  const at = index * ASCII + rune
  if (consumesCache[at] === 0) consumesCache[at] = stepMatches(step, rune) ? 2 : 1
  return consumesCache[at] === 2
}

/** Whether a step consumes a character. */
export function isConsuming({ op }: Step): boolean {
  return op >= OP.runes && op <= OP.anyButNewline
}

export function stepMatches(step: Step, rune: number): boolean {
  if (step.op === OP.any) return true
  if (step.op === OP.anyButNewline) return rune !== NEWLINE
  return step.matchRune(rune)
}

const MAX_CACHED_FIRST_STEPS = 2_048

/** Steps after a match's first character. Cached by conditions and character. */
export function stepsAfterFirst(program: Program, conditions: number, rune: number): Int32Array {
  const key = conditions * 0x110000 + rune
  const cached = program.firstSteps.get(key)
  if (cached) return cached
  const { steps, start } = program
  const found = new Set<number>()
  const seen = new Set<number>()
  const pending = [start]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const step = steps[at]
    if (seen.has(at) || !step) continue
    seen.add(at)
    switch (step.op) {
      case OP.alt:
      case OP.altMatch:
        pending.push(step.out, step.arg)
        break
      case OP.emptyWidth:
        if ((step.arg & ~conditions) === 0) pending.push(step.out)
        break
      case OP.capture:
      case OP.nop:
        pending.push(step.out)
        break
      case OP.match:
      case OP.fail:
        break
      default:
        if (consumes(program, at, rune)) found.add(step.out)
    }
  }
  const result = Int32Array.from(found)
  if (program.firstSteps.size < MAX_CACHED_FIRST_STEPS) program.firstSteps.set(key, result)
  return result
}
