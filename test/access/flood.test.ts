import { expect, test } from "vitest"
import { door, newWorkspace, reply } from "../support/world.ts"

/** As wrangler.toml has it. */
const LIMIT = 600

/** Of this test alone. */
const ip = () => `203.0.113.${Math.floor(Math.random() * 255)}-${crypto.randomUUID()}`

test("an address that tries keys without end is refused before they are looked up, and others are not", async () => {
  const workspace = await newWorkspace()
  const address = ip()
  const from = (key: string, at = address) =>
    door(key)
      .get("/key", { "cf-connecting-ip": at })
      .then(async (response) => {
        await response.text()
        return response
      })
  const statuses = new Set<number>()
  // Twice the limit: a minute may end in between, and with it the count.
  for (let at = 0; at <= 2 * LIMIT && !statuses.has(429); at += 50) {
    const tries = Array.from({ length: 50 }, () => from(`sk-gw-v1-${crypto.randomUUID()}`))
    for (const { status } of await Promise.all(tries)) statuses.add(status)
  }
  expect([...statuses].toSorted()).toEqual([401, 429])
  const refused = await from(`sk-gw-v1-${crypto.randomUUID()}`)
  expect(refused.status).toBe(429)
  for (const header of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"]) {
    expect(refused.headers.get(header)).toMatch(/^\d+$/)
  }
  expect((await from(workspace.key, ip())).status).toBe(200)
}, 30_000)

test("a flood on free models does not reach the ledger", async () => {
  const workspace = await newWorkspace()
  const answers: string[] = []
  for (let at = 0; at <= 2 * LIMIT && !answers.includes("flood"); at += 50) {
    const calls = Array.from({ length: 50 }, async () => {
      const response = await workspace.as.chat("sim/echo:free", "Hi")
      const { error } = await response.json<{ error?: { metadata?: { reason?: string } } }>()
      return error?.metadata?.reason ?? String(response.status)
    })
    answers.push(...(await Promise.all(calls)))
  }
  expect(new Set(answers)).toEqual(new Set(["200", "free_model_limit", "flood"]))
  await reply(200, workspace.as.chat("sim/echo", "A paid model has no such limit"))
}, 30_000)
