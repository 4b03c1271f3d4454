import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { app } from "../../src/app/app.ts"
import type { Env } from "../../src/config/env.ts"
import { newWorkspace, readStream } from "../support/world.ts"

const health = async (change: Partial<Record<keyof Env, unknown>> = {}) => {
  const answer = await app.request("http://gateway.test/health", {}, { ...env, ...change })
  const text = await answer.text()
  return { status: answer.status, text, health: JSON.parse(text) as Record<string, unknown> }
}

describe("GET /health", () => {
  test("says what is there, to anybody, and no secret of it", async () => {
    const { status, text, health: told } = await health()
    expect(status).toBe(200)
    expect(told).toEqual({
      status: "ok",
      components: {
        database: "ok",
        catalogue: "ok",
        files: "ok",
        ledger: "ok",
        broadcast: "ok",
        rate_limiter: "ok",
        metrics: "absent",
      },
    })
    for (const secret of [env.MASTER_KEY, env.BOOTSTRAP_MANAGEMENT_KEY, "provider-key"])
      expect(text).not.toContain(secret)
  })

  test.each([
    [{ MASTER_KEY: undefined }, "MASTER_KEY is missing"],
    [{ CUSTOM_PROVIDERS: '[{"slug":"x","api_key":"do-not-tell"}]' }, "CUSTOM_PROVIDERS"],
    [{ PRIVATE_HOSTS: "http://x" }, "PRIVATE_HOSTS"],
  ])("says what is missing: %j", async (change, words) => {
    const { status, text, health: told } = await health(change)
    expect([status, told["status"]]).toEqual([503, "unconfigured"])
    expect(text).toContain(words)
    expect(text).not.toContain("do-not-tell")
  })

  test("says when the database is away", async () => {
    const away = { prepare: () => ({ first: () => Promise.reject(new Error("secret words of a database")) }) }
    const { status, text, health: told } = await health({ DB: away })
    expect(status).toBe(503)
    expect(told).toMatchObject({ status: "unavailable", components: { database: "unavailable" } })
    expect(text).not.toContain("secret words")
  })
})

describe("X-Service-Timing: enabled", () => {
  const asked = { "x-service-timing": "enabled" }

  test("tells how long each provider was waited for, and all of it", async () => {
    const { as } = await newWorkspace()
    const answer = await as.chat("sim/echo", "Hi", {}, asked)
    await answer.text()
    expect(answer.headers.get("server-timing")).toMatch(/^provider-1;dur=\d+;desc="Embedded", total;dur=\d+$/)
    const { response } = await readStream(as.chat("sim/echo", "Hi", { stream: true }, asked))
    expect(response.headers.get("server-timing")).toMatch(/^provider-1;dur=\d+;desc="Embedded", total;dur=\d+$/)
    expect((await as.get("/key", asked)).headers.get("server-timing")).toMatch(/^total;dur=\d+$/)
  })

  test("is asked for, or nothing is told", async () => {
    const { as } = await newWorkspace()
    for (const headers of [{}, { "x-service-timing": "no" }]) {
      expect((await as.get("/key", headers)).headers.get("server-timing")).toBeNull()
    }
  })
})

describe("a data point", () => {
  test("is written for each call where there is a data set, and says nothing that was said", async () => {
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
