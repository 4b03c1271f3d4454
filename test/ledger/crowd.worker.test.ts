import { expect, test } from "vitest"
import { good } from "../support/mock-provider.ts"
import { newKey, newWorkspace, openHolds } from "../support/world.ts"

test("500 concurrent streams of a key with room for 100: 100 succeed, 400 get 402, and exactly the limit is spent", async () => {
  const workspace = await newWorkspace()
  // A cent per request for any content: the held amount is the charge.
  const { as } = await newKey(workspace, { limit: 1 })
  const answers = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const response = await as.chat("played/flat", "Hi", { stream: true, play: good("Hello there") })
      return { status: response.status, raw: await response.text() }
    }),
  )
  const served = answers.filter(({ status }) => status === 200)
  expect(served).toHaveLength(100)
  expect(served.every(({ raw }) => raw.endsWith("data: [DONE]\n\n"))).toBe(true)
  expect(answers.filter(({ status }) => status === 402)).toHaveLength(400)
  expect((await workspace.ledger.balance()).spentNano).toBe(1_000_000_000)
  expect(await openHolds(workspace)).toEqual([])
})
