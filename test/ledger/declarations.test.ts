import * as fc from "fast-check"
import { expect, test } from "vitest"
import { Declarations } from "../../src/ledger/declarations.ts"
import { runs } from "../support/runs.ts"

test("the estimate in force never exceeds the ledger's, for lost, delayed or reordered reports", () => {
  const step = fc.record({
    declare: fc.nat(100),
    /** What happens to the report, and how many later ones overtake it. */
    outcome: fc.constantFrom("answered", "answer lost", "request lost", "ignored"),
    delay: fc.nat(3),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const declarations = new Declarations()
      let ledger = { sequence: 0, estimateNano: 0 }
      const late: { at: number; run: () => void }[] = []
      for (const [at, { declare, outcome, delay }] of steps.entries()) {
        const sent = declarations.next(declare)
        const run = () => {
          if (outcome === "ignored") return declarations.ignored(sent.sequence)
          if (outcome !== "request lost" && sent.sequence > ledger.sequence) ledger = sent
          if (outcome === "answered") declarations.accepted(sent.sequence)
        }
        late.push({ at: at + delay, run })
        for (const one of late.filter((other) => other.at <= at)) {
          one.run()
          late.splice(late.indexOf(one), 1)
          expect(declarations.inForceNano).toBeLessThanOrEqual(ledger.estimateNano)
        }
        expect(declarations.inForceNano).toBeLessThanOrEqual(ledger.estimateNano)
      }
    }),
    { numRuns: runs(8) },
  )
})
