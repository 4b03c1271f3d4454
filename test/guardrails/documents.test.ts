import { describe, expect, test } from "vitest"
import { toAppliedGuardrails } from "../../src/guardrails/applied.ts"
import { screeningOf } from "../../src/guardrails/create-screening.ts"
import type { Json } from "../../src/support/text/json.ts"
import { PLAIN_CALL } from "../support/screening.ts"

/** Guardrails on requests and responses that are not conversations. */

const ADDRESS = "ada@example.com"

function screening(action: "block" | "redact" | "flag") {
  const rules = JSON.stringify({ content_filter_builtins: [{ slug: "email", action }] })
  const row = { id: "g", name: "Rail", isDefault: false, limitNano: null, resetInterval: null, rules }
  const applied = { ...row, includeByokInBudgets: false, byKey: true, byMember: false, keyHash: "k", userId: null }
  const made = screeningOf(toAppliedGuardrails([applied]), PLAIN_CALL)
  if (!made) throw new Error("no content rules")
  return made
}

const RESPONSES: readonly (readonly [string, Json])[] = [
  ["an image", { created: 1, data: [{ b64_json: "aGk=", revised_prompt: `A letter to ${ADDRESS}` }] }],
  ["a ranking", { results: [{ index: 0, relevance_score: 1, document: { text: ADDRESS } }] }],
  ["a transcription", { text: `Write to ${ADDRESS}.` }],
  ["segments without text", { text: "", segments: [{ text: ADDRESS }] }],
  ["a video", { id: "v", status: "failed", error: { message: ADDRESS } }],
]

describe.each(RESPONSES)("an address in the response with %s", (_, response) => {
  test("is redacted", async () => {
    const passed = JSON.stringify(await screening("redact").response(response))
    expect(passed).toContain("[EMAIL]")
    expect(passed).not.toContain(ADDRESS)
  })

  test("is blocked", async () => {
    await expect(screening("block").response(response)).rejects.toMatchObject({
      metadata: { reason: "guardrail_blocked", patterns: ["email"] },
    })
  })
})

test("a redacted transcription keeps nothing that repeats its text in pieces", async () => {
  const pieces = ["ada", "@", "example", ".com"].map((token) => ({ token, word: token, logprob: 0 }))
  const usage = { type: "duration", seconds: 2 }
  const response = { text: ADDRESS, language: "en", usage, logprobs: pieces, words: pieces, chunks: pieces }
  expect(await screening("redact").response(response)).toEqual({ text: "[EMAIL]", language: "en", usage })
})

test.each([
  ["signed address of an image", { data: [{ url: `https://cdn.example.com/a.png?user=${ADDRESS}&sig=1` }] }],
  ["vector in base64", { object: "list", data: [{ object: "embedding", index: 0, embedding: "AAAA" }] }],
])("the %s is not changed", async (_, response) => {
  expect(await screening("redact").response(response)).toEqual(response)
})

describe("token ids in place of text", () => {
  test.each([[[1, 2, 3]], [[[1, 2], [3]]]])("are rejected where a guardrail filters content: %j", async (input) => {
    const request = { model: "a/b", input }
    await expect(screening("block").request(request)).rejects.toMatchObject({
      message: expect.stringContaining("Send text"),
      metadata: { reason: "guardrail_unchecked" },
    })
    await expect(screening("redact").request(request)).rejects.toThrow("token ids")
  })

  test("are accepted where it only flags", async () => {
    const request = { model: "a/b", input: [1, 2, 3] }
    expect(await screening("flag").request(request)).toBe(request)
  })
})
