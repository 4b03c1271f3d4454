import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { insertGenerations } from "../../src/generations/store.ts"
import { newId } from "../../src/support/ids.ts"
import { newWorkspace, expectJson, type Workspace } from "../support/world.ts"

type Item = {
  date: string
  model: string
  requests: number
  usage: number
  prompt_tokens: number
  workspace_id?: string
}

const DAY_MS = 86_400_000
const today = Date.now() - (Date.now() % DAY_MS)
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

async function addCalls(
  { organizationId, workspaceId }: Workspace,
  calls: { at: number; model?: string; ending?: string; key?: string }[],
) {
  const records = calls.map(({ at, model = "a/one", ending = "complete", key = "k" }) => ({
    id: `gen-${newId()}`,
    organizationId,
    workspaceId,
    keyHash: key,
    createdAt: at,
    model,
    provider: "P",
    upstreamId: null,
    costNano: ending === "refused" ? 0 : 1_500,
    byokCostNano: 0,
    tokens: ending === "refused" ? {} : { prompt: 10, completion: 5, reasoning: 2 },
    ending,
  }))
  await insertGenerations(
    env.DB,
    records.map((record) => JSON.stringify(record)),
  )
}

describe("GET /activity", () => {
  test("returns each of the last 30 completed days by model and provider", async () => {
    const workspace = await newWorkspace()
    await addCalls(workspace, [
      { at: today - 1 },
      { at: today - 1 },
      { at: today - 1, model: "a/two" },
      { at: today - 1, ending: "refused" },
      { at: today },
      { at: today - 30 * DAY_MS },
      { at: today - 30 * DAY_MS - 1 },
    ])
    const { data } = await expectJson<{ data: Item[] }>(200, workspace.manage.get("/activity"))
    expect(data.map(({ date, model, requests }) => [date, model, requests])).toEqual([
      [dayOf(today - 1), "a/one", 2],
      [dayOf(today - 1), "a/two", 1],
      [dayOf(today - 30 * DAY_MS), "a/one", 1],
    ])
    expect(data[0]).toMatchObject({
      usage: 0.000003,
      prompt_tokens: 20,
      completion_tokens: 10,
      reasoning_tokens: 4,
      provider_name: "P",
    })
    expect(data[0]).not.toHaveProperty("workspace_id")
    const one = await expectJson<{ data: Item[] }>(
      200,
      workspace.manage.get(`/activity?date=${dayOf(today - 1)}&group_by=workspace`),
    )
    expect(one.data).toHaveLength(2)
    expect(one.data[0]?.workspace_id).toBe(workspace.workspaceId)
    const other = await expectJson<{ data: Item[] }>(200, (await newWorkspace()).manage.get("/activity"))
    expect(other.data).toEqual([])
  })

  test("filters by key", async () => {
    const workspace = await newWorkspace()
    const key = "a".repeat(64)
    await addCalls(workspace, [{ at: today - 1 }, { at: today - 1, key }])
    const { data } = await expectJson<{ data: Item[] }>(200, workspace.manage.get(`/activity?api_key_hash=${key}`))
    expect(data.map(({ requests }) => requests)).toEqual([1])
  })

  test("filters by workspace, also by a deleted one, and returns 404 for one that never existed", async () => {
    const workspace = await newWorkspace()
    const made = workspace.manage.post("/workspaces", { name: "Team", slug: "team" })
    const { data: team } = await expectJson<{ data: { id: string } }>(201, made)
    await addCalls(workspace, [{ at: today - 1 }])
    const requestsOf = async (id: string) => {
      const { data } = await expectJson<{ data: Item[] }>(200, workspace.manage.get(`/activity?workspace_id=${id}`))
      return data.map(({ requests }) => requests)
    }
    expect(await requestsOf(workspace.workspaceId)).toEqual([1])
    expect(await requestsOf(team.id)).toEqual([])
    await expectJson(200, workspace.manage.delete(`/workspaces/${team.id}`))
    const stranger = await newWorkspace()
    for (const path of ["/activity", "/audit", "/alerts"]) {
      await expectJson(200, workspace.manage.get(`${path}?workspace_id=${team.id}`))
      for (const id of [stranger.workspaceId, crypto.randomUUID()]) {
        await expectJson(404, workspace.manage.get(`${path}?workspace_id=${id}`))
      }
    }
  })

  test("filters by member, also by a former one, and returns 404 for one that never existed", async () => {
    const { manage } = await newWorkspace()
    const added = manage.post("/organization/members", { email: "ada@example.com" })
    const { data: ada } = await expectJson<{ data: { id: string } }>(201, added)
    await expectJson(200, manage.get(`/activity?user_id=${ada.id}`))
    await expectJson(201, manage.post("/keys", { name: "Ada's", creator_user_id: ada.id }))
    await expectJson(200, manage.delete(`/organization/members/${ada.id}`))
    await expectJson(200, manage.get(`/activity?user_id=${ada.id}`))
    for (const client of [manage, (await newWorkspace()).manage]) {
      await expectJson(404, client.get(`/activity?user_id=${client === manage ? "nobody" : ada.id}`))
    }
  })

  test.each([
    `date=${dayOf(today)}`,
    "date=2020-01-01",
    "date=yesterday",
    "api_key_hash=x",
    "group_by=model",
    "workspace_id=x",
  ])("rejects %s and names it", async (query) => {
    const { manage } = await newWorkspace()
    const { error } = await expectJson<{ error: { message: string } }>(400, manage.get(`/activity?${query}`))
    expect(error.message).toContain(query.split("=")[0])
  })

  test("returns 403 to other keys than management keys", async () => {
    await expectJson(403, (await newWorkspace()).as.get("/activity"))
  })
})
