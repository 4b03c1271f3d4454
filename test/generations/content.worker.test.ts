import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { pruneContents } from "../../src/generations/content.ts"
import {
  client,
  type TestClient,
  newKey,
  newWorkspace,
  readStream,
  expectJson,
  type Workspace,
} from "../support/world.ts"

type Kept = {
  data: {
    input: { messages: unknown[] }
    output: { completion: string | null; reasoning: string | null }
    error: { status: number; previous_errors: unknown[] } | null
  }
}

async function logging(settings: Record<string, unknown> = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  const body = { is_observability_io_logging_enabled: true, ...settings }
  await expectJson(200, workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, body))
  return workspace
}

const requests = [{ role: "user", content: "Keep this" }]
const idOf = (response: Response) => response.headers.get("x-generation-id") ?? ""

async function kept(workspace: Workspace, id: string): Promise<Kept["data"]> {
  const { data } = await expectJson<Kept>(200, workspace.as.get(`/generation/content?id=${id}`))
  return data
}

describe("GET /generation/content", () => {
  test.each([
    ["chat, whole", "/chat/completions", { messages: requests }, "sim/echo"],
    ["responses, whole", "/responses", { input: "Keep this" }, "sim/echo"],
    ["responses of a native provider", "/responses", { input: "Keep this" }, "sim-responses/echo"],
    ["messages, whole", "/messages", { messages: requests, max_tokens: 100 }, "sim/echo"],
    ["messages of a native provider", "/messages", { messages: requests, max_tokens: 100 }, "sim-messages/echo"],
  ])("%s: returns the prompt and the response", async (_, path, body, model) => {
    const workspace = await logging()
    const response = await workspace.as.post(path, { ...body, model })
    expect(response.status, await response.clone().text()).toBe(200)
    await response.text()
    const { input, output, error } = await kept(workspace, idOf(response))
    expect(JSON.stringify(input.messages)).toContain("Keep this")
    expect(output.completion).toContain("Keep this")
    expect(error).toBeNull()
  })

  test("returns all text of a stream, for any number of earlier streams of its endpoint", async () => {
    const workspace = await logging()
    for (let at = 0; at < 22; at += 1) {
      const { response, chunks } = await readStream(workspace.as.chat("sim/echo", "Word by word", { stream: true }))
      if (at < 21) continue
      const texts = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")
      expect((await kept(workspace, idOf(response))).output.completion).toBe(texts)
    }
  })

  test("returns the errors of a failed call", async () => {
    const workspace = await logging()
    const response = await workspace.as.chat("sim/status-500", "Keep this")
    await response.text()
    const { error, output } = await kept(workspace, idOf(response))
    expect(output.completion).toBeNull()
    expect(error).toMatchObject({ status: response.status })
    expect(error?.previous_errors.length).toBeGreaterThan(0)
  })

  test("is read by the key of the call and management keys, not by other keys of its workspace", async () => {
    const workspace = await logging()
    const colleague = await newKey(workspace)
    const { data: code } = await expectJson<{ data: { id: string } }>(
      200,
      workspace.as.post("/auth/keys/code", { callback_url: "https://app.example.com/" }),
    )
    const app = client((await expectJson<{ key: string }>(200, client().post("/auth/keys", { code: code.id }))).key)
    const [ofKey, ofApp] = [await workspace.as.chat("sim/echo", "Keep this"), await app.chat("sim/echo", "Keep this")]
    await Promise.all([ofKey.text(), ofApp.text()])
    const paths = [`/generation/content?id=${idOf(ofKey)}`, `/generation/content?id=${idOf(ofApp)}`] as const
    const statuses = (as: TestClient) => Promise.all(paths.map(async (path) => (await as.get(path)).status))
    expect(await statuses(workspace.manage)).toEqual([200, 200])
    expect(await statuses(workspace.as)).toEqual([200, 404])
    expect(await statuses(colleague.as)).toEqual([404, 404])
    expect(await statuses(app)).toEqual([404, 200])
    const { as: free } = await newKey(workspace, { kind: "free_tier" })
    const mine = await free.chat("sim/echo:free", "Keep this")
    await mine.text()
    await expectJson(200, free.get(`/generation?id=${idOf(mine)}`))
    const { as: ofPartner } = await newKey(workspace, { external: { user: "ann" } })
    for (const confined of [app, free, ofPartner]) await expectJson(404, confined.get(`/generation?id=${idOf(ofKey)}`))
    await expectJson(200, colleague.as.get(`/generation?id=${idOf(ofKey)}`))
  })

  test("stores nothing for a workspace with logging off", async () => {
    const workspace = await newWorkspace()
    const response = await workspace.as.chat("sim/echo", "Between us")
    await response.text()
    await expectJson(404, workspace.as.get(`/generation/content?id=${idOf(response)}`))
    expect((await env.FILES.list({ prefix: "content/" })).objects.some(({ key }) => key.endsWith(idOf(response)))).toBe(
      false,
    )
  })

  test("stores nothing for excluded keys", async () => {
    const workspace = await logging({ io_logging_api_key_ids: [] })
    const { as } = await newKey(workspace)
    const response = await as.chat("sim/echo", "Between us")
    await response.text()
    await expectJson(404, workspace.as.get(`/generation/content?id=${idOf(response)}`))
  })

  test("is a 404 for another organization", async () => {
    const workspace = await logging()
    const response = await workspace.as.chat("sim/echo", "Keep this")
    await response.text()
    await kept(workspace, idOf(response))
    await expectJson(404, (await newWorkspace()).manage.get(`/generation/content?id=${idOf(response)}`))
  })

  test("is removed with the retention period of its generation", async () => {
    const workspace = await logging()
    const response = await workspace.as.chat("sim/echo", "Keep this")
    await response.text()
    await kept(workspace, idOf(response))
    await pruneContents(env.FILES, Date.now() + 40 * 86_400_000, 41)
    await kept(workspace, idOf(response))
    await pruneContents(env.FILES, Date.now() + 43 * 86_400_000, 41)
    await expectJson(404, workspace.as.get(`/generation/content?id=${idOf(response)}`))
  })
})

describe("content of a workspace with guardrails", () => {
  test.each([false, true])("is stored after redaction, streamed: %s", async (stream) => {
    const workspace = await logging()
    const guardrail = { name: "No addresses", content_filter_builtins: [{ slug: "email", action: "redact" }] }
    const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", guardrail))
    const { as, hash } = await newKey(workspace)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const response = await as.chat("sim/echo", "Write to ada@example.com today", { stream })
    await response.text()
    const { input, output } = await kept({ ...workspace, as }, idOf(response))
    expect(JSON.stringify(input)).not.toContain("ada@example.com")
    expect(output.completion).toContain("Write to")
    expect(output.completion).not.toContain("ada@example.com")
  })
})
