import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { CallStory } from "../../../src/console/api/types.ts"
import { pathOf, type Stage } from "../../../src/console/pages/calls/path.ts"

type Times = CallStory["times"]

const START = Date.UTC(2026, 0, 5)
const iso = (ms: number) => new Date(START + ms).toISOString()

function attempt(duration: number, status: number | null): CallStory["trail"][number] {
  const error = status === 200 ? null : { code: "provider_error", message: "overloaded" }
  return {
    provider: "OpenAI",
    model: "openai/gpt-5.5",
    status,
    duration_ms: duration,
    is_byok: false,
    key_number: null,
    cache: null,
    error,
  }
}

function path(times: Times, trail: CallStory["trail"], guardrails: CallStory["guardrails"] = []) {
  return pathOf({ times, trail, guardrails })
}

function describe(stage: Stage): string {
  if (stage.kind === "finding") return `${stage.finding.action} ${stage.finding.name}`
  const bars = stage.parts.map(({ from, to }) => `${from - START}-${to - START}`).join(" ")
  return `${stage.kind === "step" ? stage.label : (stage.attempt.status ?? "no response")} ${bars}`
}

test("a failed attempt ends where the next one was sent, and the answering one waits and streams", () => {
  const times = { received: iso(0), sent: iso(150), first_token: iso(400), last_token: iso(900), settled: iso(910) }
  const finding = { id: "g", name: "Personal data", scope: "key", action: "redact", patterns: ["email"] }
  const { stages, to, settlementMs } = path(times, [attempt(120, 429), attempt(250, 200)], [finding])
  expect(stages.map(describe)).toEqual([
    "check, plan, hold 0-30",
    "redact Personal data",
    "429 30-150",
    "200 150-400 400-900",
  ])
  expect({ to: to - START, settlementMs }).toEqual({ to: 900, settlementMs: 10 })
})

test("a call without an answer has its attempts before its end", () => {
  const times = { received: iso(0), sent: null, first_token: null, last_token: null, settled: iso(300) }
  const { stages } = path(times, [attempt(100, 503), attempt(150, null)])
  expect(stages.map(describe)).toEqual(["check, plan, hold 0-50", "503 50-150", "no response 150-300"])
})

test("no bar is outside of the call or has a negative length", () => {
  const ms = fc.integer({ min: 0, max: 100_000 })
  fc.assert(
    fc.property(fc.array(ms, { minLength: 5, maxLength: 5 }), fc.array(ms, { maxLength: 4 }), (given, durations) => {
      const [received = 0, sent = 0, first = 0, last = 0, settled = 0] = given.toSorted((a, b) => a - b)
      const times = {
        received: iso(received),
        sent: iso(sent),
        first_token: iso(first),
        last_token: iso(last),
        settled: iso(settled),
      }
      const { stages, from, to } = path(
        times,
        durations.map((duration) => attempt(duration, 200)),
      )
      for (const stage of stages) {
        for (const part of stage.kind === "finding" ? [] : stage.parts) {
          expect(part.from).toBeGreaterThanOrEqual(from)
          expect(part.to).toBeLessThanOrEqual(to)
          expect(part.to).toBeGreaterThanOrEqual(part.from)
        }
      }
    }),
  )
})
