import { RE2JS, RE2JSException } from "re2js"
import { runToCompletion, BudgetExceeded, WorkBudget } from "../work-budget.ts"
import { compileProgram, type Program } from "./program.ts"
import { slowTexts } from "../texts/slow-texts.ts"
import { exploreStates, findRanges, Searcher } from "./dfa-search.ts"

export const MAX_PATTERN_LENGTH = 100_000
/**
 * Limit of program steps per guardrail, each about 150 bytes of an isolate's 128 MB. `(?:a{1000}){1000}` is short and
 * has a million of them.
 */
export const MAX_STEPS = 120_000
/**
 * Work limits (work-budget.ts) to construct all DFA states of a pattern, and of all patterns of one guardrail: about
 * 0.2 and 0.8 s. Patterns within these limits are searched with tables only, for any text.
 */
export const EXPLORE_BUDGET = 40_000_000
const EXPLORE_BUDGET_OF_ALL = 160_000_000

/** Sum over the patterns of a guardrail so far. */
export type PatternSizes = { steps: number; work: number }
export const NO_SIZES: PatternSizes = { steps: 0, work: 0 }

/** Why a pattern is invalid, as an error text; undefined if it is valid. `stepsBefore`: of the other patterns. */
export function problemOf(pattern: string, stepsBefore = 0): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return `must be at most ${MAX_PATTERN_LENGTH} characters.`
  if (hasNestedRepeat(pattern)) {
    return "nests unlimited repetitions, as in (a+)+. Limit one of the two, as in (a{1,64})+."
  }
  try {
    if (stepsBefore + programOf(pattern).steps.length <= MAX_STEPS) return broadnessProblem(pattern)
    const suffix = stepsBefore > 0 ? " together with those before it" : ""
    return `is too large${suffix} when repetitions are expanded. Use fewer repetitions or a simpler pattern.`
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause
    return `is not a regular expression of RE2's syntax, which has no look-around and no back-references (${cause.message}).`
  }
}

/** Texts without a letter or digit in common; one has no letters. */
const DISSIMILAR_TEXTS = ["Fix bug 17", "Hello yes", "4, 2"]

/** Why a pattern is rejected that matches nearly every text; undefined if it does not. */
function broadnessProblem(pattern: string): string | undefined {
  const compiled = RE2JS.compile(pattern)
  if (compiled.matcher("").find())
    return "matches the empty string, so it matches every text. Use + instead of *, or {1,9} instead of {0,9}."
  if (DISSIMILAR_TEXTS.every((text) => compiled.matcher(text).find()))
    return "matches nearly every text. Make it more specific."
  return undefined
}

/** Adds the pattern of a content filter to those before it. Returns the error text if it is rejected. */
export function addPattern(pattern: string, before: PatternSizes): PatternSizes | string {
  const problem = problemOf(pattern, before.steps)
  if (problem !== undefined) return problem
  const program = programOf(pattern)
  try {
    const work = before.work + explorationWork(pattern, program)
    if (work <= EXPLORE_BUDGET_OF_ALL) return { steps: before.steps + program.steps.length, work }
    return "is too complex together with those before it. Simplify the longest, or split them into two guardrails."
  } catch (cause) {
    if (cause instanceof BudgetExceeded) return TOO_COMPLEX
    throw cause
  }
}

const TOO_COMPLEX =
  "cannot be searched at 20 MB per second in every text. Shorten its repetitions, write exact " +
  "ones as {0,20} instead of {20}, and split long lists into several filters."

/** A unit takes about 5 ns: 20 MB a second or more once warm, by test/bench/patterns.ts. */
const MAX_UNITS_PER_CHARACTER = 10

const workByProgram = new WeakMap<Program, number>()

/** Throws if a pattern has too many DFA states. */
function explorationWork(pattern: string, program: Program): number {
  const cached = workByProgram.get(program)
  if (cached !== undefined) return cached
  const budget = new WorkBudget(EXPLORE_BUDGET)
  exploreStates(new Searcher(program), budget)
  for (const text of slowTexts(pattern)) checkSpeed(program, text)
  workByProgram.set(program, budget.spent)
  return budget.spent
}

/** Throws if searching this text, with the tables constructed, exceeds MAX_UNITS of work per character. */
function checkSpeed(program: Program, text: string): void {
  const searcher = new Searcher(program)
  try {
    runToCompletion(findRanges(searcher, text, new WorkBudget(EXPLORE_BUDGET)))
    runToCompletion(findRanges(searcher, text, new WorkBudget(text.length * MAX_UNITS_PER_CHARACTER)))
  } finally {
    searcher.forward.clear()
    searcher.backward.clear()
  }
}

/**
 * Cache of the latest programs: the patterns of guardrails are loaded again with each key.
 */
const programs = new Map<string, Program>()
const MAX_PROGRAM_STEPS = 2 * MAX_STEPS
let programSteps = 0

export function programOf(pattern: string): Program {
  const cached = programs.get(pattern)
  if (cached) return cached
  const program = compileProgram(pattern)
  programs.set(pattern, program)
  programSteps += program.steps.length
  for (const [oldest, { steps }] of programs) {
    if (programSteps <= MAX_PROGRAM_STEPS || oldest === pattern) break
    programs.delete(oldest)
    programSteps -= steps.length
  }
  return program
}

type RepeatScope = { hasUnlimited: boolean }

/**
 * Harmless to RE2, but rejected: other gateways with this API reject it, and a pattern should work the same everywhere.
 */
function hasNestedRepeat(pattern: string): boolean {
  const groups: RepeatScope[] = [{ hasUnlimited: false }]
  let closed: RepeatScope | undefined
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    const inner = closed
    closed = undefined
    if (char === "\\") at += pattern[at + 1] === "Q" ? quotedLength(pattern, at) : 1
    else if (char === "[") at = classEnd(pattern, at)
    else if (char === "(") groups.push({ hasUnlimited: false })
    else if (char === ")") {
      closed = groups.length > 1 ? groups.pop() : undefined
      const outer = groups.at(-1)
      if (closed?.hasUnlimited && outer) outer.hasUnlimited = true
    } else if (char === "*" || char === "+" || (char === "{" && /^\{\d+,\}/.test(pattern.slice(at, at + 12)))) {
      if (inner?.hasUnlimited) return true
      const group = groups.at(-1)
      if (group) group.hasUnlimited = true
    }
  }
  return false
}

/** Length of `\Q…\E` after its first character. */
function quotedLength(pattern: string, at: number): number {
  const end = pattern.indexOf("\\E", at + 2)
  return (end === -1 ? pattern.length : end + 1) - at
}

function classEnd(pattern: string, from: number): number {
  let at = from + 1
  if (pattern[at] === "^") at++
  // A leading bracket is literal.
  if (pattern[at] === "]") at++
  for (; at < pattern.length && pattern[at] !== "]"; at++) {
    if (pattern[at] === "\\") at++
    else if (pattern.startsWith("[:", at)) at = Math.max(at, pattern.indexOf(":]", at) + 1)
  }
  return at
}
