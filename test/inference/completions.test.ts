import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { CompletionsRequest } from "../../src/formats/completions/schemas.ts"
import { costRangeFor } from "../../src/inference/accounting/cost-bound.ts"
import { completionsRequest } from "../../src/inference/endpoints/completions/request.ts"
import { costOf, NO_TOKENS } from "../../src/money/money.ts"
import type { Target } from "../../src/routing/target.ts"

const text = fc.tuple(fc.nat(2_000), fc.constantFrom("a", "é", "語")).map(([length, letter]) => letter.repeat(length))
const bytesIn = (value: string) => new TextEncoder().encode(value).byteLength

describe("the hold of a text completion", () => {
  test("covers every response to its prompts, whatever the context length of the model", () => {
    fc.assert(
      fc.property(
        fc.record({
          prompt: fc.oneof(text, { weight: 3, arbitrary: fc.array(text, { minLength: 2, maxLength: 6 }) }),
          suffix: fc.option(text),
          n: fc.option(fc.integer({ min: 1, max: 4 })),
          max_tokens: fc.integer({ min: 1, max: 10_000 }),
        }),
        fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 10_000, max: 100_000 })),
        fc.constantFrom(1, 1, 1, 0.5),
        (body, contextLength, share) => {
          const request = CompletionsRequest.parse({ model: "acme/m", ...body })
          const { bounds } = completionsRequest(request, bytesIn(JSON.stringify(body)))
          const pricing = { prompt: "0.000001", completion: "0.000002" }
          const target = { endpoint: { pricing, contextLength, maxCompletionTokens: null } } as unknown as Target
          const prompts = [body.prompt].flat()
          // A token is at least one byte, and no prompt is longer than the context.
          const prompt = prompts
            .map((one) => Math.min(contextLength, bytesIn(one) + bytesIn(body.suffix ?? "")))
            .reduce((a, b) => a + b)
          const limit = Math.min(body.max_tokens, contextLength)
          const completion = Math.floor(limit * (body.n ?? 1) * prompts.length * share)
          const charged = costOf({ ...NO_TOKENS, prompt, completion }, pricing)
          expect(costRangeFor([target], bounds, () => undefined).mostNano).toBeGreaterThanOrEqual(charged)
        },
      ),
    )
  })
})
