import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { app } from "../../src/app/app.ts"
import type { Env } from "../../src/config/env.ts"

type Failure = { error: { code: number; message: string } }

async function failureOf(change: Partial<Record<keyof Env, unknown>>): Promise<Failure> {
  const answer = await app.request(
    "http://gateway.test/api/v1/models",
    {},
    { ...env, ...change },
    createExecutionContext(),
  )
  expect(answer.status).toBe(503)
  return answer.json<Failure>()
}

describe("an unconfigured deployment serves nothing and names the variable", () => {
  test.each(["MASTER_KEY", "BOOTSTRAP_MANAGEMENT_KEY"] as const)("%s", async (name) => {
    for (const value of [undefined, ""]) {
      const { error } = await failureOf({ [name]: value })
      expect(error.code).toBe(503)
      expect(error.message).toContain(`wrangler secret put ${name}`)
    }
  })

  test("MASTER_KEY of the wrong length", async () => {
    const { error } = await failureOf({ MASTER_KEY: btoa("too short") })
    expect(error.message).toContain("32 random bytes")
    expect(error.message).not.toContain(btoa("too short"))
  })

  test("BOOTSTRAP_MANAGEMENT_KEY that can be guessed", async () => {
    expect((await failureOf({ BOOTSTRAP_MANAGEMENT_KEY: "secret" })).error.message).toContain("at least 32 characters")
  })

  test("invalid CUSTOM_PROVIDERS, without quoting their keys", async () => {
    const custom = [{ slug: "mine", base_url: "ftp://x", api_key: "do-not-tell", models: [] }]
    const { error } = await failureOf({ CUSTOM_PROVIDERS: JSON.stringify(custom) })
    expect(error.message).toContain("CUSTOM_PROVIDERS[0].base_url")
    expect(error.message).not.toContain("do-not-tell")
  })
})

test("an invalid variable fails every route, together with all other invalid ones", async () => {
  const { error } = await failureOf({ FREE_REQUESTS_PER_MINUTE: "lots", CLIENT_DIALECT: "openruter" })
  expect(error.message).toContain(
    'FREE_REQUESTS_PER_MINUTE: must be a whole number of requests, at least 0, but is "lots".',
  )
  expect(error.message).toContain('CLIENT_DIALECT: must be one of service, openrouter, but is "openruter".')
})
