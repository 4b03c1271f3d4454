import { env, exports } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { objectKey } from "../../src/files/file.ts"
import { failOn, r2Fails } from "../faults/bindings.ts"
import { insertIntern } from "../support/interns.ts"
import { mockProvider } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace, receiptOf, type Workspace } from "../support/world.ts"

/** Files of the gateway that a chat, responses or messages request names by id. */

afterEach(() => vi.restoreAllMocks())

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
const PDF = Uint8Array.from(new TextEncoder().encode("%PDF-1.4 not much of a file"))
const MP3 = Uint8Array.from(new TextEncoder().encode("ID3 not much of a song"))
const base64 = (bytes: Uint8Array<ArrayBuffer>) => Buffer.from(bytes).toString("base64")

async function upload(key: string, content: string | Uint8Array<ArrayBuffer>, filename: string): Promise<string> {
  const form = new FormData()
  form.append("file", new File([content], filename))
  const { id } = await expectJson<{ id: string }>(
    200,
    (exports as unknown as { default: Fetcher }).default.fetch("http://gateway.test/api/v1/files", {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: form,
    }),
  )
  return id
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const chatAnswer = () =>
  Response.json({
    id: "up-1",
    choices: [{ index: 0, message: { role: "assistant", content: "Fine." }, finish_reason: "stop" }],
    usage,
  })
const messagesAnswer = () =>
  Response.json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: "Fine." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 5 },
  })

const question = { type: "text", text: "What is in it?" }

const CALLS = {
  "/chat/completions": (model: string, part: object) => ({
    model,
    messages: [{ role: "user", content: [question, part] }],
  }),
  "/responses": (model: string, part: object) => ({
    model,
    input: [{ role: "user", content: [{ ...question, type: "input_text" }, part] }],
  }),
  "/messages": (model: string, part: object) => ({
    model,
    max_tokens: 50,
    messages: [{ role: "user", content: [question, part] }],
  }),
}
type Path = keyof typeof CALLS

const PARTS: Record<Path, (id: string) => object> = {
  "/chat/completions": (id) => ({ type: "file", file: { file_id: id } }),
  "/responses": (id) => ({ type: "input_file", file_id: id }),
  "/messages": (id) => ({ type: "document", source: { type: "file", file_id: id } }),
}
const IMAGES: Record<Path, (id: string) => object> = {
  "/chat/completions": PARTS["/chat/completions"],
  "/responses": (id) => ({ type: "input_image", file_id: id }),
  "/messages": (id) => ({ type: "image", source: { type: "file", file_id: id } }),
}
const PATHS = Object.keys(CALLS) as Path[]

async function call(workspace: Workspace, path: Path, part: object, model = "played/m71") {
  const provider = mockProvider(model === "acme/opus-1" ? messagesAnswer : chatAnswer)
  const response = await workspace.as.post(path, CALLS[path](model, part))
  return { provider, response }
}

/** A guardrail of the workspace's key. */
async function block(workspace: Workspace, pattern: string): Promise<void> {
  const rules = { name: "Codenames", content_filters: [{ pattern, action: "block" }] }
  const made = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rules))
  type Keys = { data: { hash: string; kind: string }[] }
  const { data } = await expectJson<Keys>(200, workspace.manage.get("/keys"))
  const hashes = data.filter(({ kind }) => kind === "normal").map(({ hash }) => hash)
  await expectJson(200, workspace.manage.post(`/guardrails/${made.data.id}/assignments/keys`, { key_hashes: hashes }))
}

/** The second part of the first message that the provider received. */
function partSent({ upstreamCalls: [first] }: ReturnType<typeof mockProvider>): object | undefined {
  const { messages } = (first?.body ?? { messages: [] }) as { messages: { content: object[] }[] }
  return messages[0]?.content[1]
}

