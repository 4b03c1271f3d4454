import { describe, expect, test } from "vitest"
import { expectJson, newKey, newWorkspace, type Workspace } from "../support/world.ts"

type Failure = { error: { message: string } }
type Kept = { data: { over_budget_models: string[] } }

const alias = (workspace: Workspace, arms: object[], more: object = {}) =>
  workspace.manage.put(`/workspaces/${workspace.workspaceId}/aliases/team%2Ffast`, { arms, ...more })

describe("model names in settings", () => {
  test("over_budget_models of keys and workspaces must be models of the catalogue", async () => {
    const workspace = await newWorkspace()
    const { manage, workspaceId } = workspace
    const { hash } = await newKey(workspace)
    const requests = (body: object) => [
      () => manage.post("/keys", { name: "cheap", ...body }),
      () => manage.patch(`/keys/${hash}`, body),
      () => manage.post("/workspaces", { name: "Cheap", slug: `cheap-${crypto.randomUUID()}`, ...body }),
      () => manage.patch(`/workspaces/${workspaceId}`, body),
    ]
    for (const send of requests({ over_budget_models: ["sim/echo", "sim/ecko:free"] })) {
      const { error } = await expectJson<Failure>(400, send())
      expect(error.message).toMatch(
        /^over_budget_models\[1\]: there is no model sim\/ecko:free here\. Did you mean sim\/echo/,
      )
    }
    // A list to try in order: a pattern is not a model to call.
    for (const send of requests({ over_budget_models: ["sim/*"] })) await expectJson(400, send())
    for (const send of requests({ over_budget_models: ["SIM/Echo:free", "sim/echo:floor"] })) {
      const response = await send()
      expect(response.ok).toBe(true)
      const { data } = (await response.json()) as Kept
      expect(data.over_budget_models).toEqual(["sim/echo:free", "sim/echo:floor"])
      expect(data).not.toHaveProperty("allow_unknown")
    }
    for (const send of requests({ over_budget_models: ["later/model"], allow_unknown: true })) {
      const response = await send()
      expect(response.ok).toBe(true)
      expect(await response.json()).toMatchObject({ data: { over_budget_models: ["later/model"] } })
    }
    const list = await expectJson<{ data: { changed_fields: string[] }[] }>(200, manage.get("/audit?limit=20"))
    expect(list.data.flatMap(({ changed_fields: fields }) => fields)).not.toContain("allow_unknown")
  })

  test("models of alias arms must be in the catalogue, and presets are accepted", async () => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(400, alias(workspace, [{ model: "sim/echo" }, { model: "sim/lonng" }]))
    expect(error.message).toMatch(/^arms\[1\]\.model: there is no model sim\/lonng here\. Did you mean sim\/long/)
    await expectJson(400, alias(workspace, [{ model: "sim/lonng@preset/mine" }]))
    const models = ["SIM/echo", "sim/echo:nitro@preset/Mine", "@preset/mine"]
    type Arms = { data: { arms: { model: string }[] } }
    const { data } = await expectJson<Arms>(
      200,
      alias(
        workspace,
        models.map((model) => ({ model })),
      ),
    )
    expect(data.arms.map(({ model }) => model)).toEqual(["sim/echo", "sim/echo:nitro@preset/Mine", "@preset/mine"])
    await expectJson(200, alias(workspace, [{ model: "later/model" }], { allow_unknown: true }))
  })
})
