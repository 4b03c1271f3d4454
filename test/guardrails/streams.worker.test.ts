import * as fc from "fast-check"
import { afterEach, describe, expect, test } from "vitest"
import { ResponseFilter } from "../../src/guardrails/content/response-filter.ts"
import { jsonCodec } from "../../src/guardrails/content/texts/json-codec.ts"
import { combineRules } from "../../src/guardrails/content/rules.ts"
import { TextFilter } from "../../src/guardrails/content/text-filter.ts"
import { plainCodec } from "../../src/guardrails/content/texts/text-codec.ts"
import type { BuiltinSlug } from "../../src/guardrails/schemas.ts"
import { screeningOf } from "../../src/guardrails/create-screening.ts"
import { toAppliedGuardrails } from "../../src/guardrails/applied.ts"
import { chunk, DONE, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { newKey, newWorkspace, expectJson } from "../support/world.ts"
import { PLAIN_CALL } from "../support/screening.ts"

/** A secret and its replacement. Split, so that no source scanner takes them for real. */
const SECRETS: [BuiltinSlug, string, string][] = [
  ["email", "ada.lovelace@example.com", "[EMAIL]"],
  ["phone", "+44 20 7946 0958", "[PHONE]"],
  ["ssn", "536-90-4399", "[SSN]"],
  ["credit-card", "4111 1111 1111 1111", "[CREDIT_CARD]"],
  ["ip-address", "203.0.113.77", "[IP_ADDRESS]"],
  ["iban", "DE89 3704 0044 0532 0130 00", "[IBAN]"],
  ["secrets", ["AKIA", "IOSFODNN7EXAMPLQ"].join(""), "[SECRET]"],
  ["secrets", ["gh", "p_", "a1B2".repeat(9)].join(""), "[SECRET]"],
]
const SLUGS = [...new Set(SECRETS.map(([slug]) => slug))]
const settings = (action: "redact" | "block") => ({
  content_filter_builtins: SLUGS.map((slug) => ({ action, slug })),
  content_filters: [{ action, pattern: "PROJECT-[0-9]+x*", label: "Project" }],
})
const rules = combineRules([settings("redact")])

function pass(pieces: readonly string[], units = plainCodec()): string {
  const filter = new TextFilter(rules, units, () => {})
  return pieces.map((piece) => filter.push(piece, false)).join("") + filter.push("", true)
}

/** The text split in two at every position. */
const cuts = (text: string) => Array.from({ length: text.length + 1 }, (_, at) => [text.slice(0, at), text.slice(at)])

const secret = fc.constantFrom(...SECRETS, ["own", "PROJECT-12xx", "[Project]"] as const)
const harmless = fc.constantFrom(
  "",
  "Dear all, ",
  "see 12 of ",
  "mail me ",
  "— à bientôt 😀 ",
  "at 10:30 ",
  "sk-not a key ",
  "a@b ",
  "\n",
)

describe("a text in chunks", () => {
  test("loses every secret and nothing else, wherever it is split", () => {
    for (const [, output, label] of SECRETS) {
      const text = `It is ${output}, and more.`
      for (const pieces of cuts(text)) expect(pass(pieces)).toBe(`It is ${label}, and more.`)
      expect(pass(text.split(""))).toBe(`It is ${label}, and more.`)
    }
  })

  test("loses secrets in full-width, styled or other digits, or with invisible separators", () => {
    const spellings: [string, string][] = [
      ["４１１１ １１１１ １１１１ １１１１", "[CREDIT_CARD]"],
      ["4111\u200b1111\u200b1111\u200b1111", "[CREDIT_CARD]"],
      ["4111\u00a01111\u00a01111\u00a01111", "[CREDIT_CARD]"],
      ["4111\u20111111\u20111111\u20111111", "[CREDIT_CARD]"],
      ["𝟒𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏", "[CREDIT_CARD]"],
      ["٤١١١ ١١١١ ١١١١ ١١١١", "[CREDIT_CARD]"],
      ["ada\u200d.love\u00adlace@exam\u2060ple.com", "[EMAIL]"],
      ["ada＠example．com", "[EMAIL]"],
      ["jose\u0301@example.com", "[EMAIL]"],
      ["536\u201390\u20134399", "[SSN]"],
      ["５３６-９０-４３９９", "[SSN]"],
      ["+44\u202f20\u202f7946\u202f0958", "[PHONE]"],
      ["+４４ ２０ ７９４６ ０９５８", "[PHONE]"],
      ["203\u200b.0.113\ufeff.77", "[IP_ADDRESS]"],
      ["DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", "[IBAN]"],
      [["AK", "\u200bIA", "IOSFODNN7EXAMPLQ"].join(""), "[SECRET]"],
    ]
    for (const [output, label] of spellings) {
      const text = `It is ${output}, and more.`
      for (const pieces of [[text], ...cuts(text), text.split("")]) {
        expect(pass(pieces), JSON.stringify(output)).toBe(`It is ${label}, and more.`)
      }
    }
  })

  test("treats an invisible character beside a secret as a space", () => {
    for (const text of ["Number\u200b4111 1111 1111 1111\u200bplease", "IP\u200b203.0.113.77\u200bup"]) {
      const expected = text.replace(/[\d. ]{8,}/, (number) => (number.includes(" ") ? "[CREDIT_CARD]" : "[IP_ADDRESS]"))
      for (const pieces of [[text], ...cuts(text)]) expect(pass(pieces)).toBe(expected)
    }
  })

  test("is matched unchanged by custom patterns", () => {
    const scoped = combineRules([
      { content_filters: [{ action: "redact", pattern: "\\x{200B}|[0-9]{4}", label: "Own" }] },
    ])
    const reported = new TextFilter(scoped, plainCodec(), () => {}).push("a\u200bb １２３４", true)
    expect(reported).toBe("a[Own]b １２３４")
  })

  test("has the same output however it is split", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(harmless, secret), { maxLength: 4 }),
        fc.array(fc.nat(200), { maxLength: 12 }),
        (parts, places) => {
          const text = `${parts.map(([before, [, output]]) => `${before}(${output})`).join(" ")} end`
          const expected = `${parts.map(([before, [, , label]]) => `${before}(${label})`).join(" ")} end`
          expect(pass([text])).toBe(expected)
          const at = [
            0,
            ...places.filter((position) => position < text.length).sort((one, other) => one - other),
            text.length,
          ]
          expect(pass(at.slice(1).map((end, index) => text.slice(at[index], end)))).toBe(expected)
          expect(pass(text.split(""))).toBe(expected)
        },
      ),
    )
  })

  test("has the same output if a surrogate pair is split", () => {
    const text = "— à bientôt 😀 (ada.lovelace@example.com) end"
    for (let round = 0; round < 20; round += 1) {
      for (const pieces of cuts(text)) expect(pass(pieces)).toBe("— à bientôt 😀 ([EMAIL]) end")
    }
  })

  test("holds back nothing that cannot become a secret", () => {
    const filter = new TextFilter(rules, plainCodec(), () => {})
    expect(filter.push("Good morning, ", false)).toBe("Good morning, ")
    expect(filter.push("ada@", false)).toBe("")
    expect(filter.push(" is no address. ", false)).toBe("ada@ is no address. ")
  })

  test("of JSON stays JSON, whatever its escapes hide", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(harmless, secret), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (parts, isHidden) => {
          const texts = parts.map(([before, [, output]]) => `${before}\n${output}`).join(" ; ")
          const escape = (text: string) =>
            text.replaceAll(/[@.\d]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
          const plain = JSON.stringify({ content: texts, n: 7, list: [true, null] })
          const json = isHidden ? plain.replace(JSON.stringify(texts).slice(1, -1), (text) => escape(text)) : plain
          const expected = parts.map(([before, [, , label]]) => `${before}\n${label}`).join(" ; ")
          for (const pieces of [[json], json.split("")]) {
            const reported = pass(pieces, jsonCodec())
            expect(JSON.parse(reported)).toEqual({ content: expected, n: 7, list: [true, null] })
          }
        },
      ),
    )
  })

  test("has a private key redacted up to its end or the end of the text", () => {
    const mark = (word: string) => ["-----", word, " RSA PRIVATE KEY-----"].join("")
    const body = "MIIEpAIBAAKCAQEA7bq98xF0vQZP\nAAAA+/=="
    const complete = `a ${mark("BEGIN")}\nProc-Type: 4,ENCRYPTED\n\n${body}\n${mark("END")} and more - text`
    const cut = `a ${mark("BEGIN")}\n${body} and more`
    for (const pieces of [...cuts(complete), complete.split("")])
      expect(pass(pieces)).toBe("a [SECRET] and more - text")
    for (const pieces of [...cuts(cut), cut.split("")]) expect(pass(pieces)).toBe("a [SECRET] and more")
  })

  test("has a number in JSON replaced by a string", () => {
    expect(pass(['{"card":4111111111111111,"n":1}'], jsonCodec())).toBe('{"card":"[CREDIT_CARD]","n":1}')
  })
})

