import { stripVTControlCharacters } from "node:util"
import { expect, test } from "vitest"
import { formatLog, logFormatOf } from "../../src/local/log-printer.ts"

const now = new Date(2026, 10, 22, 20, 35, 16)
const plain = (message: string) => stripVTControlCharacters(formatLog({ level: "log", message }, "text", now))

test("a call is one line: time, status, model and provider, duration, tokens, cost and key", () => {
  const message = JSON.stringify({
    level: "info",
    message: "call",
    request_id: "req-1",
    status: 200,
    key: "sk-gw-v1-abc...xyz",
    model: "openai/gpt-4o",
    provider: "OpenAI",
    duration_ms: 312,
    prompt_tokens: 412,
    completion_tokens: 655,
    cost: "0.0041",
  })
  expect(plain(message)).toBe(
    "20:35:16  200  openai/gpt-4o → OpenAI  312 ms  412 in, 655 out  $0.0041  sk-gw-v1-abc...xyz",
  )
})

test("a refused call shows its path and the reason", () => {
  const message = JSON.stringify({
    level: "warning",
    message: "call",
    request_id: "req-1",
    status: 429,
    path: "/api/v1/chat/completions",
    ending: "rate_limited",
    error: "Wait 3 s.",
  })
  expect(plain(message)).toBe("20:35:16  429  /api/v1/chat/completions  rate_limited: Wait 3 s.")
})

test("an error is one line without a stack trace", () => {
  const cause = { name: "TypeError", message: "fetch failed", stack: ["TypeError: fetch failed", "at send"] }
  const message = JSON.stringify({ level: "error", message: "delivery failed", destination: "d-1", cause })
  expect(plain(message)).toBe("20:35:16  error  delivery failed (TypeError: fetch failed)  destination=d-1")
})

test("a program that reads the log gets JSON, with the time", () => {
  expect(logFormatOf({ isTTY: false }, undefined)).toBe("json")
  expect(logFormatOf({ isTTY: true }, undefined)).toBe("text")
  expect(logFormatOf({ isTTY: true }, "json")).toBe("json")
  const line = formatLog({ level: "log", message: '{"level":"info","message":"call","status":200}' }, "json", now)
  expect(JSON.parse(line)).toEqual({ time: now.toISOString(), level: "info", message: "call", status: 200 })
})
