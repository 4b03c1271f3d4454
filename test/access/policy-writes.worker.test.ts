import { expect, test } from "vitest"
import { env } from "cloudflare:workers"
import { policyColumns, watchPolicyWrites } from "../support/policy-writes.ts"
import { newKey, newMember, newWorkspace } from "../support/world.ts"

watchPolicyWrites()

const unrevised = async (organizationId: string) => {
  const statement = env.DB.prepare("SELECT table_name FROM unrevised WHERE organization_id = ?").bind(organizationId)
  return (await statement.all<{ table_name: string }>()).results.map(({ table_name: name }) => name)
}

test("cached keys and presets are read from these tables", async () => {
  expect([...(await policyColumns()).keys()].toSorted()).toEqual([
    "api_keys",
    "byok_credentials",
    "destinations",
    "guardrail_keys",
    "guardrail_members",
    "guardrails",
    "organizations",
    "presets",
    "provider_budgets",
    "workspace_budgets",
    "workspaces",
  ])
})

test("each change of a policy has a revision in its transaction", async () => {
  const workspace = await newWorkspace()
  const { manage, organizationId } = workspace
  const { hash } = await newKey(workspace)
  const userId = `user-of-${organizationId}`
  await newMember(workspace, userId)
  const silent: string[] = []
  const change = async (name: string, response: Promise<Response>) => {
    const answer = await response
    const text = await answer.text()
    expect([name, answer.status < 300], text).toEqual([name, true])
    const tables = await unrevised(organizationId)
    if (tables.length > 0) silent.push(`${name}: ${tables.join(", ")}`)
    return JSON.parse(text || "{}") as { data?: { id: string }; id?: string }
  }
  const { data } = await change("create a guardrail", manage.post("/guardrails", { name: "limits" }))
  const guardrail = `/guardrails/${data?.id}`
  const keys = { key_hashes: [hash] }
  const members = { member_user_ids: [userId] }
  await change("update a guardrail", manage.patch(guardrail, { limit_usd: 5, reset_interval: "daily" }))
  await change("assign a key", manage.post(`${guardrail}/assignments/keys`, keys))
  await change("unassign a key", manage.post(`${guardrail}/assignments/keys/remove`, keys))
  await change("assign a member", manage.post(`${guardrail}/assignments/members`, members))
  await change("unassign a member", manage.post(`${guardrail}/assignments/members/remove`, members))
  await change("delete a guardrail", manage.delete(guardrail))
  await change("limit a key", manage.patch(`/keys/${hash}`, { limit: 5 }))
  await change("disable a key", manage.patch(`/keys/${hash}`, { disabled: true }))
  await change("delete a key", manage.delete(`/keys/${hash}`))
  const byok = await change(
    "add a credential",
    manage.post("/byok", { provider: "openai", key: "sk-of-the-workspace" }),
  )
  await change("disable a credential", manage.patch(`/byok/${byok.data?.id}`, { disabled: true }))
  await change("delete a credential", manage.delete(`/byok/${byok.data?.id}`))
  await change("set a budget", manage.put("/workspaces/default/budgets/daily", { limit_usd: 5 }))
  await change("delete a budget", manage.delete("/workspaces/default/budgets/daily"))
  await change("set a provider's budget", manage.put("/provider-budgets/openai/daily", { limit_usd: 5 }))
  await change("delete a provider's budget", manage.delete("/provider-budgets/openai/daily"))
  await change(
    "change a workspace",
    manage.patch("/workspaces/default", { disabled_server_tools: ["service:datetime"] }),
  )
  await change("create a preset", manage.post("/presets/p/chat/completions", { model: "sim/echo" }))
  await change("disable a preset", manage.patch("/presets/p", { status: "disabled" }))
  const hook = { type: "webhook", name: "hook", config: { url: "https://hook.example" } }
  const destination = await change("add a destination", manage.post("/observability/destinations", hook))
  const path = `/observability/destinations/${destination.data?.id}`
  await change("disable a destination", manage.patch(path, { enabled: false }))
  await change("delete a destination", manage.delete(path))
  expect(silent).toEqual([])
})

test("a write without a revision is found", async () => {
  const { organizationId } = await newWorkspace()
  await env.DB.prepare("UPDATE organizations SET vault_writes = 1 WHERE id = ?").bind(organizationId).run()
  expect(await unrevised(organizationId)).toEqual(["organizations"])
  await env.DB.prepare("DELETE FROM unrevised WHERE organization_id = ?").bind(organizationId).run()
})
