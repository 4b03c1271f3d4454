import { describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"

type Stage = { name: string; summary: string; data: Record<string, unknown> }
type Answer = {
  error?: { message: string; metadata?: Record<string, unknown> }
  service_metadata?: { pipeline: Stage[]; endpoints: { total: number } }
}
const METADATA = { "x-service-metadata": "enabled" }

async function guard(workspace: Workspace, name: string, rules: Record<string, unknown>, scope = "key"): Promise<void> {
  const input = { name, ...rules }
  const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", input))
  if (scope === "member") {
    const { data: key } = await expectJson<{ data: { creator_user_id: string } }>(200, workspace.manage.get("/key"))
    const members = { member_user_ids: [key.creator_user_id] }
    return void (await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/members`, members)))
  }
  const keys = await expectJson<{ data: { hash: string; kind: string }[] }>(200, workspace.manage.get("/keys"))
  const hash = keys.data.find(({ kind }) => kind === "normal")?.hash
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
}

const call = (workspace: Workspace, status: number, content = "Hi") =>
  expectJson<Answer>(status, workspace.as.chat("sim/echo", content, {}, METADATA))

describe("the pipeline stage of a guardrail", () => {
  test.each([
    ["allowed_models", "route", { allowed_models: ["sim/json"] }, 1],
    ["ignored_providers", "route", { ignored_providers: ["embedded"] }, 1],
    ["limit_usd", "budget", { limit_usd: 0.000_000_1, reset_interval: "daily" }, 1],
    ["requests_per_minute", "rate_limit", { requests_per_minute: 1 }, 2],
  ])("names the rule that rejected a call: %s", async (field, engine, rules, calls) => {
    const workspace = await newWorkspace()
    await guard(workspace, "Rail", rules)
    for (let before = 1; before < calls; before++) await call(workspace, 200)
    const { error, service_metadata: metadata } = await call(workspace, engine === "rate_limit" ? 429 : 403)
    expect(error?.metadata?.["patterns"]).toEqual([field])
    expect(metadata?.pipeline).toMatchObject([
      {
        type: "guardrail",
        name: "Rail",
        guardrail_scope: "key",
        summary: `blocked: ${field}`,
        data: { action: "block", detected: true, engines: [engine], patterns: [field] },
      },
    ])
    expect(metadata?.endpoints.total).toBe(engine === "route" ? 0 : 1)
  })

  test("reports that its rules rejected nothing, and which other guardrail did", async () => {
    const workspace = await newWorkspace()
    await guard(workspace, "Open", { allowed_models: ["sim/*"], limit_usd: 5, reset_interval: "daily" }, "member")
    const passed = await call(workspace, 200)
    expect(passed.service_metadata?.pipeline).toMatchObject([
      { name: "Open", data: { action: "none", detected: false, engines: ["route", "budget"], patterns: [] } },
    ])
    await guard(workspace, "Closed", { ignored_models: ["sim/echo"] })
    const { service_metadata: metadata } = await call(workspace, 403)
    expect(Object.fromEntries(metadata?.pipeline.map(({ name, data }) => [name, data["action"]]) ?? [])).toEqual({
      Open: "none",
      Closed: "block",
    })
  })

  test("includes the findings of its content filters", async () => {
    const workspace = await newWorkspace()
    await guard(workspace, "Both", {
      ignored_models: ["sim/echo"],
      content_filters: [{ action: "flag", pattern: "orange" }],
    })
    const { service_metadata: metadata } = await call(workspace, 403, "An orange")
    expect(metadata?.pipeline).toMatchObject([
      {
        summary: "flagged: orange; blocked: ignored_models",
        data: { action: "block", engines: ["regex", "route"], patterns: ["orange", "ignored_models"] },
      },
    ])
  })
})

test("the record of a rejected call has the findings of its guardrails", async () => {
  const workspace = await newWorkspace()
  await guard(workspace, "Both", {
    ignored_models: ["sim/echo"],
    content_filters: [{ action: "flag", pattern: "orange" }],
  })
  await expectJson(403, workspace.as.chat("sim/echo", "An orange"))
  const id = await eventually(async () => {
    const { data } = await expectJson<{ data: { id: string }[] }>(200, workspace.manage.get("/calls?status=403"))
    expect(data).toHaveLength(1)
    return data[0]?.id
  })
  const { data } = await expectJson<{ data: { guardrails: unknown[] } }>(200, workspace.manage.get(`/calls/${id}`))
  expect(data.guardrails).toMatchObject([{ name: "Both", patterns: ["orange", "ignored_models"] }])
})
