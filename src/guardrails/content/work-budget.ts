/**
 * Counts the work of content filters, because the clock of a Worker stands still during computation. One unit is one
 * character in one table; more expensive work costs more units. A unit takes 2 to 7 ns of CPU time on an idle machine
 * and up to twice that on a busy one (test/bench/units.ts), so the budget is at most about one second.
 */
export const SCAN_BUDGET = 150_000_000
/** About 10 ms of work: after this much, generators yield to the event loop. */
const SLICE = 2_000_000

/** Units of other work than a table lookup. */
export const COST = {
  /** Computing one table entry, and each edge inspected for it. */
  tableEntry: 60,
  edge: 4,
  /** Reading one character backward in a block with a match. */
  backwardCharacter: 3,
  /** One check whether a thread leads to a match after it. */
  crossingCheck: 20,
  /** One character in a scan that follows threads, and each step of them. */
  nfaCharacter: 10,
  nfaStep: 6,
  /** One match of a search, including its finding and redaction. */
  match: 2,
  finding: 60,
  /** Preparing one character of a JSON document, or of a text outside of ASCII. */
  decodedCharacter: 20,
  /**
   * One character in the prefilter, including the search for obfuscated injections.
   */
  prefilterCharacter: 2,
  obfuscationCharacter: 2,
  /** One word that may be a misspelt verb, with the words after it. */
  misspelledWord: 400,
  /** One test for a phrase at a position; one character searched for one phrase, and for all phrases. */
  phraseAttempt: 40,
  regexCharacter: 4,
  allPhrasesCharacter: 40,
  /** One character through the model of prompt injections. */
  modelCharacter: 4,
} as const

/** Thrown if the remaining budget is less than the work. */
export class BudgetExceeded extends Error {
  override readonly name = "BudgetExceeded"
}

/** Counts work. One budget for all texts of a request, one for its response. */
export class WorkBudget {
  readonly limit: number
  #spent = 0

  constructor(limit = SCAN_BUDGET) {
    this.limit = limit
  }

  get spent(): number {
    return this.#spent
  }

  spend(units: number): void {
    this.#spent += units
    if (this.#spent > this.limit) throw new BudgetExceeded()
  }
}

/** Runs a generator to its end, yielding to the event loop between slices. */
export async function runInSlices<T>(steps: Generator<void, T>, budget: WorkBudget): Promise<T> {
  for (let nextYield = budget.spent + SLICE; ;) {
    const { done, value } = steps.next()
    if (done) return value
    if (budget.spent < nextYield) continue
    await new Promise((resolve) => setTimeout(resolve, 0))
    nextYield = budget.spent + SLICE
  }
}

/** Runs a generator to its end without yielding. */
export function runToCompletion<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
