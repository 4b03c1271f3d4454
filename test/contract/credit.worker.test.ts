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
