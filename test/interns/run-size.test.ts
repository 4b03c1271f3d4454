import * as fc from "fast-check"
import { expect, test } from "vitest"
import { requireSteerRoom } from "../../durable-objects/intern/turns/turn-guards.ts"
import { onAcpEvent, startRun } from "../../src/interns/run/advance.ts"
import { LIMITS, type Run } from "../../src/interns/run/run.ts"
import { steer } from "../../src/interns/run/steering.ts"

const MIB = 1_048_576
/** Of a row in the storage of an object on Cloudflare. */
const MAX_ROW = 2 * MIB

const opening = { id: "r", session: "s", mode: "manual", prompt: "Hello" } as const

function runningTurn(): Run {
  return startRun(opening, { acp: "a", isLive: true }, 0, 1).run
}

test("the questions of an agent that does not stop fit a row, and those beyond the limit are cancelled", () => {
  const size = fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 100_000, max: 900_000 }))
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 40 }), (sizes) => {
      let run = runningTurn()
      let cancelled = 0
      for (const [index, length] of sizes.entries()) {
        const question = { acp: "a", rpc: `q${index}`, operation: "x".repeat(length), options: [], details: {} }
        const step = onAcpEvent(run, { is: "permission", ...question }, 0, 0)
        const { result } = step.effects.find((effect) => effect.do === "respond") ?? { result: undefined }
        if (result !== undefined) cancelled += 1
        run = step.run
        expect(JSON.stringify(run).length).toBeLessThan(MAX_ROW)
      }
      expect(1 + run.queued.length + cancelled).toBe(sizes.length)
    }),
  )
})

test("messages that the agent does not take fit a row, and one beyond the limit is rejected with 503", () => {
  for (const start of [runningTurn(), startRun(opening, undefined, 0, 1).run]) {
    let run = start
    let count = 0
    expect(() => {
      for (; count < 100; count++) {
        const text = "€".repeat(LIMITS.promptChars)
        requireSteerRoom(run, text)
        ;({ run } = steer(run, text, 10 + count))
      }
    }).toThrow("wait, or cancel the turn")
    expect(count).toBe(Math.floor(LIMITS.steerChars / LIMITS.promptChars))
    expect(new TextEncoder().encode(JSON.stringify(run)).byteLength).toBeLessThan(MAX_ROW)
  }
})
