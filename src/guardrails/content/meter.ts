/**
 * Work of content filters, counted and not timed: in production a Worker's clock stands still while it computes. One
 * unit is one character through one table; dearer work counts more. A unit of any kind of work is 2 to 7 ns of CPU time
 * on the machine this was measured on while it had no other work, and up to twice that beside other work
 * (test/bench/units.ts): the budget is about one second at most.
 */
export const SCAN_BUDGET = 150_000_000
/** About 10 ms of work: after this much, generators yield to the event loop. */
const SLICE = 2_000_000

/** The unit costs of work that is not a look into a table. */
export const COST = {
  /** Working out one entry of a table, and each edge looked at for it. */
  entry: 60,
  edge: 4,
  /** One character read backward where something matches. */
  backward: 3,
  /** One check whether a thread leads to a match after it. */
  meeting: 20,
  /** One character in a scan that follows threads, and each step of them. */
  threadedCharacter: 10,
  threadedStep: 6,
  /** One match of a search, with its finding and its redaction. */
  found: 2,
  finding: 60,
  /** Preparing one character of a JSON document, or of a text outside of ASCII. */
  prepared: 20,
  /**
   * One character as it is looked at for what detectors cannot do without (prefilter), and for disguised injections.
   */
  surveyed: 2,
  runs: 2,
  /** One word that may be a misspelt verb, with the words after it. */
  misspelt: 400,
  /** One look whether a phrase is at a place; one character searched for a phrase, and for all of them. */
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

/** Counts work down. One for all texts of a request, one for all of its answer. */
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
