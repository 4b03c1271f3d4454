import { expect, test } from "vitest"
import { formatLog, logFormatOf } from "../../src/local/log-printer.ts"

const now = new Date(2026, 10, 22, 20, 35, 16)
const plain = (message: string) => formatLog({ level: "log", message }, "text", now)

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

test("a rejected call shows its path and the reason", () => {
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

test("a runtime message is shown without stack addresses", () => {
  const message =
    "e = rust/worker/ffi.rs:110: failed: failed to lookup address information: Name or service not known\nstack: /gateway/bin/workerd@26b6840 /gateway/bin/workerd@3739630; sentryErrorContext = jsgInternalError; wdErrId = ndf0"
  const text = "failed to lookup address information: Name or service not known"
  expect(plain(message)).toBe(text)
  expect(JSON.parse(formatLog({ level: "error", message }, "json", now))).toMatchObject({ message: text })
  expect(plain("TypeError: x\n    at f (index.js:1:2)")).toBe("TypeError: x\n    at f (index.js:1:2)")
})

test("output to a program is JSON with the time", () => {
  expect(logFormatOf({ isTTY: false }, {})).toBe("json")
  expect(logFormatOf({ isTTY: true }, { LOG_FORMAT: "json" })).toBe("json")
  const line = formatLog({ level: "log", message: '{"level":"info","message":"call","status":200}' }, "json", now)
  expect(JSON.parse(line)).toEqual({ time: now.toISOString(), level: "info", message: "call", status: 200 })
})

test("a terminal gets colors unless NO_COLOR is set, and other outputs never do", () => {
  expect(logFormatOf({ isTTY: true }, {})).toBe("colored")
  expect(logFormatOf({ isTTY: true }, { NO_COLOR: "1" })).toBe("text")
  expect(logFormatOf({ isTTY: false }, { LOG_FORMAT: "text" })).toBe("text")
  const message = '{"level":"info","message":"call","status":200,"model":"a/b","provider":"B"}'
  expect(formatLog({ level: "log", message }, "colored", now)).toContain("\u001b[32m200\u001b[0m")
})

test.each(["colored", "text"] as const)("text of a client cannot move the cursor of a %s log", (format) => {
  const evil = "\u001b[2J\u202Etxet\r\n200"
  const error = `There is no model ${evil} here.`
  for (const line of [
    { level: "warning", message: "call", status: 404, path: `/api/v1/${evil}`, ending: "not_found", error },
    { level: "info", message: "call", status: 200, model: evil, provider: evil, failed_attempts: [evil], key: evil },
    { level: "error", message: evil, cause: { name: evil, message: evil }, field: evil },
  ]) {
    const text = formatLog({ level: "log", message: JSON.stringify(line) }, format, now)
    const ours = [31, 32, 33, 2, 0].map((code) => `\u001b[${code}m`)
    expect(ours.reduce((left, code) => left.replaceAll(code, ""), text)).not.toMatch(/[\p{Cc}\u202e]/u)
  }
  const other = formatLog({ level: "log", message: evil }, format, now)
  expect(other.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u)
})
