import { ChatTokenLogprobs$inboundSchema } from "@openrouter/sdk/models/chattokenlogprobs.js"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { normalizeLogprobs } from "../../src/formats/chat/logprobs.ts"
import { normalizeChunk, normalizeResult } from "../../src/formats/chat/normalize/normalize.ts"

const CONFORMING = {
  content: [{ token: "a", logprob: -1, bytes: [97], top_logprobs: [{ token: "a", logprob: -1, bytes: null }] }],
  refusal: null,
}

const entry = fc.record(
  {
    token: fc.oneof(fc.string(), fc.jsonValue()),
    logprob: fc.oneof(fc.double(), fc.jsonValue()),
    bytes: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const token = fc
  .tuple(entry, fc.oneof(fc.array(entry), fc.jsonValue()))
  .map(([one, top]) => ({ ...one, top_logprobs: top }))
const list = fc.oneof(fc.array(fc.oneof(token, entry)), fc.jsonValue())
const reported = fc.oneof(
  fc.record({ content: list, refusal: list }, { requiredKeys: [] }),
  fc.record({ tokens: list, token_logprobs: list, top_logprobs: list }, { requiredKeys: [] }),
  fc.jsonValue(),
)

describe("log probabilities of a provider", () => {
  test("are read by a strict client, whatever the provider sends, or removed", () => {
    fc.assert(
      fc.property(reported, (logprobs) => {
        const normal = normalizeLogprobs(logprobs)
        if (normal === undefined) return
        expect(ChatTokenLogprobs$inboundSchema.safeParse(normal).error).toBeUndefined()
        expect(normalizeLogprobs(normal)).toBe(normal)
      }),
    )
  })

  test("that conform are not touched", () => {
    expect(normalizeLogprobs(CONFORMING)).toBe(CONFORMING)
  })

  test.each([
    [{ content: [{ token: "a", logprob: -1 }] }, { token: "a", logprob: -1, bytes: null, top_logprobs: [] }],
    [
      { tokens: ["a"], token_logprobs: [-1], top_logprobs: [{ b: -2 }] },
      { token: "a", logprob: -1, bytes: null, top_logprobs: [{ token: "b", logprob: -2, bytes: null }] },
    ],
  ])("%j become a list of tokens", (logprobs, expected) => {
    const choice = { index: 0, finish_reason: null, logprobs }
    const defaults = { id: "c", model: "m", created: 1, calls: [] }
    const { choices: [inChunk] = [] } = normalizeChunk(
      { choices: [{ ...choice, delta: { content: "a" } }] },
      defaults,
    ) as {
      choices?: { logprobs: unknown }[]
    }
    const { choices: [inResult] = [] } = normalizeResult({ choices: [{ ...choice, message: {} }] }, defaults) as {
      choices?: { logprobs: unknown }[]
    }
    expect([inChunk?.logprobs, inResult?.logprobs]).toEqual([{ content: [expected] }, { content: [expected] }])
  })
})
