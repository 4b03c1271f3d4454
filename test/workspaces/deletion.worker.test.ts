import { env } from "cloudflare:workers"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { runSchedule } from "../../src/app/schedule.ts"
import { addChannel, alertsOf, record, spend } from "../alerts/alerts.ts"
import { mockReceivers, newReceiver } from "../observability/receiver.ts"
import { connect, people, sync } from "../scim/pulled.ts"
import { mockRemotes, newRemote } from "../scim/remote.ts"
import { eventually } from "../support/eventually.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"
import { expectJson, newKey, newWorkspace, type Workspace } from "../support/world.ts"

watchPolicyWrites()

afterAll(() => void vi.restoreAllMocks())

const USD = 1_000_000_000

const deleteDefault = ({ manage, workspaceId }: Workspace) =>
  expectJson(200, manage.delete(`/workspaces/${workspaceId}?confirm_default_workspace_deletion=true`))

describe("after the deletion of a workspace", () => {
  test("no secret of it is stored", async () => {
    const workspace = await newWorkspace()
    const { manage, workspaceId } = workspace
    const { key } = await newKey(workspace)
    const hook = {
      type: "webhook",
      name: "Hook",
      workspace_id: workspaceId,
      config: { url: "https://hook.example.com" },
    }
    for (const [path, body] of [
      ["/byok", { provider: "openai", key: "sk-a-key-of-a-customer", name: "Ours" }],
      ["/mcp-servers", { slug: "search", name: "S", url: "https://mcp.example.com", headers: { "X-Key": "secret" } }],
      [
        "/passthrough-services",
        {
          slug: "ocr",
          name: "OCR",
          base_url: "https://ocr.example.com",
          headers: { "X-Key": "secret" },
          rules: [{ methods: ["GET"], path: "/**" }],
        },
      ],
      ["/observability/destinations", hook],
      ["/alerts/channels", hook],
      ["/connect-links", { client: "codex", key }],
    ] as const) {
      await expectJson(201, manage.post(path, body))
    }
    const stored = async () => {
      const { results } = await env.DB.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '% sealed TEXT%' AND sql LIKE '% workspace_id %' ORDER BY 1",
      ).all<{ name: string }>()
      const counts = results.map(({ name }) =>
        env.DB.prepare(`SELECT '${name}' AS name FROM ${name} WHERE workspace_id = ? AND sealed <> '' GROUP BY 1`).bind(
          workspaceId,
        ),
      )
      return (await env.DB.batch<{ name: string }>(counts)).flatMap((found) => found.results.map(({ name }) => name))
    }
    expect(await stored()).toEqual([
      "alert_channels",
      "byok_credentials",
      "connect_links",
      "destinations",
      "mcp_servers",
      "passthrough_services",
    ])
    await deleteDefault(workspace)
    expect(await stored()).toEqual([])
    expect(await env.DB.prepare("SELECT id FROM data_keys WHERE workspace_id = ?").bind(workspaceId).first()).toBeNull()
    const { data } = await expectJson<{ data: unknown[] }>(200, manage.get("/alerts/channels"))
    expect(data).toEqual([])
  })

  describe("what belongs to the organization", () => {
    beforeAll(() => mockReceivers())

    test("still works: an alert channel of all workspaces", async () => {
      const [workspace, receiver] = [await newWorkspace(1_000), newReceiver()]
      const { manage } = workspace
      const { data: other } = await expectJson<{ data: { id: string } }>(
        201,
        manage.post("/workspaces", { name: "Other", slug: "other" }),
      )
      const channel = await addChannel(workspace, {
        type: "webhook",
        config: { url: receiver.url },
        all_workspaces: true,
      })
      await deleteDefault(workspace)
      const limit = {
        scope: `workspace:${other.id}`,
        limitNano: 10 * USD,
        interval: "monthly",
        includeByok: false,
      } as const
      await spend({ ...workspace, workspaceId: other.id }, 6 * USD, [limit])
      await record(workspace)
      await eventually(async () => {
        const [alert] = await alertsOf(workspace)
        expect(alert?.deliveries).toEqual([
          { channel_id: channel.id, state: "delivered", attempts: 1, last_error: null },
        ])
      })
      await expectJson(200, manage.patch(`/alerts/channels/${channel.id}`, { config: { url: receiver.url } }))
      const refused = manage.patch(`/alerts/channels/${channel.id}`, { all_workspaces: false })
      expect((await expectJson<{ error: { message: string } }>(400, refused)).error.message).toContain("was deleted")
    })

    test("still works: a directory that is pulled, and one that is connected later", async () => {
      mockRemotes()
      const remote = newRemote(people("ada"))
      const workspace = await newWorkspace()
      await expectJson(201, workspace.manage.post("/workspaces", { name: "Other", slug: "other" }))
      await connect(workspace, remote)
      await deleteDefault(workspace)
      expect(await sync(workspace)).toMatchObject({ status: "succeeded", error_message: null })
      await connect(workspace, newRemote(people("bob")), "Later")
      expect(await sync(workspace)).toMatchObject({ status: "succeeded", error_message: null })
    })
  })
})

describe("interns of a deleted workspace", () => {
  const internsOf = async ({ workspaceId }: Workspace) => {
    const { results } = await env.DB.prepare("SELECT id FROM interns WHERE workspace_id = ?").bind(workspaceId).all()
    return results.map(({ id }) => id)
  }

  test("are deleted by the cron trigger if the request that deleted the workspace died", async () => {
    const [workspace, other] = [await newWorkspace(), await newWorkspace()]
    const { manage, organizationId, workspaceId } = workspace
    for (const name of ["ada", "grace"]) {
      await expectJson(201, workspace.as.post("/interns", { name, model: "sim/echo", provision: true }))
    }
    await expectJson(201, other.as.post("/interns", { name: "ada", model: "sim/echo" }))
    const { meta } = await env.DB.prepare("UPDATE workspaces SET deleted_at = ? WHERE organization_id = ? AND id = ?")
      .bind(Date.now(), organizationId, workspaceId)
      .run()
    expect(meta.changes).toBeGreaterThan(0)
    expect(await internsOf(workspace)).toHaveLength(2)
    await runSchedule("30 * * * *", env, Date.now())
    await eventually(async () => expect(await internsOf(workspace)).toEqual([]))
    expect(await internsOf(other)).toHaveLength(1)
    await expectJson(200, manage.get("/workspaces"))
  })

  test("are deleted although the object of one of them fails, which the cron trigger deletes", async () => {
    const workspace = await newWorkspace()
    const made: { id: string }[] = []
    for (const name of ["ada", "grace", "alan"]) {
      made.push(await expectJson<{ id: string }>(201, workspace.as.post("/interns", { name, model: "sim/echo" })))
    }
    const failing = made[1]?.id ?? ""
    const { INTERN: namespace } = env
    const get = namespace.get.bind(namespace)
    const failsFor = namespace.idFromName(failing)
    const spy = vi.spyOn(namespace, "get").mockImplementation((id, options) => {
      if (id.equals(failsFor)) throw new Error("The object failed.")
      return get(id, options)
    })
    await deleteDefault(workspace)
    await eventually(async () => expect(await internsOf(workspace)).toEqual([failing]))
    spy.mockRestore()
    await runSchedule("30 * * * *", env, Date.now())
    await eventually(async () => expect(await internsOf(workspace)).toEqual([]))
  })
})
