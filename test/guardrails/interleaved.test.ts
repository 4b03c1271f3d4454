import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toAppliedGuardrails } from "../../src/guardrails/applied.ts"
import { screeningOf } from "../../src/guardrails/create-screening.ts"
import { isObject, type Json, objectsOf } from "../../src/support/text/json.ts"
import { runs } from "../support/runs.ts"
import { PLAIN_CALL } from "../support/screening.ts"

const SECRETS = [
  ["project", "CANARY-4711", "[project]"],
  ["email", "ann.example@example.com", "[EMAIL]"],
  ["secrets", ["gh", "p_", "a1B2".repeat(9)].join(""), "[SECRET]"],
] as const

function filterFor(action: "redact" | "block") {
  const rules = JSON.stringify({
    content_filters: [{ action, pattern: "CANARY-\\d{4}", label: "project" }],
    content_filter_builtins: ["email", "secrets"].map((slug) => ({ slug, action })),
  })
  const row = { id: "g", name: "Rail", isDefault: false, limitNano: null, resetInterval: null, rules }
  const applied = { ...row, includeByokInBudgets: false, byKey: true, byMember: false, keyHash: "k", userId: null }
  const screening = screeningOf(toAppliedGuardrails([applied]), PLAIN_CALL)
  if (!screening) throw new Error("no content rules")
  return screening.responseFilter()
}

const chunkOf = (delta: Json, finish: string | null = null): Json => ({
  id: "x",
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const OTHERS: readonly ((at: number) => Json)[] = [
  (at) => ({ reasoning: `thought ${at}. ` }),
  (at) => ({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: `"${at} ` } }] }),
  (at) => ({ reasoning_details: [{ type: "reasoning.text", index: 0, text: `step ${at}. ` }] }),
]

function fieldOf(chunks: readonly Json[], read: (delta: Json) => unknown): string {
  const deltas = chunks.flatMap(({ choices }) => objectsOf(choices)).map(({ delta }) => (isObject(delta) ? delta : {}))
  return deltas
    .map(read)
    .filter((text) => typeof text === "string")
    .join("")
}
const contentOf = (chunks: readonly Json[]) => fieldOf(chunks, ({ content }) => content)
const argumentsOf = (chunks: readonly Json[]) =>
  fieldOf(chunks, ({ tool_calls: calls }) => {
    const [call] = objectsOf(calls)
    return isObject(call?.["function"]) ? call["function"]["arguments"] : ""
  })

const interleaved = fc.record({
  secret: fc.constantFrom(...SECRETS),
  cut: fc.nat(40),
  others: fc.array(fc.constantFrom(...OTHERS), { minLength: 1, maxLength: 3 }),
  tail: fc.constantFrom("", " and more.", "\n"),
  hasEnd: fc.boolean(),
})
type Interleaved = typeof interleaved extends fc.Arbitrary<infer T> ? T : never

function chunksOf({ secret: [, text], cut, others, tail, hasEnd }: Interleaved): Json[] {
  const at = Math.min(cut, text.length - 1) + 1
  return [
    chunkOf({ role: "assistant", content: "It is " }),
    chunkOf({ content: text.slice(0, at) }),
    ...others.map((other, position) => chunkOf(other(position))),
    ...(at < text.length ? [chunkOf({ content: text.slice(at) })] : []),
    chunkOf({ content: tail }),
    ...(hasEnd ? [chunkOf({}, "stop")] : []),
  ]
}

test("no part of a redacted match is sent when another field comes between two chunks", () => {
  fc.assert(
    fc.property(interleaved, (one) => {
      const filter = filterFor("redact")
      const sent = [...chunksOf(one).flatMap((chunk) => filter.chunk(chunk)), ...filter.end()]
      expect(contentOf(sent)).toBe(`It is ${one.secret[2]}${one.tail}`)
      expect(argumentsOf(sent)).toBe(argumentsOf(chunksOf(one)))
      expect(fieldOf(sent, ({ reasoning }) => reasoning)).toBe(fieldOf(chunksOf(one), ({ reasoning }) => reasoning))
    }),
    { numRuns: runs(4) },
  )
})