type Json = Record<string, unknown>

/** Result of a stream of chunks: texts, reasoning and the arguments of calls. */
function gathered(chunks: readonly Json[]) {
  const reported = { content: "", reasoning: "", details: "", calls: [] as string[], ends: 0 }
  for (const { choices } of chunks as { choices: { delta: Json; finish_reason: string | null }[] }[]) {
    for (const { delta, finish_reason: end } of choices) {
      reported.content += (delta["content"] as string | undefined) ?? ""
      reported.reasoning += (delta["reasoning"] as string | undefined) ?? ""
      for (const detail of (delta["reasoning_details"] as Json[] | undefined) ?? [])
        reported.details += (detail["text"] as string) ?? ""
      for (const call of (delta["tool_calls"] as { index: number; function: { arguments?: string } }[] | undefined) ??
        []) {
        reported.calls[call.index] = (reported.calls[call.index] ?? "") + (call.function.arguments ?? "")
      }
      if (end !== null) reported.ends += 1
    }
  }
  return reported
}

function filterOf(action: "redact" | "block"): ResponseFilter {
  const row = {
    id: "g",
    name: "Rail",
    isDefault: false,
    limitNano: null,
    resetInterval: null,
    includeByokInBudgets: false,
  }
  const of = { byKey: true, byMember: false, keyHash: "k", userId: null }
  const guardrails = toAppliedGuardrails([{ ...row, ...of, rules: JSON.stringify(settings(action)) }])
  return screeningOf(guardrails, PLAIN_CALL)?.responseFilter() as ResponseFilter
}

