import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { asGatewayError } from "../../src/errors/errors.ts"

test("a call of a method that an object of another release lacks is a 503 with Retry-After", async () => {
  const object: unknown = env.LEDGER.get(env.LEDGER.idFromName("another release"))
  const error: unknown = await (object as { newMethod: () => Promise<unknown> }).newMethod().catch((thrown) => thrown)
  expect(asGatewayError(error)).toMatchObject({ code: "unavailable", headers: { "retry-after": "2" } })
})

test("an internal error of the platform, as on a full disk, is a 503 with Retry-After", () => {
  const error = new Error("D1_ERROR: internal error; reference = 84ee1k77if90ul2p5ql7tg03")
  expect(asGatewayError(error)).toMatchObject({ code: "unavailable", headers: { "retry-after": "2" } })
})
