import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { errorIn } from "../../src/formats/chat/provider-error.ts"
import { readErrorBody } from "../../src/providers/responses/error-body.ts"
import { toErrorResponse, toRejection } from "../../src/providers/responses/rejection.ts"
import { retryHintInText } from "../../src/support/time/retry-after.ts"

const PROVIDER = { name: "Acme", apiKey: "sk-acme-0123456789abcdef" }
const rejected = (status: number, body: unknown) =>
  toRejection(
    PROVIDER,
    { status, headers: new Headers(), body: typeof body === "string" ? body : JSON.stringify(body) },
    { now: 0 },
  )

describe("the message of an error body", () => {
  test.each<[string, unknown]>([
    ["as text, as Rust frameworks send it", "bad temperature"],
    ["as a JSON string, as SiliconFlow sends it", JSON.stringify("bad temperature")],
    ["in detail.error, as DeepInfra sends it", { detail: { error: "bad temperature" } }],
    ["in detail.msg, as KoboldCpp sends it", { detail: { msg: "bad temperature", type: "x" } }],
    ["in detail.message", { detail: { message: "bad temperature", code: "x" } }],
    [
      "in a list of errors, as Cloudflare sends it",
      { success: false, error: [{ code: 1, message: "bad temperature" }] },
    ],
    [
      "in a list of descriptions, as Writer sends it",
      { tpe: "x", errors: [{ description: "bad temperature", key: "k" }] },
    ],
    ["in a list of texts", { error: ["bad temperature"] }],
    ["in a list beside a title, as NestJS sends it", { error: "Bad Request", message: ["bad temperature"] }],
    ["beside a title, as Spring sends it", { status: 400, error: "Bad Request", message: "bad temperature" }],
    ["in detail of a problem", { type: "about:blank", title: "Bad Request", detail: "bad temperature" }],
    ["in capitals, as AWS sends it", { Message: "bad temperature" }],
    ["in capitals below Error", { Error: { Code: "InvalidParameter", Message: "bad temperature" } }],
    ["as JSON in a message, as a proxy sends it", { message: '{"error":{"message":"bad temperature"}}' }],
    ["beside a code, as Alibaba sends it", { code: "InvalidParameter", message: "bad temperature", request_id: "r" }],
  ])("is found %s", (_, body) => {
    expect(rejected(400, body).message).toBe("bad temperature")
  })

  test("names the fields of a validation", () => {
    expect(rejected(422, { title: "Errors occurred.", errors: { temperature: ["must be below 2"] } }).message).toBe(
      "temperature: must be below 2",
    )
  })

  test.each([
    ["<html>Bad gateway</html>"],
    ["Traceback:\n  at x"],
    ["x".repeat(501)],
    [" "],
    ['{"error":{"mess'],
    ["7"],
  ])("is the status for %j", (body) => {
    expect(rejected(400, body).message).toBe("Acme returned status 400.")
  })

  test("never contains the key", () => {
    const inAnyShape = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(PROVIDER.apiKey, `key ${PROVIDER.apiKey} is bad`),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("error", "message", "detail", "errors", "msg", "Message"), tie("value")),
      ),
    })).value
    const holds = fc.property(inAnyShape, (body) => {
      expect(rejected(400, JSON.stringify(body)).message).not.toContain(PROVIDER.apiKey)
    })
    fc.assert(holds)
  })

  test("of any body is a text or missing", () => {
    const holds = fc.property(fc.jsonValue(), (body) => {
      expect(["string", "undefined"]).toContain(typeof readErrorBody(JSON.stringify(body), 0).message)
    })
    fc.assert(holds)
  })
})

describe("errors about the account at a provider", () => {
  test.each([
    "Access denied, please make sure your account is in good standing.",
    "User location is not supported for the API use.",
    "Your account org-x is suspended, please check your plan",
    "The request failed because your account has an overdue balance.",
  ])("are not the client's: %s", (message) => {
    expect(rejected(400, { error: { message } })).toMatchObject({ code: "provider_failed", blamesKey: true })
  })
})

describe("an error with status 200", () => {
  const read = (body: Record<string, unknown>) => {
    const error = errorIn(body)
    return error && toRejection(PROVIDER, toErrorResponse(error), { now: 0 })
  }

  test.each([
    [1002, "rate_limited"],
    [1008, "provider_failed"],
    [2013, "invalid_request"],
    [1000, "provider_failed"],
  ])("in base_resp has the meaning of its code %i", (code, name) => {
    const rejection = read({ choices: null, base_resp: { status_code: code, status_msg: "no" } })
    expect(rejection).toMatchObject({ code: name })
  })

  test.each([
    [{ choices: [], base_resp: { status_code: 0, status_msg: "" } }],
    [{ code: 0, message: "Success", usage: {} }],
    [{ code: 0, message: "Success", choices: [{ index: 0 }] }],
    [{ choices: [], base_resp: null }],
  ])("is none in %j", (body) => {
    expect(errorIn(body)).toBeNull()
  })

  test("is a message without choices", () => {
    expect(errorIn({ code: 10_013, message: "audit failed" })).toMatchObject({ message: "audit failed" })
    expect(errorIn({ code: "", message: "audit failed" })).toMatchObject({ message: "audit failed" })
    expect(errorIn({ code: 10_013, message: "audit failed", choices: null })).toMatchObject({ message: "audit failed" })
  })
})

describe("the delay in a message of a limit", () => {
  test.each([
    ["Please retry after 26 seconds.", 26_000],
    ["Rate limit reached. Please try again in 6m0s.", 360_000],
    ["Please try again in 1m2.5s. Visit x", 62_500],
    ["Please try again in 20ms.", 20],
    ["Please wait 3600 seconds before retrying.", 3_600_000],
    ["Please retry in 27.123s.", 27_123],
    ["Try again in 2 minutes", 120_000],
    ["try again in 1h2m3s", 3_723_000],
  ])("%s is %i ms", (message, ms) => {
    expect(retryHintInText(message)).toBe(ms)
  })

  test.each(["Please try again later.", "Limit 5 per minute", "Try again in a moment", "retry 3 times", "wait 5 more"])(
    "%s has none",
    (message) => {
      expect(retryHintInText(message)).toBeNull()
    },
  )

  test("is a hint, up to five minutes, if no header has one", () => {
    const error = { message: "Please retry after 26 seconds." }
    expect(rejected(429, { error }).retryAfterMs).toBe(26_000)
    expect(rejected(400, { error }).retryAfterMs).toBeNull()
    expect(rejected(429, { error: { message: "Please wait 3600 seconds." } }).retryAfterMs).toBe(300_000)
    const headers = new Headers({ "retry-after": "7" })
    const limited = toRejection(PROVIDER, { status: 429, headers, body: JSON.stringify({ error }) }, { now: 0 })
    expect(limited.retryAfterMs).toBe(7_000)
  })
})
