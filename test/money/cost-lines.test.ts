import * as fc from "fast-check"
import { expect, test } from "vitest"
import { costLines, formatPico } from "../../src/money/cost-lines.ts"
import { costOf, picoToNano } from "../../src/money/money.ts"

const count = fc.nat(2_000_000)
const tokens = fc.record({
  prompt: count,
  completion: count,
  cached: count,
  cacheWrite: count,
  cacheWrite1h: count,
  reasoning: count,
  audio: count,
  cachedAudio: count,
  audioOutput: count,
  images: fc.nat(20),
  pictures: fc.nat(10),
  searches: fc.nat(10),
  seconds: fc.integer({ min: 0, max: 600_000 }).map((ms) => ms / 1_000),
})
const price = fc.nat(10 ** 9).map((pico) => `0.${String(pico).padStart(12, "0")}`)
const pricing = fc.record(
  {
    prompt: price,
    completion: price,
    request: price,
    input_cache_read: price,
    input_cache_write: price,
    input_cache_write_1h: price,
    internal_reasoning: price,
    image: price,
    audio: price,
    input_audio_cache: price,
    audio_output: price,
    image_output: price,
    second: price,
    web_search: price,
  },
  { requiredKeys: ["prompt", "completion"] },
)

test("the lines of a cost add up to the charge, to the nano-dollar", () => {
  fc.assert(
    fc.property(tokens, pricing, (used, prices) => {
      const sum = costLines(used, prices).reduce((total, { pico }) => total + pico, 0n)
      expect(picoToNano(sum)).toBe(costOf(used, prices))
    }),
  )
})

test("an amount is formatted exactly", () => {
  expect(formatPico(0n)).toBe("0")
  expect(formatPico(1n)).toBe("0.000000000001")
  expect(formatPico(-1_500_000_000_000n)).toBe("-1.5")
  expect(formatPico(2_000_000_000_000n)).toBe("2")
})
