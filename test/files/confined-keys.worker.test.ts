import { describe, expect, test, vi } from "vitest"
import { createBatch, ENDPOINT, request, upload, waitForStatus } from "../batches/batches.ts"
import { client, expectJson, newKey, newWorkspace, type TestClient, type Workspace } from "../support/world.ts"

/** Files and batches of a workspace, by the key that made them. */

const FREE = { model: "sim/echo:free" }

async function appKey({ as }: Workspace): Promise<TestClient> {
  const callback = { callback_url: "https://app.example/back" }
  const { data } = await expectJson<{ data: { id: string } }>(200, as.post("/auth/keys/code", callback))
  return client((await expectJson<{ key: string }>(200, client().post("/auth/keys", { code: data.id }))).key)
}

const kinds = {
  "an app": appKey,
  "another app": appKey,
  "a user of the free tier": async (workspace) => (await newKey(workspace, { kind: "free_tier" })).as,
  "a partner's user": async (workspace) => (await newKey(workspace, { external: { user: "ann" } })).as,
  "another user of the free tier": async (workspace) => (await newKey(workspace, { kind: "free_tier" })).as,
  "a normal key": async ({ as }) => as,
  "a management key": async ({ manage }) => manage,
} satisfies Record<string, (workspace: Workspace) => Promise<TestClient>>
type Kind = keyof typeof kinds
const names = Object.keys(kinds) as Kind[]
const isConfined = (name: Kind) => name !== "a normal key" && name !== "a management key"

const message = {
  custom_id: "one",
  params: { ...FREE, max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
}

describe.each(names.filter(isConfined))("files and batches of other keys are hidden from %s", (reader) => {
  test.each(names.filter((name) => name !== reader))("%s", async (owner) => {
    const workspace = await newWorkspace()
    const [mine, theirs] = [await kinds[reader](workspace), await kinds[owner](workspace)]
    const text = await upload(theirs, "A text to read.")
    const batch = await createBatch(theirs, [request("one", "Hi", FREE)])
    const { output_file_id: output } = await waitForStatus(theirs, batch, "completed")
    const messages = await expectJson<{ id: string }>(200, theirs.post("/messages/batches", { requests: [message] }))
    for (const file of [text, batch.input_file_id, output]) {
      await expectJson(404, mine.get(`/files/${file}`))
      await expectJson(404, mine.get(`/files/${file}/content`))
      await expectJson(404, mine.delete(`/files/${file}`))
      await expectJson(
        404,
        mine.post("/batches", { input_file_id: file, endpoint: ENDPOINT, completion_window: "24h" }),
      )
      const content = [{ type: "file", file: { file_id: file } }]
      const call = { ...FREE, messages: [{ role: "user", content }] }
      await expectJson(400, mine.post("/chat/completions", call))
    }
    await expectJson(404, mine.get(`/batches/${batch.id}`))
    await expectJson(404, mine.post(`/batches/${batch.id}/cancel`, undefined))
    for (const path of ["", "/results"]) await expectJson(404, mine.get(`/messages/batches/${messages.id}${path}`))
    await expectJson(404, mine.post(`/messages/batches/${messages.id}/cancel`, undefined))
    await expectJson(404, mine.delete(`/messages/batches/${messages.id}`))
    for (const path of ["/files", "/batches", "/messages/batches"]) {
      expect(await expectJson<{ data: unknown[] }>(200, mine.get(path))).toMatchObject({ data: [] })
    }
    await expectJson(200, theirs.get(`/files/${text}`))
  })
})

test.each(names)(
  "the file storage of a provider, which has files of all keys, is closed to %s if it is confined",
  async (name) => {
    const workspace = await newWorkspace()
    const key = "sk-proj-of-the-workspace-0123456789"
    await expectJson(201, workspace.manage.post("/byok", { provider: "openai", key }))
    const as = await kinds[name](workspace)
    const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json({ data: [] }))
    try {
      const answers = [as.get("/files?provider=openai"), as.delete("/files/file-abc?provider=openai")]
      for (const { status } of await Promise.all(answers)) expect(status === 403).toBe(isConfined(name))
      expect(fetched.mock.calls.length > 0).toBe(!isConfined(name))
    } finally {
      fetched.mockRestore()
    }
  },
)

test.each(names)("%s reads and deletes what it made, and the workspace's keys see it", async (owner) => {
  const workspace = await newWorkspace()
  const mine = await kinds[owner](workspace)
  const batch = await createBatch(mine, [request("one", "Hi", FREE)])
  const { output_file_id: output } = await waitForStatus(mine, batch, "completed")
  const results = await mine.get(`/files/${output}/content`)
  expect([results.status, await results.text()]).toEqual([200, expect.stringContaining('"custom_id":"one"')])
  for (const reader of [workspace.as, workspace.manage]) {
    await expectJson(200, reader.get(`/files/${output}`))
    await expectJson(200, reader.get(`/batches/${batch.id}`))
  }
  const text = await upload(mine, "A text to read.")
  const { data } = await expectJson<{ data: { id: string }[] }>(200, mine.get("/files"))
  expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([batch.input_file_id, output, text]))
  await expectJson(200, mine.delete(`/files/${text}`))
})