const delta = (output: Json, end: string | null = null): Json => ({
  id: "x",
  choices: [{ index: 0, delta: output, finish_reason: end }],
})

/** A response with the secret in every field, split at the same positions in each. */
function answerIn(pieces: readonly string[]): Json[] {
  return [
    delta({ role: "assistant", content: "" }),
    ...pieces.map((text) =>
      delta({ reasoning: text, reasoning_details: [{ type: "reasoning.text", index: 0, text }] }),
    ),
    ...pieces.map((content) => delta({ content })),
    delta({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: '{"a":"' } }] }),
    ...pieces.map((text) => delta({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    delta({ tool_calls: [{ index: 0, function: { arguments: '"}' } }] }),
    delta({}, "tool_calls"),
  ]
}

describe("a response in chunks", () => {
  test("leaks no part of a secret from content, reasoning or arguments, and keeps their order", () => {
    for (const [, output, label] of SECRETS) {
      for (const pieces of cuts(`so ${output} it is`)) {
        const filter = filterOf("redact")
        const reported = [...answerIn(pieces).flatMap((chunk) => filter.chunk(chunk)), ...filter.end()]
        const expected = `so ${label} it is`
        expect(gathered(reported)).toEqual({
          content: expected,
          reasoning: expected,
          details: expected,
          calls: [`{"a":"${expected}"}`],
          ends: 1,
        })
        const kinds = reported.map(({ choices }) => Object.keys((choices as { delta: Json }[])[0]?.delta ?? {})[0])
        expect(kinds.lastIndexOf("reasoning")).toBeLessThan(kinds.lastIndexOf("content"))
        expect(kinds.lastIndexOf("content")).toBeLessThan(kinds.indexOf("tool_calls"))
      }
    }
  })

  test("leaks no part of a secret whose chunks alternate with those of another text", () => {
    for (const [, output, label] of SECRETS) {
      const text = `so ${output} it is`
      const call = (index: number, json: string) => delta({ tool_calls: [{ index, function: { arguments: json } }] })
      const named = [0, 1].map((index) => delta({ tool_calls: [{ index, id: `c${index}`, function: { name: "f" } }] }))
      const chunks = [
        ...text.split("").flatMap((piece) => [delta({ content: piece }), delta({ reasoning: "?" })]),
        ...named,
        ...JSON.stringify({ a: text })
          .split("")
          .flatMap((piece) => [call(0, piece), call(1, piece)]),
        delta({}, "tool_calls"),
      ]
      const filter = filterOf("redact")
      const reported = gathered([...chunks.flatMap((one) => filter.chunk(one)), ...filter.end()])
      expect(reported.content).toBe(`so ${label} it is`)
      expect(reported.reasoning).toBe("?".repeat(text.length))
      expect(reported.calls.map((json) => JSON.parse(json) as unknown)).toEqual(
        [0, 1].map(() => ({ a: `so ${label} it is` })),
      )
    }
  })

  test("leaks no secret of a choice outside its delta", () => {
    for (const [, output, label] of SECRETS) {
      const filter = filterOf("redact")
      const choice = { index: 0, delta: { content: "a " }, message: { content: output }, finish_reason: null }
      const reported = filter.chunk({ id: "x", choices: [choice] })
      expect(JSON.stringify(reported)).not.toContain(output)
      expect(JSON.stringify(reported)).toContain(label)
      const beside = filter.chunk({ id: "x", choices: [], citations: [{ title: output }] })
      expect(beside).toEqual([{ id: "x", choices: [], citations: [{ title: label }] }])
    }
  })

  test("that is blocked leaks no part of the match", () => {
    for (const [, output] of SECRETS) {
      for (const pieces of cuts(`so ${output} it is`)) {
        const filter = filterOf("block")
        const reported = [...answerIn(pieces).flatMap((chunk) => filter.chunk(chunk)), ...filter.end()]
        expect(filter.isBlocked).toBe(true)
        expect(gathered(reported)).toMatchObject({ content: "", calls: [], ends: 0 })
        expect("so ".startsWith(gathered(reported).reasoning)).toBe(true)
      }
    }
  })

  test("without a match passes in its original chunks", () => {
    const filter = filterOf("redact")
    const chunks = [
      delta({ role: "assistant", content: "" }),
      delta({ content: "Hello, " }),
      delta({ content: "you. " }),
      delta({}, "stop"),
    ]
    expect(chunks.flatMap((chunk) => filter.chunk(chunk))).toEqual(chunks)
    expect(filter.end()).toEqual([])
  })
})

describe("over HTTP", () => {
  let stop: () => void = () => {}
  afterEach(() => stop())

  test("no secret passes however the bytes of a stream are split", async () => {
    const workspace = await newWorkspace()
    const key = await newKey(workspace)
    const { data } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", { name: "Rail", ...settings("redact") }),
    )
    const body = { key_hashes: [key.hash] }
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, body))
    const output = SECRETS.map(([, one]) => one)
    const expected = SECRETS.map(([, , label]) => label).join("; ")
    const frames = [
      chunk({ role: "assistant", content: "" }),
      ...(output.join("; ").match(/[^]{1,3}/g) ?? []).map((content) => chunk({ content })),
      chunk({}, "stop"),
      usageChunk(10, 10),
      DONE,
    ]
    const bytes = new TextEncoder().encode(frames.join(""))
    const cutAt = (size: number) =>
      Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.slice(at * size, (at + 1) * size))
    for (const size of [1, 2, 3, 7, 64, 191, bytes.length]) {
      const mock = mockProvider(() => sse(cutAt(size)))
      stop = mock.stop
      const raw = await (await key.as.chat("played/m71", "Hi", { stream: true })).text()
      stop()
      const reported = [...raw.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join("")
      expect(reported).toBe(expected)
      for (const one of output) expect(raw).not.toContain(one)
      expect(raw.endsWith("data: [DONE]\n\n")).toBe(true)
    }
  })
})
