import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { asGatewayError } from "../../src/errors/errors.ts"

test("a call of a method that an object of another release lacks is a 503 with Retry-After", async () => {
  const object: unknown = env.LEDGER.get(env.LEDGER.idFromName("another release"))
  const error: unknown = await (object as { newMethod: () => Promise<unknown> }).newMethod().catch((thrown) => thrown)
  expect(asGatewayError(error)).toMatchObject({ code: "unavailable", headers: { "retry-after": "2" } })
})
