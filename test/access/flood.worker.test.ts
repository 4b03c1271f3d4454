import { expect, test } from "vitest"
import { isKnown } from "../../src/access/known-keys.ts"
import { RATE_LIMIT } from "../support/rate-limit.ts"
import { client, newKey, newWorkspace, expectJson } from "../support/world.ts"

/** An address used by this test only. */
const ip = () => `203.0.113.${Math.floor(Math.random() * 255)}-${crypto.randomUUID()}`

test("a valid key is looked up in one statement with the flood from its address", async () => {
  const requests: (readonly string[])[] = []
  const find = async (keys: readonly string[]) => {
    requests.push(keys)
    return new Set(keys.filter((key) => key === "valid"))
  }
  const address = ip()
  const keys = [...Array.from({ length: 500 }, (_, at) => `unknown-${at}`), "valid"]
  const known = await Promise.all(keys.map((key) => isKnown(address, key, find)))
  expect(known.filter(Boolean)).toHaveLength(1)
  expect(known.at(-1)).toBe(true)
  expect(requests.map(({ length }) => length)).toEqual([501])
})

test("a failed batch of lookups does not fail the next one", async () => {
  let isFirst = true
  const find = async (keys: readonly string[]) => {
    if (!isFirst) return new Set(keys)
    isFirst = false
    throw new Error("The database is away.")
  }
  const address = ip()
  const reported = await Promise.allSettled(["a", "b", "c"].map((key) => isKnown(address, key, find)))
  expect(reported.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"])
})

test("an address that floods with wrong keys gets 429 except for valid keys, and other addresses do not", async () => {
  const workspace = await newWorkspace()
  const address = ip()
  const from = (key: string, at = address, path = "/key") =>
    client(key)
      .get(path, { "cf-connecting-ip": at })
      .then(async (response) => {
        await response.text()
        return response
      })
  const statuses = new Set<number>()
  // Twice the limit: the minute, and with it the count, may end in between.
  for (let at = 0; at <= 20 * RATE_LIMIT && !statuses.has(429); at += 50) {
    const tries = Array.from({ length: 50 }, () => from(`sk-gw-v1-${crypto.randomUUID()}`))
    for (const { status } of await Promise.all(tries)) statuses.add(status)
  }
  expect([...statuses].toSorted()).toEqual([401, 429])
  for (const path of ["/key", "/datasets/session-cost"]) {
    const refused = await from(`sk-gw-v1-${crypto.randomUUID()}`, address, path)
    expect(refused.status, path).toBe(429)
    for (const header of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"]) {
      expect(refused.headers.get(header), path).toMatch(/^\d+$/)
    }
  }
  expect((await from(workspace.key, ip())).status).toBe(200)
  // A new key, which no isolate has cached.
  const fresh = await newKey(workspace)
  expect((await from(fresh.key)).status).toBe(200)
}, 30_000)

test("an address that floods with wrong links gets 429 except for a valid link", async () => {
  const { as, key } = await newWorkspace()
  type Link = { data: { url: string } }
  const made = await expectJson<Link>(201, as.post("/connect-links", { client: "codex", key, model: "sim/echo" }))
  const address = ip()
  const redeem = async (token: string) => {
    const answer = await client().post("/connect-links/redeem", { token }, { "cf-connecting-ip": address })
    await answer.text()
    return answer.status
  }
  const unknown = () => `${crypto.randomUUID()}-none-`.slice(0, 43).padEnd(43, "x")
  const statuses = new Set<number>()
  for (let at = 0; at <= 20 * RATE_LIMIT && !statuses.has(429); at += 50) {
    const tries = Array.from({ length: 50 }, () => redeem(unknown()))
    for (const status of await Promise.all(tries)) statuses.add(status)
  }
  expect([...statuses].toSorted()).toEqual([404, 429])
  expect(await redeem(new URL(made.data.url).hash.slice(1))).toBe(200)
}, 30_000)

test("an address that floods with wrong codes gets 429 except for a valid code", async () => {
  const { as } = await newWorkspace()
  const request = { callback_url: "https://app.example/back" }
  const { data } = await expectJson<{ data: { id: string } }>(200, as.post("/auth/keys/code", request))
  const address = ip()
  const exchange = async (code: string) => {
    const answer = await client().post("/auth/keys", { code }, { "cf-connecting-ip": address })
    await answer.text()
    return answer.status
  }
  const statuses = new Set<number>()
  for (let at = 0; at <= 20 * RATE_LIMIT && !statuses.has(429); at += 50) {
    const tries = Array.from({ length: 50 }, () => exchange(crypto.randomUUID()))
    for (const status of await Promise.all(tries)) statuses.add(status)
  }
  expect([...statuses].toSorted()).toEqual([403, 429])
  expect(await exchange(data.id)).toBe(200)
}, 30_000)

test("a flood on free models does not reach the ledger", async () => {
  const workspace = await newWorkspace()
  const answers: string[] = []
  for (let at = 0; at <= 20 * RATE_LIMIT && !answers.includes("flood"); at += 50) {
    const calls = Array.from({ length: 50 }, async () => {
      const response = await workspace.as.chat("sim/echo:free", "Hi")
      const { error } = await response.json<{ error?: { metadata?: { reason?: string } } }>()
      return error?.metadata?.reason ?? String(response.status)
    })
    answers.push(...(await Promise.all(calls)))
  }
  expect(new Set(answers)).toEqual(new Set(["200", "free_model_limit", "flood"]))
  await expectJson(200, workspace.as.chat("sim/echo", "A paid model has no such limit"))
}, 30_000)
