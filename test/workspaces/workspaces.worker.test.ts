import { env } from "cloudflare:workers"
import * as z from "zod"
import { describe, expect, test } from "vitest"
import { Workspace, WorkspaceList } from "../../src/workspaces/schemas.ts"
import { client, newKey, newWorkspace, operatorClient, expectJson, type Workspace as World } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Failure = { error: { code: number; message: string } }
const One = z.strictObject({ data: Workspace.strict() })

let slugs = 0
const newSlug = () => `team-${slugs++}`

/** Another workspace of the same organization. */
async function addWorkspace({ manage }: World, input: Record<string, unknown> = {}) {
  const made = await expectJson<unknown>(201, manage.post("/workspaces", { name: "Team", slug: newSlug(), ...input }))
  return One.parse(made).data
}

describe("a workspace", () => {
  test("is created with its settings, read by id and slug, changed and deleted", async () => {
    const deps = await newWorkspace()
    const { manage } = deps
    const settings = {
      description: "Ours.",
      default_text_model: "sim/echo",
      default_image_model: "sim/image",
      default_provider_sort: "price",
      disabled_server_tools: ["openrouter:web_search"],
      io_logging_api_key_ids: [1, 2],
      io_logging_sampling_rate: 0.5,
      is_data_discount_logging_enabled: true,
      is_observability_broadcast_enabled: true,
      is_observability_io_logging_enabled: true,
    }
    const made = await addWorkspace(deps, settings)
    expect(made).toMatchObject({ ...settings, name: "Team", include_byok_in_budgets: false, updated_at: null })
    expect(made.created_by).toEqual(expect.any(String))
    for (const ref of [made.id, made.slug]) {
      expect(One.parse(await expectJson<unknown>(200, manage.get(`/workspaces/${ref}`))).data).toEqual(made)
    }
    const slug = newSlug()
    const change = { name: "Other", slug, description: null, disabled_server_tools: null, io_logging_sampling_rate: 1 }
    const changed = One.parse(await expectJson<unknown>(200, manage.patch(`/workspaces/${made.slug}`, change))).data
    expect(changed).toEqual({ ...made, ...change, updated_at: expect.any(String) })
    expect(await expectJson(200, manage.delete(`/workspaces/${slug}`))).toEqual({ deleted: true })
    await expectJson(404, manage.get(`/workspaces/${made.id}`))
    await expectJson(404, manage.delete(`/workspaces/${made.id}`))
  })

  test("has defaults, and a stable guardrail id", async () => {
    const deps = await newWorkspace()
    const { data } = One.parse(await expectJson<unknown>(200, deps.manage.get("/workspaces/default")))
    const again = One.parse(await expectJson<unknown>(200, deps.manage.get(`/workspaces/${deps.workspaceId}`)))
    expect(again.data).toEqual(data)
    expect(data).toMatchObject({
      name: "Default",
      description: null,
      default_text_model: null,
      disabled_server_tools: null,
      io_logging_sampling_rate: 1,
      is_observability_broadcast_enabled: false,
    })
  })

  test("is listed in pages from newest to oldest, only in its organization", async () => {
    const [deps, other] = [await newWorkspace(), await newWorkspace()]
    const names = ["a", "b", "c"]
    for (const name of names) await addWorkspace(deps, { name })
    const all = WorkspaceList.strict().parse(await expectJson<unknown>(200, deps.manage.get("/workspaces")))
    expect(all.data.map(({ name }) => name)).toEqual(["c", "b", "a", "Default"])
    expect(all.total_count).toBe(4)
    const page = await expectJson<unknown>(200, deps.manage.get("/workspaces?limit=2&offset=1"))
    expect(page).toEqual({ data: all.data.slice(1, 3), total_count: 4 })
    const [first] = all.data
    await expectJson(404, other.manage.get(`/workspaces/${first?.id}`))
    await expectJson(404, other.manage.patch(`/workspaces/${first?.id}`, { name: "mine" }))
    await expectJson(404, other.manage.delete(`/workspaces/${first?.id}`))
    await expectJson(403, deps.as.get("/workspaces"))
    await expectJson(401, client().get("/workspaces"))
  })

  test.each([
    [{ name: undefined }, "name"],
    [{ slug: undefined }, "slug"],
    [{ slug: "Team A" }, "slug"],
    [{ slug: "-a" }, "slug"],
    [{ slug: "a--b" }, "slug"],
    [{ slug: crypto.randomUUID() }, "slug"],
    [{ default_provider_sort: "best" }, "default_provider_sort"],
    [{ disabled_server_tools: ["web_search"] }, "disabled_server_tools"],
    [{ disabled_server_tools: ["openrouter:nothing"] }, "disabled_server_tools"],
    [{ io_logging_sampling_rate: 0 }, "io_logging_sampling_rate"],
    [{ io_logging_api_key_ids: ["a"] }, "io_logging_api_key_ids"],
    [{ owner: "me" }, "owner"],
  ])("is rejected with %j", async (input, field) => {
    const { manage } = await newWorkspace()
    const body = { name: "n", slug: newSlug(), ...input }
    const { error } = await expectJson<Failure>(400, manage.post("/workspaces", body))
    expect(error.message).toContain(field)
  })

  test("has a slug that is unique in the organization and free again after deletion", async () => {
    const deps = await newWorkspace()
    const { slug } = await addWorkspace(deps)
    const other = await addWorkspace(deps)
    const body = { name: "n", slug }
    expect((await expectJson<Failure>(400, deps.manage.post("/workspaces", body))).error.message).toContain("slug")
    await expectJson(400, deps.manage.patch(`/workspaces/${other.id}`, { slug }))
    await expectJson(201, (await newWorkspace()).manage.post("/workspaces", body))
    await expectJson(200, deps.manage.delete(`/workspaces/${slug}`))
    await expectJson(200, deps.manage.patch(`/workspaces/${other.id}`, { slug }))
  })

  test("writes its changes to the audit log", async () => {
    const deps = await newWorkspace()
    const { id } = await addWorkspace(deps, { description: "d" })
    await expectJson(200, deps.manage.patch(`/workspaces/${id}`, { default_text_model: "sim/echo" }))
    await expectJson(200, deps.manage.delete(`/workspaces/${id}`))
    const { data } = await expectJson<{ data: { action: string; changes: object }[] }>(
      200,
      deps.manage.get(`/audit?workspace_id=${id}`),
    )
    expect(data.map(({ action }) => action)).toEqual(["workspace.delete", "workspace.update", "workspace.create"])
    expect(data[1]?.changes).toEqual({ default_text_model: "sim/echo" })
  })
})

