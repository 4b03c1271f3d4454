import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { configError } from "../../src/app/configuration.ts"
import { contentChecksOf } from "../../src/guardrails/checks/settings.ts"

const check = { name: "guard", url: "https://guard.example.com/check" }
const withChecks = (value: unknown) => ({ ...env, CONTENT_CHECKS: JSON.stringify(value) })

describe("CONTENT_CHECKS", () => {
  test("has defaults for all but name and URL", () => {
    expect(contentChecksOf(withChecks([check])).get("guard")).toEqual({
      ...check,
      format: "webhook",
      headers: {},
      parameters: {},
      timeout_ms: 5_000,
      if_unavailable: "block",
    })
  })

  const secret = "line\nbreak-secret-0123"
  test.each([
    [{}, "CONTENT_CHECKS: must be a JSON array."],
    [[{ ...check, name: "Guard" }], "CONTENT_CHECKS[0].name: must be 1 to 64 lower case letters, digits, - and _."],
    [[{ ...check, url: "guard" }], "CONTENT_CHECKS[0].url: must be an http or https URL, such as"],
    [[{ ...check, format: "soap" }], "CONTENT_CHECKS[0].format: accepts webhook, openai, lakera, litellm."],
    [[{ ...check, timeout_ms: 60_000 }], "CONTENT_CHECKS[0].timeout_ms: must be from 50 to 30000."],
    [[{ ...check, if_unavailable: "pass" }], "CONTENT_CHECKS[0].if_unavailable: accepts block, allow."],
    [[{ ...check, headers: { Host: "x" } }], "CONTENT_CHECKS[0].headers.Host: "],
    [[{ ...check, headers: { "x-key": secret } }], "CONTENT_CHECKS[0].headers.x-key: must be printable ASCII."],
    [[{ ...check, more: 1 }], "CONTENT_CHECKS[0]: "],
    [[check, check], "CONTENT_CHECKS: two checks have one name."],
  ])("rejects %j with the field, without secrets", (value, message) => {
    const error = configError(withChecks(value))
    expect(error?.message).toContain(message)
    expect(error?.message).not.toContain("break-secret")
  })
})