test("no part of a blocked match is sent", () => {
  fc.assert(
    fc.property(interleaved, (one) => {
      const filter = filterFor("block")
      const sent = [...chunksOf(one).flatMap((chunk) => filter.chunk(chunk)), ...filter.end()]
      expect(contentOf(sent).replace("It is ", "")).toBe("")
      expect(filter.isBlocked).toBe(true)
    }),
    { numRuns: runs(4) },
  )
})

test("the fields of a response keep their order", () => {
  const filter = filterFor("redact")
  const chunks = [chunkOf({ content: "See ann" }), chunkOf(OTHERS[1]?.(0) ?? {}), chunkOf({}, "tool_calls")]
  const sent = [...chunks.flatMap((chunk) => filter.chunk(chunk)), ...filter.end()]
  const order = sent.flatMap(({ choices }) => objectsOf(choices)).flatMap(({ delta }) => Object.keys(delta as Json))
  expect(order).toEqual(["content", "content", "tool_calls"])
})

test("text of another field keeps its order while the output text is undecided", () => {
  const fields = ["content", "reasoning"] as const
  const pieces = fc.array(
    fc.tuple(fc.constantFrom(...fields), fc.constantFrom("See ann", " x", " thought bob", ". ")),
    {
      minLength: 2,
      maxLength: 6,
    },
  )
  fc.assert(
    fc.property(pieces, fc.boolean(), (written, hasEnd) => {
      const filter = filterFor("redact")
      const chunks = [
        ...written.map(([field, text]) => chunkOf({ [field]: text })),
        ...(hasEnd ? [chunkOf({}, "stop")] : []),
      ]
      const sent = [...chunks.flatMap((chunk) => filter.chunk(chunk)), ...filter.end()]
      for (const field of fields)
        expect(fieldOf(sent, (delta) => delta[field])).toBe(fieldOf(chunks, (delta) => delta[field]))
    }),
    { numRuns: runs(4) },
  )
})

const CALLS = [
  ["function", "arguments", '{"to":"', '"}'],
  ["custom", "input", "Write to ", "."],
] as const

test("no part of a match in a streamed tool call of any kind is sent", () => {
  const written = fc.record({
    secret: fc.constantFrom(...SECRETS),
    call: fc.constantFrom(...CALLS),
    cuts: fc.array(fc.nat(60), { maxLength: 3 }),
    action: fc.constantFrom("redact" as const, "block" as const),
  })
  fc.assert(
    fc.property(written, ({ secret: [, text, label], call: [kind, field, head, tail], cuts, action }) => {
      const whole = head + text + tail
      const places = [0, ...cuts.map((cut) => cut % whole.length).toSorted((one, other) => one - other), whole.length]
      const pieces = places.slice(1).map((end, at) => whole.slice(places[at], end))
      const opening = { index: 0, id: "c", type: kind, [kind]: { name: "f", [field]: "" } }
      const chunks = [
        chunkOf({ tool_calls: [opening] }),
        ...pieces.map((piece) => chunkOf({ tool_calls: [{ index: 0, [kind]: { [field]: piece } }] })),
        chunkOf({}, "tool_calls"),
      ]
      const filter = filterFor(action)
      const sent = [...chunks.flatMap((chunk) => filter.chunk(chunk)), ...filter.end()]
      const passed = fieldOf(sent, ({ tool_calls: calls }) => {
        const called = objectsOf(calls)[0]?.[kind]
        return isObject(called) ? called[field] : ""
      })
      expect(filter.isBlocked).toBe(action === "block")
      expect(passed).not.toContain(text.slice(0, 8))
      if (action === "redact") expect(passed).toBe(head + label + tail)
    }),
    { numRuns: runs(4) },
  )
})
