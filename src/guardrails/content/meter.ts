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
  entry: 60,
  edge: 4,
  /** Reading one character backward in a block with a match. */
  backward: 3,
  /** One check whether a thread leads to a match after it. */
  crossingOf: 20,
  /** One character in a scan that follows threads, and each step of them. */
  threadedCharacter: 10,
  threadedStep: 6,
  /** One match of a search, including its finding and redaction. */
  found: 2,
  finding: 60,
  /** Preparing one character of a JSON document, or of a text outside of ASCII. */
  prepared: 20,
  /**
   * One character in the prefilter, including the search for disguised injections.
   */
  surveyed: 2,
  runs: 2,
  /** One word that may be a misspelt verb, with the words after it. */
  misspelt: 400,
  /** One test for a phrase at a position; one character searched for one phrase, and for all phrases. */
  attempt: 40,
  searched: 4,
  dearest: 40,
  /** One character through the model of prompt injections. */
  weighed: 4,
} as const

/** Thrown if the remaining budget is less than the work. */
export class BudgetExceeded extends Error {
  override readonly name = "BudgetExceeded"
}

/** Counts work down. One meter for all texts of a request, one for its response. */
export class Meter {
  readonly budget: number
  #spent = 0

  constructor(budget = SCAN_BUDGET) {
    this.budget = budget
  }

  get spent(): number {
    return this.#spent
  }

  spend(units: number): void {
    this.#spent += units
    if (this.#spent > this.budget) throw new BudgetExceeded()
  }
}

/** Runs a generator to its end, yielding to the event loop between slices. */
export async function inSlices<T>(steps: Generator<void, T>, meter: Meter): Promise<T> {
  for (let due = meter.spent + SLICE; ;) {
    const { done, value } = steps.next()
    if (done) return value
    if (meter.spent < due) continue
    await new Promise((resolve) => setTimeout(resolve, 0))
    due = meter.spent + SLICE
  }
}

/** Runs a generator to its end without yielding. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
