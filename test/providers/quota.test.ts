import { describe, expect, test } from "vitest"
import { exhaustedUntil } from "../../src/providers/responses/quota.ts"

const NOW = Date.UTC(2031, 0, 6, 12)
const waitOf = (headers: Record<string, string>) => {
  const until = exhaustedUntil(new Headers(headers), NOW)
  return until === null ? null : until - NOW
}

describe("the quota headers of providers", () => {
  test.each([
    ["nothing reported", {}, null],
    ["OpenAI, some left", { "x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "6m0s" }, null],
    ["OpenAI, no requests", { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30.5s" }, 90_500],
    ["OpenAI, no tokens", { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms" }, 20],
    ["Azure, no reset", { "x-ratelimit-remaining-tokens": "0" }, 15_000],
    [
      "Anthropic, a date",
      {
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": "2031-01-06T12:00:42Z",
      },
      42_000,
    ],
    ["seconds", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "7" }, 7_000],
    ["an epoch time", { "ratelimit-remaining": "0", "ratelimit-reset": String(NOW / 1_000 + 9) }, 9_000],
    [
      "an epoch time in milliseconds",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW + 1_234) },
      1_234,
    ],
    ["a day", { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "23h59m" }, 300_000],
    ["a time in the past", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "Mon, 06 Jan 2031 11:00:00 GMT" }, 0],
    ["no time", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon" }, 15_000],
    ["not a number", { "x-ratelimit-remaining": "lots", "x-ratelimit-reset": "7" }, null],
    [
      "the latest of several",
      {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-remaining-tokens": "-3",
        "x-ratelimit-reset-tokens": "4s",
      },
      4_000,
    ],
  ])("%s", (_, headers, expected) => {
    expect(waitOf(headers)).toBe(expected)
  })
})
