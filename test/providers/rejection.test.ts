import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { toRejection } from "../../src/providers/responses/rejection.ts"

const PROVIDER = { name: "Acme", apiKey: "sk-acme-0123456789abcdef" }
const rejected = (body: unknown, status = 422) =>
  toRejection(PROVIDER, { status, headers: new Headers(), body: JSON.stringify(body) }, { now: 0 })

test("the message of Cloudflare's list of errors is relayed", () => {
  const body = { success: false, errors: [{ code: 5_006, message: "AiError: Bad input" }], messages: [] }
  expect(rejected(body, 400).message).toBe("AiError: Bad input")
})

describe("the issues of a validation", () => {
  const ISSUES = [
    { type: "extra_forbidden", loc: ["body", "seed"], msg: "Extra inputs are not permitted", input: 1 },
    { type: "missing", loc: ["body", "messages", 0, "role"], msg: "Field required" },
  ]

  test.each([
    ["below detail", { detail: ISSUES }],
    ["below message.detail", { object: "error", message: { detail: ISSUES }, type: "invalid_request_error" }],
    ["below error.message", { error: { message: ISSUES } }],
  ])("%s are the message, with their paths", (_, body) => {
    expect(rejected(body).message).toBe("seed: Extra inputs are not permitted messages.0.role: Field required")
  })

  test("do not contain the key of the gateway", () => {
    expect(rejected({ detail: [{ loc: [PROVIDER.apiKey], msg: `is ${PROVIDER.apiKey}` }] }).message).toBe(
      "[redacted]: is [redacted]",
    )
  })

  test.each([[{ detail: [] }], [{ detail: [{ loc: null, msg: 7 }] }], [{ detail: { code: 1 } }], [[]]])(
    "of another shape are replaced by the status: %j",
    (body) => {
      expect(rejected(body).message).toBe("Acme returned status 422.")
    },
  )
})

describe("the key of the gateway in a provider's message", () => {
  const random = fc.stringMatching(/^[A-Za-z0-9_-]{16,60}x7$/)
  const message = (apiKey: string, text: string) =>
    toRejection(
      { name: "Acme", apiKey },
      { status: 400, headers: new Headers(), body: JSON.stringify({ error: { message: text } }) },
      { now: 0 },
    ).message
  const hex = (text: string) => Array.from(text, (char) => char.charCodeAt(0).toString(16).padStart(2, "0")).join("")
  const encodings: [string, (key: string) => string][] = [
    ["in base64", (key) => btoa(key)],
    ["in base64 with a user's name", (key) => btoa(`user:${key}`)],
    ["in hex", hex],
    ["in upper-case hex", (key) => hex(key).toUpperCase()],
    ["with every character percent-encoded", (key) => hex(key).replaceAll(/../g, "%$&")],
    ["in another case", (key) => key.toUpperCase()],
  ]

  test.each(encodings)("is hidden %s", (_, encode) => {
    const holds = fc.property(random, fc.constantFrom("", "Bad request: ", "{"), (key, before) => {
      const encoded = encode(key)
      const found = message(key, `${before}${encoded} was sent.`)
      const middle = encoded.slice(4, -4)
      expect(found).not.toContain(middle)
      expect(found).toContain("[redacted]")
    })
    fc.assert(holds)
  })

  test("is hidden in parts of 8 characters", () => {
    const part = fc.tuple(random, fc.nat(), fc.integer({ min: 8, max: 30 })).map(([key, at, length]) => {
      const start = at % (key.length - 7)
      return { key, part: key.slice(start, start + length) }
    })
    const holds = fc.property(part, ({ key, part: text }) => {
      fc.pre(/\d/.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text)))
      expect(message(key, `The key begins with <${text}>.`)).toBe("The key begins with <[redacted]>.")
    })
    fc.assert(holds)
  })

  test("does not change a message without it", () => {
    const text = "The model gpt-4o-mini in development mode supports at most 16384 output tokens (request 0f8e2d1c)."
    expect(message("sk-acme-R2xTq9LmZw81VbNc", text)).toBe(text)
    expect(message("local-development-key", text)).toBe(text)
  })
})

describe("the time at which a limit resets", () => {
  const NOW = Date.parse("2026-11-27T10:00:00Z")
  const hintOf = (error: unknown) =>
    toRejection(PROVIDER, { status: 429, headers: new Headers(), body: JSON.stringify({ error }) }, { now: NOW })
      .retryAfterMs

  test.each([
    ["in epoch seconds", NOW / 1_000 + 50],
    ["in epoch milliseconds", NOW + 50_000],
    ["as a timestamp", "2026-11-27T10:00:50Z"],
  ])("%s is a retry hint", (_, at) => {
    expect(hintOf({ message: "m", resets_at: at })).toBe(50_000)
    expect(hintOf({ message: "m", metadata: { resets_at: at } })).toBe(50_000)
  })

  test("in the past allows a retry at once", () => {
    expect(hintOf({ message: "m", resets_at: NOW / 1_000 - 1 })).toBe(0)
  })

  test("a day ahead counts as five minutes", () => {
    expect(hintOf({ message: "m", resets_at: NOW / 1_000 + 86_400 })).toBe(300_000)
  })

  test.each([0, -5, "soon", "12", null, {}, []])("of %j is no hint", (at) => {
    expect(hintOf({ message: "m", resets_at: at })).toBeNull()
  })
})

describe("the reset of a used up window", () => {
  const USED_UP = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20s" }
  const hintOf = (status: number, headers: Record<string, string>) =>
    toRejection(PROVIDER, { status, headers: new Headers(headers), body: "" }, { now: 0 }).retryAfterMs

  test.each<[string, number, Record<string, string>, number | null]>([
    ["is the hint of a 429 without Retry-After", 429, USED_UP, 20_000],
    ["does not replace Retry-After", 429, { ...USED_UP, "retry-after": "7" }, 7_000],
    ["is no hint of another status", 503, USED_UP, null],
    ["is no hint while the window has requests left", 429, { ...USED_UP, "x-ratelimit-remaining-requests": "3" }, null],
    ["is not guessed", 429, { "x-ratelimit-remaining-requests": "0" }, null],
  ])("%s", (_, status, headers, expected) => {
    expect(hintOf(status, headers)).toBe(expected)
  })
})