describe.each(PATHS)("a request to %s that names an uploaded file", (path) => {
  test("sends text as text, and is charged", async () => {
    const workspace = await newWorkspace()
    const id = await upload(workspace.key, "name,age\nAda,36\n", "people.csv")
    const { provider, response } = await call(workspace, path, PARTS[path](id))
    expect(response.status, await response.clone().text()).toBe(200)
    const [sent] = provider.upstreamCalls
    expect(JSON.stringify(sent?.body)).toContain("name,age\\nAda,36")
    expect(JSON.stringify(sent?.body)).not.toContain(id)
    await response.text()
    expect((await receiptOf(workspace, response)).tokens_prompt).toBe(10)
  })

  test("sends a PDF as file data", async () => {
    const workspace = await newWorkspace()
    const id = await upload(workspace.key, PDF, "report.pdf")
    const { provider, response } = await call(workspace, path, PARTS[path](id))
    expect(response.status, await response.clone().text()).toBe(200)
    const data = `data:application/pdf;base64,${base64(PDF)}`
    expect(partSent(provider)).toEqual({ type: "file", file: { filename: "report.pdf", file_data: data } })
  })

  test("sends an image as an image", async () => {
    const workspace = await newWorkspace()
    const id = await upload(workspace.key, PNG, "dot.png")
    const { provider, response } = await call(workspace, path, IMAGES[path](id))
    expect(response.status, await response.clone().text()).toBe(200)
    const url = `data:image/png;base64,${base64(PNG)}`
    expect(partSent(provider)).toMatchObject({ type: "image_url", image_url: { url } })
  })

  test("is rejected for a file of another workspace, another organization, an export or a deleted one", async () => {
    const [workspace, foreign] = [await newWorkspace(), await newWorkspace()]
    type Made = { data: { id: string } }
    const other = await expectJson<Made>(201, workspace.manage.post("/workspaces", { name: "Other", slug: "other" }))
    const { key } = await newKey(workspace, { workspace_id: other.data.id })
    const deleted = await upload(workspace.key, "gone", "gone.txt")
    await expectJson(200, workspace.as.delete(`/files/${deleted}`))
    const exported = await upload(workspace.key, "calls of all keys", "calls.csv")
    await env.DB.prepare("UPDATE files SET source = 'export' WHERE id = ?").bind(exported).run()
    const ids = [
      await upload(foreign.key, "secret of another organization", "a.txt"),
      await upload(key, "secret of another workspace", "b.txt"),
      deleted,
      exported,
    ]
    for (const id of ids) {
      const { provider, response } = await call(workspace, path, PARTS[path](id))
      const text = await response.text()
      expect([response.status, text], id).toEqual([400, expect.stringContaining(`there is no file ${id}`)])
      expect(text).not.toMatch(/secret|calls of all keys/)
      expect(provider.upstreamCalls).toEqual([])
      provider.stop()
    }
  })

  test("whose content was lost is rejected as such, because a retry would not help", async () => {
    const workspace = await newWorkspace()
    const id = await upload(workspace.key, "lost", "lost.txt")
    const { organizationId, workspaceId } = workspace
    await env.FILES.delete(objectKey({ id, organizationId, workspaceId }))
    const { provider, response } = await call(workspace, path, PARTS[path](id))
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("was lost")])
    expect(provider.upstreamCalls).toEqual([])
  })

  test("is blocked by a guardrail that finds its pattern in the file", async () => {
    const workspace = await newWorkspace()
    await block(workspace, "BLUEBIRD-[0-9]+")
    const id = await upload(workspace.key, "The project is BLUEBIRD-7.", "plan.md")
    const { provider, response } = await call(workspace, path, PARTS[path](id))
    expect([response.status, await response.text()]).toEqual([403, expect.any(String)])
    expect(provider.upstreamCalls).toEqual([])
  })
})

