import * as fc from "fast-check"
import { expect, test } from "vitest"
import { Declarations } from "../../src/ledger/declarations.ts"
import { runs } from "../support/runs.ts"

test("what is taken to be in force is never more than what the ledger has, however reports are lost, delayed or reordered", () => {
  const step = fc.record({
    declare: fc.nat(100),
    /** What becomes of the report, and how many later ones overtake it. */
    fate: fc.constantFrom("answered", "answer lost", "request lost", "ignored"),
    delay: fc.nat(3),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const declarations = new Declarations()
      let ledger = { sequence: 0, estimateNano: 0 }
      const late: { at: number; run: () => void }[] = []
      for (const [at, { declare, fate, delay }] of steps.entries()) {
        const sent = declarations.next(declare)
        const run = () => {
          if (fate === "ignored") return declarations.ignored(sent.sequence)
          if (fate !== "request lost" && sent.sequence > ledger.sequence) ledger = sent
          if (fate === "answered") declarations.accepted(sent.sequence)
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
