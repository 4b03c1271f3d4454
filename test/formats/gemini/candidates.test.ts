import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Candidates } from "../../../src/formats/gemini/candidates.ts"
import { toUsageMetadata } from "../../../src/formats/gemini/usage.ts"

type Json = Record<string, unknown>
type Candidate = { index: number; content: { parts: Json[] }; finishReason?: string; groundingMetadata?: Json }

const chunk = (delta: Json, reason: string | null = null, more: Json = {}) => ({
  choices: [{ index: 0, delta, finish_reason: reason, ...more }],
})

function read(chunks: readonly Json[], includesThoughts = true): { candidates: Candidate[]; parts: Json[] } {
  const candidates = new Candidates(includesThoughts)
  const all = [...chunks.flatMap((one) => candidates.advance(one)), ...candidates.finish()] as Candidate[]
  return { candidates: all, parts: all.flatMap(({ content }) => content.parts) }
}

const isString = (value: unknown) => typeof value === "string"
const textIn = (parts: readonly Json[], isThought: boolean) =>
  parts
    .filter((part) => (part["thought"] === true) === isThought)
    .map(({ text }) => text)
    .filter(isString)
    .join("")

describe("the candidates of a stream", () => {
  const piece = fc.string({ unit: "grapheme", maxLength: 6 })
  const call = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), args: fc.dictionary(fc.string(), fc.jsonValue()) })

  test("have its text, its reasoning and its calls, however they are split", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }),
        fc.array(piece, { maxLength: 6 }),
        fc.array(call, { maxLength: 3 }),
        fc.nat(20),
        (texts, thoughts, calls, cut) => {
          const pieces = calls.flatMap(({ name, args }, index) => {
            const json = JSON.stringify(args)
            const first = {
              index,
              id: `c${index}`,
              type: "function",
              function: { name, arguments: json.slice(0, cut) },
            }
            const rest = { index, function: { arguments: json.slice(cut) } }
            return [first, rest].map((one) => chunk({ tool_calls: [one] }))
          })
          const { parts } = read([
            ...thoughts.map((reasoning) => chunk({ reasoning })),
            ...texts.map((content) => chunk({ content })),
            ...pieces,
            chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
          ])
          expect(textIn(parts, false)).toBe(texts.join(""))
          expect(textIn(parts, true)).toBe(thoughts.join(""))
          expect(parts.flatMap(({ functionCall: one }) => (one ? [one] : []))).toEqual(
            calls.map(({ name, args }, index) => ({
              id: `c${index}`,
              name,
              args: JSON.parse(JSON.stringify(args)) as Json,
            })),
          )
        },
      ),
    )
  })

  test("are well-formed whatever a chunk contains", () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const field = fc.constantFrom("content", "reasoning", "reasoning_details", "tool_calls", "images", "annotations")
    const delta = fc.dictionary(field, value)
    fc.assert(
      fc.property(fc.array(fc.tuple(delta, value, value), { maxLength: 4 }), (chunks) => {
        const { candidates } = read(
          chunks.map(([one, logprobs, native]) => chunk(one, null, { logprobs, native_finish_reason: native })),
        )
        for (const { index, content } of candidates) {
          expect(index).toBe(0)
          for (const part of content.parts) expect(Object.keys(part).length).toBeGreaterThan(0)
        }
        expect(candidates.at(-1)?.finishReason).toEqual(expect.any(String))
      }),
    )
  })
})

test.each([
  ["stop", undefined, "STOP"],
  ["length", undefined, "MAX_TOKENS"],
  ["content_filter", undefined, "SAFETY"],
  ["content_filter", "recitation", "RECITATION"],
  ["stop", "MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"],
  ["error", "weird", "OTHER"],
])("the finish reason %s (%s) becomes %s", (reason, native, expected) => {
  const { candidates } = read([chunk({ content: "a" }, reason, { native_finish_reason: native })])
  expect(candidates.at(-1)?.finishReason).toBe(expected)
})

test("citations become grounding, with positions in bytes", () => {
  const citation = (url: string, start: number, end: number) => ({
    type: "url_citation",
    url_citation: { url, title: `Title of ${url}`, start_index: start, end_index: end },
  })
  const annotations = [
    citation("https://a.example", 0, 4),
    citation("https://b.example", 5, 8),
    citation("https://a.example", 0, 0),
  ]
  const { candidates } = read([chunk({ content: "Zürü is é" }), chunk({ annotations }, "stop")])
  expect(candidates.at(-1)?.groundingMetadata).toEqual({
    groundingChunks: [
      { web: { uri: "https://a.example", title: "Title of https://a.example" } },
      { web: { uri: "https://b.example", title: "Title of https://b.example" } },
    ],
    groundingSupports: [
      { segment: { startIndex: 0, endIndex: 6, text: "Zürü" }, groundingChunkIndices: [0] },
      { segment: { startIndex: 7, endIndex: 10, text: "is " }, groundingChunkIndices: [1] },
    ],
    webSearchQueries: [],
  })
})

test("log probabilities are returned for chosen and top tokens", () => {
  const token = {
    token: "Hi",
    logprob: -0.1,
    top_logprobs: [
      { token: "Hi", logprob: -0.1 },
      { token: "Yo", logprob: -3 },
    ],
  }
  const { candidates } = read([chunk({ content: "Hi" }, "stop", { logprobs: { content: [token] } })])
  expect(candidates.at(-1)).toMatchObject({
    logprobsResult: {
      chosenCandidates: [{ token: "Hi", logProbability: -0.1 }],
      topCandidates: [{ candidates: [{ token: "Hi" }, { token: "Yo", logProbability: -3 }] }],
    },
  })
})

test("usage counts tokens of thoughts separately from those of the candidates", () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 5 },
    cost: 0.5,
    is_byok: true,
  }
  expect(toUsageMetadata(usage)).toEqual({
    promptTokenCount: 10,
    candidatesTokenCount: 2,
    totalTokenCount: 17,
    cachedContentTokenCount: 4,
    thoughtsTokenCount: 5,
    cost: 0.5,
    isByok: true,
  })
})
