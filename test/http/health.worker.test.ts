import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { app } from "../../src/app/app.ts"
import type { Env } from "../../src/config/env.ts"
import { newWorkspace, readStream } from "../support/world.ts"

const get = async (path: string, change: Partial<Record<keyof Env, unknown>> = {}) => {
  const response = await app.request(`http://gateway.test${path}`, {}, { ...env, ...change }, createExecutionContext())
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> }
}

const failing = () => Promise.reject(new Error("secret words of a dependency"))
const databaseThat = (answer: () => Promise<never>) => ({
  prepare: () => ({ bind: () => ({ all: answer, raw: answer, first: answer, run: answer }) }),
})
const brokenDatabase = databaseThat(failing)
const silentDatabase = databaseThat(() => new Promise(() => {}))

describe("GET /health", () => {
  test("is 200 while the isolate runs, whatever the state of its dependencies", async () => {
    expect(await get("/health")).toMatchObject({ status: 200, body: { status: "ok" } })
    expect(await get("/health", { DB: brokenDatabase })).toMatchObject({ status: 200, body: { status: "ok" } })
  })

  test.each([
    [{ MASTER_KEY: undefined }, "MASTER_KEY is missing"],
    [{ CUSTOM_PROVIDERS: '[{"slug":"x","api_key":"do-not-quote"}]' }, "CUSTOM_PROVIDERS"],
    [{ PRIVATE_HOSTS: "http://x" }, "PRIVATE_HOSTS"],
  ])("names invalid configuration: %j", async (change, message) => {
    const { status, text, body } = await get("/health", change)
    expect([status, body["status"]]).toEqual([503, "unconfigured"])
    expect(text).toContain(message)
    expect(text).not.toContain("do-not-quote")
  })
})

describe.each(["/ready", "/health?deep"])("GET %s", (path) => {
  test("lists every dependency of a call, without a key and without a secret", async () => {
    const { status, text, body } = await get(path)
    expect(body).toEqual({
      status: "ready",
      components: {
        database: "ok",
        schema: "ok",
        catalogue: "ok",
        ledger: "ok",
        files: "ok",
        queue: "ok",
        rate_limiter: "ok",
        metrics: "absent",
      },
    })
    expect(status).toBe(200)
    for (const secret of [env.MASTER_KEY, env.BOOTSTRAP_MANAGEMENT_KEY, "provider-key"])
      expect(text).not.toContain(secret)
  })

  test.each([
    ["database", { DB: brokenDatabase }, "unavailable"],
    ["database", { DB: silentDatabase }, "unavailable"],
    ["files", { FILES: { head: failing } }, "unavailable"],
    ["ledger", { LEDGER: { idFromName: () => "", get: () => ({ balance: failing }) } }, "unavailable"],
    ["queue", { BROADCAST: undefined }, "absent"],
  ])("is 503 if calls would fail: %s", async (component, change, state) => {
    const { status, text, body } = await get(path, change)
    expect(status).toBe(503)
    expect(body).toMatchObject({ status: "not_ready", components: { [component]: state } })
    expect(text).not.toContain("secret words")
  })

  test("is 503 with the command to run if a migration is missing", async () => {
    const DB = { prepare: () => ({ bind: () => ({ all: async () => ({ results: [] }), raw: async () => [] }) }) }
    const { status, body } = await get(path, { DB })
    expect(status).toBe(503)
    expect(body).toMatchObject({ components: { database: "ok", schema: "behind" } })
    expect(body["fault"]).toContain("d1 migrations apply")
  })
})

test("a call on a database that lacks a migration is 503 and names the command", async () => {
  const missing = () => Promise.reject(new Error("D1_ERROR: no such column: parent_hash: SQLITE_ERROR"))
  const DB = {
    prepare: () => ({ bind: () => ({ all: missing, raw: missing, first: missing, run: missing }) }),
    batch: missing,
  }
  const headers = { authorization: "Bearer sk-gw-v1-of-nobody-whom-a-cache-could-know-0000" }
  const response = await app.request(
    "http://gateway.test/api/v1/key",
    { headers },
    { ...env, DB },
    createExecutionContext(),
  )
  expect(response.status).toBe(503)
  expect(await response.text()).toContain("wrangler d1 migrations apply")
})

describe("X-Service-Timing: enabled", () => {
  const enabled = { "x-service-timing": "enabled" }

  test("reports the time of each provider, and the total", async () => {
    const { as } = await newWorkspace()
    const answer = await as.chat("sim/echo", "Hi", {}, enabled)
    await answer.text()
    expect(answer.headers.get("server-timing")).toMatch(/^provider-1;dur=\d+;desc="Embedded", total;dur=\d+$/)
    const { response } = await readStream(as.chat("sim/echo", "Hi", { stream: true }, enabled))
    expect(response.headers.get("server-timing")).toMatch(/^provider-1;dur=\d+;desc="Embedded", total;dur=\d+$/)
    expect((await as.get("/key", enabled)).headers.get("server-timing")).toMatch(/^total;dur=\d+$/)
  })

  test("is required for the Server-Timing header", async () => {
    const { as } = await newWorkspace()
    for (const headers of [{}, { "x-service-timing": "no" }]) {
      expect((await as.get("/key", headers)).headers.get("server-timing")).toBeNull()
    }
  })
})

describe("a data point", () => {
  test("is written for each call if there is a data set, without prompts and responses", async () => {
    const workspace = await newWorkspace()
    const points: AnalyticsEngineDataPoint[] = []
    const METRICS = { writeDataPoint: (point: AnalyticsEngineDataPoint) => void points.push(point) }
    const context = createExecutionContext()
    const answer = await app.fetch(
      new Request("http://gateway.test/api/v1/chat/completions", {
        method: "POST",
        headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "sim/echo", messages: [{ role: "user", content: "between us" }], user: "grace" }),
      }),
      { ...env, METRICS },
      context,
    )
    await answer.text()
    await waitOnExecutionContext(context)
    expect(points).toEqual([
      {
        indexes: [workspace.organizationId],
        blobs: ["completions", "sim/echo", "Embedded", "complete", "stop", "upstream", "whole", "shared"],
        doubles: [200, ...Array.from({ length: 8 }, () => expect.any(Number) as number)],
      },
    ])
    expect(JSON.stringify(points)).not.toMatch(/between us|grace/)
  })
})
