import { createHash, randomUUID } from "node:crypto"
import { insertIntern } from "../../support/interns.ts"
import { internChat } from "../../support/intern-chat.ts"
import { createBatch, waitForStatus, request } from "../../batches/batches.ts"
import { createMessageBatch, endedBatch, messageRequest } from "../../batches/message-batches.ts"
import { addGroup, connect } from "../../scim/directory.ts"
import { client, expectJson, newKey, newWorkspace, type TestClient, type Workspace } from "../../support/world.ts"

/** Ids of one tenant's records, by kind. */
export type Ids = {
  organization: string
  /** The default workspace, which has all the records. */
  workspace: string
  team: string
  key: string
  user: string
  guardrail: string
  byok: string
  preset: string
  file: string
  export: string
  generation: string
  video: string
  intern: string
  vault: string
  secret: string
  internSecret: string
  session: string
  question: string
  schedule: string
  directory: string
  group: string
  mapping: string
  job: string
  destination: string
  channel: string
  batch: string
  messageBatch: string
  mcpServer: string
  passthroughService: string
  batchInput: string
}

export type Tenant = {
  workspace: Workspace
  ids: Ids
  /** In the name, text or content of every record of this tenant, and of no other one. */
  canary: string
  /** Keys of the same tenant without a right to the records. */
  keys: Record<"otherWorkspace" | "otherIntern" | "joinToken" | "app" | "free", TestClient>
}

const LOGS_CONTENT = { is_observability_io_logging_enabled: true }

type Data = { data: { id: string } }

/** An organization with one record of each kind. */
export async function newTenant(): Promise<Tenant> {
  const canary = `canary-${createHash("sha256").update(randomUUID()).digest("hex").slice(0, 24)}`
  // Names that clients choose are no secrets: another tenant may use the same.
  const name = `named-${randomUUID().slice(0, 8)}`
  const workspace = await newWorkspace()
  const { manage, as } = workspace
  const create = async (path: string, body: unknown, status = 201) =>
    (await expectJson<Data>(status, manage.post(path, body))).data.id

  await expectJson(200, manage.patch(`/workspaces/${workspace.workspaceId}`, { name: canary, ...LOGS_CONTENT }))
  const team = await create("/workspaces", { name: canary, slug: `team-${name}` })
  const { hash: key } = await newKey(workspace, { name: canary })
  const user = await create("/organization/members", { email: `${canary}@example.com`, first_name: canary })
  const preset = { model: "sim/echo", system_prompt: canary, messages: [{ role: "user", content: "Any" }] }
  await expectJson(200, manage.post(`/presets/${name}/chat/completions`, preset))
  const directory = await connect(workspace, canary)
  const group = await addGroup(directory.push, canary)
  const chat = await as.chat("sim/echo", canary)
  await chat.text()
  const video = await expectJson<{ id: string }>(202, as.post("/videos", { model: "sim/video", prompt: canary }))
  const mcp = { slug: name, name: canary, url: `https://${canary}.example.com/mcp`, headers: { "X-Token": canary } }
  await expectJson(201, manage.post("/mcp-servers", mcp))
  const { headers } = mcp
  const rules = [{ path: "/*" }]
  const service = { slug: name, name: canary, base_url: `https://${canary}.example.com`, headers, rules }
  await expectJson(201, manage.post("/passthrough-services", service))
  const secret = name.replace("-", "_")
  await expectJson(200, as.put(`/vault/secrets/${secret}`, { hosts: [`${canary}.example.com`], value: canary }))
  const batch = await waitForStatus(as, await createBatch(as, [request("one", canary)]), "completed")
  const messageBatch = await endedBatch(as, await createMessageBatch(as, [messageRequest("one", canary)]))
  const otherKey = await newKey(workspace, { workspace_id: team, name: canary })
  const other = await insertIntern(workspace, { name: "other-intern" })
  const free = await newKey(workspace, { kind: "free_tier" })
  const code = await expectJson<Data>(200, as.post("/auth/keys/code", { callback_url: "https://app.example/back" }))
  const app = await expectJson<{ key: string }>(200, client().post("/auth/keys", { code: code.data.id }))
  return {
    workspace,
    canary,
    keys: {
      otherWorkspace: otherKey.as,
      otherIntern: other.as,
      joinToken: client(other.joinToken),
      app: client(app.key),
      free: free.as,
    },
    ids: {
      organization: workspace.organizationId,
      workspace: workspace.workspaceId,
      team,
      key,
      user,
      guardrail: await create("/guardrails", { name: canary }),
      byok: await create("/byok", { provider: "openai", key: "sk-own-0123456789abcdef", name: canary }),
      preset: name,
      file: await upload(as, canary),
      export: (await expectJson<{ id: string }>(201, manage.post("/exports", { from: "2026-01-01T00:00:00Z" }))).id,
      generation: chat.headers.get("x-generation-id") ?? "",
      video: video.id,
      batch: batch.id,
      messageBatch: messageBatch.id,
      mcpServer: name,
      passthroughService: name,
      batchInput: batch.input_file_id,
      secret,
      directory: directory.id,
      group: group.id,
      mapping: await create("/scim/group-mappings", { scim_group_id: group.id, workspace_id: team }, 200),
      job: await create("/scim/sync-jobs", undefined, 202),
      destination: await create("/observability/destinations", {
        type: "webhook",
        name: canary,
        enabled: false,
        config: { url: `https://${canary}.example.com/` },
      }),
      channel: await create("/alerts/channels", {
        type: "webhook",
        name: canary,
        config: { url: `https://${canary}.example.com/` },
      }),
      ...(await newIntern(workspace, canary, name)),
    },
  }
}

async function upload(as: TestClient, canary: string): Promise<string> {
  const form = new FormData()
  form.append("file", new File([canary], `${canary}.txt`, { type: "text/plain" }))
  const request = new Request("http://x/", { method: "POST", body: form })
  const bytes = new Uint8Array(await request.arrayBuffer())
  const type = request.headers.get("content-type") ?? ""
  return (await expectJson<{ id: string }>(200, as.callBytes("POST", "/files", bytes, type))).id
}

/** With a session, a schedule, a file, a webhook, a secret, and an open question. */
async function newIntern(workspace: Workspace, canary: string, session: string) {
  const { as } = workspace
  const input = { name: "ada", model: "sim/agent", description: canary, provision: true }
  type Made = { id: string; vault_id: string }
  const { id, vault_id: vault } = await expectJson<Made>(201, as.post("/interns", input))
  const base = `/interns/${id}`
  const asked = await (await internChat(workspace.key, id).send(`$ echo ${canary}`, { session_id: session })).all()
  const rule = { cron: "0 8 * * *", prompt: canary }
  const schedule = await expectJson<{ id: string }>(201, as.post(`${base}/schedules`, rule))
  await as.callBytes("PUT", `${base}/files/content?path=mine.txt`, new TextEncoder().encode(canary), "text/plain")
  await as.put(`${base}/webhook`, { url: `https://${canary}.example.com/` })
  const internSecret = `own_${session.replace("-", "_")}`
  const secret = { hosts: [`${canary}.example.com`], value: canary }
  await expectJson(200, as.put(`/vault${base}/secrets/${internSecret}`, secret))
  return { intern: id, vault, session, question: asked.question.id, schedule: schedule.id, internSecret }
}