describe("deleting a workspace", () => {
  test("returns 400 while it has active keys", async () => {
    const deps = await newWorkspace()
    const { id } = await addWorkspace(deps)
    const { hash, as } = await newKey(deps, { workspace_id: id })
    const { error } = await expectJson<Failure>(400, deps.manage.delete(`/workspaces/${id}`))
    expect(error.message).toContain("active API keys")
    await expectJson(200, as.get("/key"))
    await expectJson(200, deps.manage.patch(`/keys/${hash}`, { disabled: true }))
    await expectJson(200, deps.manage.put(`/workspaces/${id}/budgets/daily`, { limit_usd: 1 }))
    await expectJson(200, deps.manage.delete(`/workspaces/${id}`))
    // A disabled key cannot be enabled after the deletion.
    await expectJson(404, deps.manage.patch(`/keys/${hash}`, { disabled: false }))
    await expectJson(404, deps.manage.get(`/workspaces/${id}/budgets`))
    const budgets = await env.DB.prepare("SELECT count(*) AS n FROM workspace_budgets WHERE workspace_id = ?")
      .bind(id)
      .first<{ n: number }>()
    expect(budgets?.n).toBe(0)
    await expectJson(404, deps.manage.post("/keys", { name: "late", workspace_id: id }))
  })

  test("and creating a key concurrently never both succeed", async () => {
    const deps = await newWorkspace()
    for (let turn = 0; turn < 10; turn++) {
      const { id } = await addWorkspace(deps)
      const [made, deleted] = await Promise.all([
        deps.manage.post("/keys", { name: "k", workspace_id: id }),
        deps.manage.delete(`/workspaces/${id}`),
      ])
      expect([made.status, deleted.status].toSorted()).not.toEqual([200, 201])
    }
  })

  test("requires a confirmation for the default one, and then workspace_id is required", async () => {
    const deps = await newWorkspace()
    const { manage, as, workspaceId } = deps
    const other = await addWorkspace(deps)
    const { error } = await expectJson<Failure>(400, manage.delete("/workspaces/default"))
    expect(error.message).toContain("confirm_default_workspace_deletion")
    await expectJson(200, as.get("/key"))
    await expectJson(200, manage.delete(`/workspaces/${workspaceId}?confirm_default_workspace_deletion=true`))
    // Its inference keys are gone, those that manage the organization stay.
    await expectJson(401, as.get("/key"))
    const { data } = await expectJson<{ data: { workspace_id: string | null } }>(200, manage.get("/key"))
    expect(data.workspace_id).toBeNull()
    for (const answer of [manage.get("/keys"), manage.post("/keys", { name: "k" })]) {
      expect((await expectJson<Failure>(400, answer)).error.message).toContain("workspace_id")
    }
    await expectJson(201, manage.post("/keys", { name: "k", workspace_id: other.id }))
  })

  test("makes workspace_id required for files, exports and authorization codes", async () => {
    const { manage, workspaceId } = await newWorkspace()
    await expectJson(200, manage.delete(`/workspaces/${workspaceId}?confirm_default_workspace_deletion=true`))
    const form = new FormData()
    form.append("file", new Blob(["text"]), "a.txt")
    const { headers, body } = new Request("http://gateway.test", { method: "POST", body: form })
    const type = headers.get("content-type") ?? ""
    for (const answer of [
      manage.post("/auth/keys/code", { callback_url: "https://app.example/back" }),
      manage.get("/files"),
      manage.callBytes("POST", "/files", new Uint8Array(await new Response(body).arrayBuffer()), type),
      manage.post("/exports", { from: "2026-01-01T00:00:00Z" }),
    ]) {
      expect((await expectJson<Failure>(400, answer)).error.message).toContain("Pass workspace_id")
    }
    await expectJson(404, manage.get(`/files?workspace_id=${workspaceId}`))
  })

  test("does not change the organization of the operator", async () => {
    type Home = { data: { organization_id: string; workspace_id: string | null } }
    const { data: home } = await expectJson<Home>(200, operatorClient.get("/key"))
    const id = home.workspace_id ?? ""
    // A change of the organization removes its keys from the cache of the isolate.
    const setDefault = async (isDefault: number) => {
      await env.DB.prepare("UPDATE workspaces SET is_default = ? WHERE id = ?").bind(isDefault, id).run()
      await expectJson(200, operatorClient.patch(`/organizations/${home.organization_id}`, {}))
    }
    await setDefault(0)
    const { data } = await expectJson<Home>(200, operatorClient.get("/key"))
    await setDefault(1)
    expect(data).toMatchObject({ organization_id: home.organization_id, workspace_id: null })
  })
})
