import { afterEach, expect, test, vi } from "vitest"
import { expectJson, newKey, newWorkspace, operatorClient } from "../support/world.ts"

afterEach(() => vi.useRealTimers())

test("an account without balance is served once its balance is above zero", async () => {
  const { as, organizationId } = await newWorkspace(0)
  await expectJson(402, as.chat("sim/echo", "Hi"))
  const credit = { id: "first", amount_usd: 1, organization_id: organizationId }
  await expectJson(200, operatorClient.post("/credits", credit))
  await expectJson(200, as.chat("sim/echo", "Hi"))
})

test("a credit is applied once per id, and its id with another amount is a conflict that changes nothing", async () => {
  const { manage, organizationId } = await newWorkspace(0)
  const credit = (id: string, amount: number) =>
    operatorClient.post("/credits", { id, amount_usd: amount, organization_id: organizationId })
  const total = async () => {
    const { data } = await expectJson<{ data: { total_credits: number } }>(200, manage.get("/credits"))
    return data.total_credits
  }
  const largest = 1_000_000
  for (const _ of [1, 2]) await expectJson(200, credit("invoice-17", 5))
  const { error } = await expectJson<{ error: { message: string } }>(409, credit("invoice-17", 50))
  expect(error.message).toBe("id: a credit with this id has another amount. Use a new id.")
  expect(await total()).toBe(5)
  for (let number = 1; number <= 9; number++) await expectJson(200, credit(`large-${number}`, largest))
  // A repeated credit has no effect, however near the maximum balance is.
  await expectJson(200, credit("large-9", largest))
  await expectJson(400, credit("large-10", largest))
  expect(await total()).toBe(9 * largest + 5)
})

test("a key whose limit is used up is served again after the reset of its limit", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() })
  const { as } = await newKey(await newWorkspace(), { limit: 0.0015, limit_reset: "daily" })
  type Key = { data: { limit_remaining: number } }
  const remaining = async () => (await expectJson<Key>(200, as.get("/key"))).data.limit_remaining
  await expectJson(200, as.chat("sim/long", "Hi"))
  await expectJson(402, as.chat("sim/echo", "Hi"))
  expect(await remaining()).toBeLessThan(0.001)
  vi.setSystemTime(Date.now() + 86_400_000)
  expect(await remaining()).toBe(0.0015)
  await expectJson(200, as.chat("sim/echo", "Hi"))
})

test.each(["/chat/completions", "/responses", "/embeddings"])("the limit of a key applies to %s", async (path) => {
  const { as } = await newKey(await newWorkspace(), { limit: 0 })
  const model = path === "/embeddings" ? "sim/embed" : "sim/echo"
  const isChat = path === "/chat/completions"
  await expectJson(
    402,
    as.post(path, { model, ...(isChat ? { messages: [{ role: "user", content: "Hi" }] } : { input: "Hi" }) }),
  )
})

test("a balance below zero is 402 for free models too", async () => {
  const { as, organizationId } = await newWorkspace(0)
  await expectJson(200, as.chat("sim/echo:free", "Hi"))
  const debit = { id: "taken", amount_usd: -1, organization_id: organizationId }
  await expectJson(200, operatorClient.post("/credits", debit))
  await expectJson(402, as.chat("sim/echo:free", "Hi"))
})
