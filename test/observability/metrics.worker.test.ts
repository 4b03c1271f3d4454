import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { app } from "../../src/app/app.ts"
import { updateMetrics } from "../../src/observability/metrics/metrics-store.ts"
import { newWorkspace, type Workspace } from "../support/world.ts"
import { parseExposition } from "./exposition.ts"
import { call, flush } from "./receiver.ts"

const TOKEN = "a-token-for-metrics-0123456789"

async function metrics(path: string, key: string | undefined, change: object = {}) {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const request = new Request(`http://gateway.test${path}`, { headers })
  const response = await app.fetch(request, { ...env, ...change }, createExecutionContext())
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
}

async function samplesOf(workspace: Workspace, name: string) {
  const { text } = await metrics("/metrics", workspace.managementKey)
  return parseExposition(text).get(name) ?? []
}

/** Shifts the settlement of the calls into the past. */
const age = (workspace: Workspace, ms: number) =>
  env.DB.prepare("UPDATE generations SET settled_at = settled_at - ? WHERE organization_id = ?")
    .bind(ms, workspace.organizationId)
    .run()

test("calls, tokens, cost, errors and latency are counted once, however often they are read", async () => {
  const workspace = await newWorkspace()
  await call(workspace.as.chat("sim/echo", "Hi"))
  await call(workspace.as.chat("sim/echo", "Hi", { stream: true }))
  await call(workspace.as.chat("sim/status-500", "Hi"))
  await flush(workspace)
  await age(workspace, 120_000)
  const now = Date.now()
  await Promise.all([1, 2, 3].map(() => updateMetrics(env.DB, workspace.organizationId, now)))
  const calls = await samplesOf(workspace, "gateway_calls_total")
  expect(calls.reduce((sum, { value }) => sum + value, 0)).toBe(3)
  expect(calls.find(({ labels }) => labels["model"] === "sim/echo")).toMatchObject({
    labels: { organization: workspace.organizationId, status: "200" },
    value: 2,
  })
  const errors = await samplesOf(workspace, "gateway_call_errors_total")
  expect(errors.reduce((sum, { value }) => sum + value, 0)).toBe(1)
  const tokens = await samplesOf(workspace, "gateway_tokens_total")
  expect(tokens.some(({ labels, value }) => labels["type"] === "prompt" && value > 0)).toBe(true)
  const durations = await samplesOf(workspace, "gateway_call_duration_seconds")
  const counts = durations.filter(({ name }) => name.endsWith("_count"))
  expect(counts.reduce((sum, { value }) => sum + value, 0)).toBe(3)

  await call(workspace.as.chat("sim/echo", "Hi"))
  await flush(workspace)
  // Newer than the calls read before, and old enough to be counted.
  await updateMetrics(env.DB, workspace.organizationId, Date.now() + 180_000)
  const more = await samplesOf(workspace, "gateway_calls_total")
  expect(more.reduce((sum, { value }) => sum + value, 0)).toBe(4)
})

test("a management key reads its organization, METRICS_TOKEN all; other keys get 403 or 401", async () => {
  const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
  for (const workspace of [mine, theirs]) {
    await call(workspace.as.chat("sim/echo", "Hi"))
    await flush(workspace)
    await age(workspace, 120_000)
  }
  const scoped = await metrics("/metrics", mine.managementKey)
  expect(scoped.type).toBe("text/plain; version=0.0.4; charset=utf-8")
  expect(scoped.text).toContain(mine.organizationId)
  expect(scoped.text).not.toContain(theirs.organizationId)
  expect((await metrics("/api/v1/metrics", mine.managementKey)).text).toContain(mine.organizationId)
  const all = await metrics("/metrics", TOKEN, { METRICS_TOKEN: TOKEN })
  expect(all.status).toBe(200)
  expect(all.text).toContain(theirs.organizationId)
  expect((await metrics("/metrics", mine.key)).status).toBe(403)
  expect((await metrics("/metrics", undefined)).status).toBe(401)
  expect((await metrics("/metrics", TOKEN)).status).toBe(401)
  expect((await metrics("/api/v1/metrics", TOKEN, { METRICS_TOKEN: TOKEN })).status).toBe(401)
})
