import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toTokens } from "../../src/formats/chat/meter.ts"
import { toMessagesUsage } from "../../src/formats/messages/usage.ts"
import { usageOf } from "../../src/formats/usage.ts"
import type { Json } from "../../src/support/text/json.ts"

const chargeOf = (usage: unknown) => ({
  tokens: toTokens(usage) ?? expect.fail("The usage was not read."),
  tokensFrom: "upstream" as const,
  costNano: 0,
  overrunNano: 0,
  byok: null,
})

test("details are integers, never null", () => {
  const reported = {
    prompt_tokens: 10,
    completion_tokens: "5",
    prompt_tokens_details: {
      cached_tokens: null,
      audio_tokens: 1.5,
      text_tokens: "8",
      cache: { short: null, long: 2.5 },
    },
    completion_tokens_details: { audio_tokens: -1, accepted_prediction_tokens: 1e20, kind: "text" },
  }
  expect(usageOf(chargeOf(reported), reported)).toEqual({
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_tokens_details: { audio_tokens: 2, text_tokens: 8, cache: { long: 3 } },
    completion_tokens_details: { kind: "text" },
  })
})

const count = fc.oneof(fc.nat(1_000), fc.double({ min: 0, max: 1_000, noNaN: true }), fc.constant(null))

test("in each format the counts of the client add up to the charged tokens, whatever parts a provider reports", () => {
  const parts = { cached_tokens: count, cache_write_tokens: count, cache_write_1h_tokens: count, audio_tokens: count }
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(1_000), fc.record(parts), count, (prompt, completion, details, reasoning) => {
      const reported: Json = {
        prompt_tokens: prompt,
        completion_tokens: completion,
        prompt_tokens_details: details,
        completion_tokens_details: { reasoning_tokens: reasoning },
      }
      const charge = chargeOf(reported)
      const usage = usageOf(charge, reported)
      const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } =
        toMessagesUsage(usage)
      expect([input_tokens, cache_creation_input_tokens, cache_read_input_tokens].map(Number)).toSatisfy(
        (counts: number[]) => counts.every((one) => one >= 0) && counts.reduce((sum, one) => sum + one) === prompt,
      )
      expect(output_tokens).toBe(completion)
      expect(charge.tokens.reasoning).toBeLessThanOrEqual(completion)
      expect(charge.tokens.audio + charge.tokens.cached + charge.tokens.cacheWrite).toBeLessThanOrEqual(prompt)
    }),
  )
})