test("a provider of the messages format gets documents and images in that format", async () => {
  const workspace = await newWorkspace()
  const [pdf, png, csv] = [
    await upload(workspace.key, PDF, "report.pdf"),
    await upload(workspace.key, PNG, "dot.png"),
    await upload(workspace.key, "a,b", "t.csv"),
  ]
  const cases = [
    [pdf, { type: "document", title: "report.pdf", source: { type: "base64", media_type: "application/pdf" } }],
    [csv, { type: "document", title: "t.csv", source: { type: "text", media_type: "text/plain", data: "a,b" } }],
    [png, { type: "image", source: { type: "base64", media_type: "image/png", data: base64(PNG) } }],
  ] as const
  for (const [id, block] of cases) {
    const { provider, response } = await call(workspace, "/messages", PARTS["/messages"](id), "acme/opus-1")
    expect(response.status, await response.clone().text()).toBe(200)
    expect(partSent(provider)).toMatchObject(block)
    provider.stop()
  }
})

test("audio is sent as audio, and a file that is not an image is rejected as one", async () => {
  const workspace = await newWorkspace()
  const id = await upload(workspace.key, MP3, "song.mp3")
  const { provider, response } = await call(workspace, "/chat/completions", PARTS["/chat/completions"](id))
  expect(response.status, await response.clone().text()).toBe(200)
  expect(partSent(provider)).toEqual({
    type: "input_audio",
    input_audio: { data: base64(MP3), format: "mp3" },
  })
  provider.stop()
  const refused = await call(workspace, "/responses", IMAGES["/responses"](id))
  expect([refused.response.status, await refused.response.text()]).toEqual([
    400,
    expect.stringContaining("input[0].content[1]: the file is audio/mpeg, not an image."),
  ])
})

test("an intern's key reads the files of its intern only", async () => {
  const workspace = await newWorkspace()
  const intern = await insertIntern(workspace)
  const [mine, other] = [await upload(intern.key, "mine", "a.txt"), await upload(workspace.key, "not mine", "b.txt")]
  const by = { ...workspace, as: intern.as }
  const { response } = await call(by, "/responses", PARTS["/responses"](mine))
  expect(response.status, await response.text()).toBe(200)
  vi.restoreAllMocks()
  const refused = await call(by, "/responses", PARTS["/responses"](other))
  expect([refused.response.status, await refused.response.text()]).toEqual([
    400,
    expect.stringContaining("there is no"),
  ])
  expect(refused.provider.upstreamCalls).toEqual([])
})

test.each([
  ["the database", () => failOn((sql) => /"files"/.test(sql), "Network connection lost.")],
  ["the storage", r2Fails],
])("a failure of %s is a 503, and nothing is sent", async (_, fail) => {
  const workspace = await newWorkspace()
  const id = await upload(workspace.key, "a,b", "t.csv")
  fail()
  const { provider, response } = await call(workspace, "/responses", PARTS["/responses"](id))
  expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('"code":503')])
  expect(provider.upstreamCalls).toEqual([])
  vi.restoreAllMocks()
  expect((await workspace.ledger.balance()).spentNano).toBe(0)
})

test("the tokens of a file are counted", async () => {
  const workspace = await newWorkspace()
  const id = await upload(workspace.key, "word ".repeat(1_000), "words.txt")
  const request = CALLS["/messages"]("acme/opus-1", PARTS["/messages"](id))
  type Count = { input_tokens: number }
  const { input_tokens: count } = await expectJson<Count>(200, workspace.as.post("/messages/count_tokens", request))
  expect(count).toBeGreaterThan(1_000)
})

test("an id of a provider's file is sent unchanged with a BYOK credential", async () => {
  const workspace = await newWorkspace()
  await expectJson(201, workspace.manage.post("/byok", { provider: "played", key: "ownCanary0123456789abcdefXYZ" }))
  const part = PARTS["/chat/completions"]("file-abc123")
  const { provider, response } = await call(workspace, "/chat/completions", part)
  expect(response.status, await response.clone().text()).toBe(200)
  expect(partSent(provider)).toEqual(part)
})
