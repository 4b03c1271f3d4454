import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { watchDestinations, watchProviders, watchSpend } from "../../src/alerts/watch.ts"
import type { Attempt } from "../../src/formats/attempt.ts"
import { dayOf } from "../../src/support/time/day.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"
import { alertsOf, record, spend } from "./alerts.ts"

const USD = 1_000_000_000

const attempt = (status: number | null): Attempt => ({
  provider: "Acme",
  model: "m",
  status,
  latencyMs: 1,
  isByok: false,
})

async function callAcme(workspace: Workspace, statuses: readonly (number | null)[]): Promise<void> {
  await Promise.all(statuses.map((status) => spend(workspace, 1, [], { attempts: [attempt(status)] })))
  await record(workspace)
}

test("a provider that fails half of 20 attempts is alerted, once an hour", async () => {
  const workspace = await newWorkspace(1_000)
  const failing = [500, 502, 429, null, 503, 401, 529, 500, 500, 500]
  await callAcme(workspace, [...failing, ...Array.from({ length: 9 }, () => 200)])
  await watchProviders(env, Date.now())
  expect(await alertsOf(workspace)).toEqual([])
  await callAcme(workspace, [200])
  const now = Date.now()
  await watchProviders(env, now)
  await watchProviders(env, now)
  expect(await alertsOf(workspace, "?kind=provider_outage")).toMatchObject([
    {
      workspace_id: null,
      message:
        "Acme failed 10 of 20 attempts in the last ten minutes: 4 with status 500, 1 without a response, 1 with status 401, 4 with others.",
      data: {
        provider: "Acme",
        attempts: 20,
        failed_attempts: 10,
        failures: [
          { status: 500, attempts: 4 },
          ...[null, 401, 429, 502, 503, 529].map((status) => ({ status, attempts: 1 })),
        ],
      },
    },
  ])
})

test("rejections of content are not an outage, and a disabled outage alert is not sent", async () => {
  const workspace = await newWorkspace(1_000)
  await callAcme(
    workspace,
    Array.from({ length: 25 }, () => 400),
  )
  await watchProviders(env, Date.now())
  await callAcme(
    workspace,
    Array.from({ length: 30 }, () => 500),
  )
  await expectJson(200, workspace.manage.patch("/alerts/settings", { provider_outages: false }))
  await watchProviders(env, Date.now())
  expect(await alertsOf(workspace, "?kind=provider_outage")).toEqual([])
})

test("a destination that fails for 15 minutes is alerted once, and again after a recovery", async () => {
  const workspace = await newWorkspace()
  const input = { type: "webhook", name: "Lake", config: { url: "https://example.com/hook" } }
  const { data } = await expectJson<{ data: { id: string } }>(
    201,
    workspace.manage.post("/observability/destinations", input),
  )
  const now = Date.now()
  const fails = (succeededAt: number) =>
    env.DB.prepare(
      "UPDATE destinations SET failures = 7, last_error = 'it returned 500', last_success_at = ? WHERE id = ?",
    )
      .bind(succeededAt, data.id)
      .run()
  await fails(now - 60_000)
  await watchDestinations(env, now)
  expect(await alertsOf(workspace)).toEqual([])
  await fails(now - 3_600_000)
  await watchDestinations(env, now)
  await watchDestinations(env, now + 300_000)
  const [alert, ...others] = await alertsOf(workspace)
  expect(others).toEqual([])
  expect(alert).toMatchObject({ kind: "destination_failing", data: { destination_id: data.id, failures: 7 } })
  expect(alert?.message).toContain('Destination "Lake" (webhook) of workspace "Default" fails.')
  expect(alert?.message).toContain("it returned 500")
  await fails(now)
  await watchDestinations(env, now + 3_600_000)
  expect(await alertsOf(workspace)).toHaveLength(2)
})

async function past(workspace: Workspace, amounts: readonly number[]): Promise<void> {
  const { organizationId, workspaceId } = workspace
  await env.DB.batch(
    amounts.map((nano, index) =>
      env.DB.prepare(
        `INSERT INTO usage_days (organization_id, day, workspace_id, key_hash, model, provider, app, api_type, requests, refused,
           cost_nano, byok_cost_nano, prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, cache_write_tokens,
           latency_ms, latency_count, generation_ms, generation_count)
         VALUES (?, ?, ?, 'k', 'm', '', '', '', 1, 0, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
      ).bind(organizationId, dayOf(Date.now() - (index + 1) * DAY_MS), workspaceId, nano),
    ),
  )
}

test.each([
  ["more than three times the average and the maximum of a day", [2, 2, 2, 2, 2], 6, true],
  ["less than three times the average", [2, 2, 2, 2, 2], 5.9, false],
  ["less than the maximum of a day", [0.1, 0.1, 0.1, 0.1, 9], 8, false],
  ["without enough days to compare", [1, 1, 1, 1], 50, false],
  ["less than a dollar", [0.01, 0.01, 0.01, 0.01, 0.01], 0.9, false],
] as const)("spend of a day that is %s", async (_, days, today, isUnusual) => {
  const workspace = await newWorkspace(1_000_000)
  await expectJson(200, workspace.manage.patch("/alerts/settings", { thresholds: [] }))
  await past(
    workspace,
    days.map((usd) => usd * USD),
  )
  await spend(workspace, Math.round(today * USD), [])
  await record(workspace)
  await watchSpend(env, Date.now())
  await watchSpend(env, Date.now())
  const alerts = await alertsOf(workspace, "?kind=unusual_spend")
  expect(alerts).toHaveLength(isUnusual ? 1 : 0)
  if (isUnusual) {
    expect(alerts[0]).toMatchObject({
      workspace_id: workspace.workspaceId,
      message: expect.stringMatching(/spent 6 USD today; on a day with spend it spent 2 USD on average/),
      data: { spent_usd: 6, average_usd: 2, most_usd: 2 },
    })
  }
})
