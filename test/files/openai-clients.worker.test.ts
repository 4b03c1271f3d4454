import { env } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { clearFiles } from "../../src/files/bytes.ts"
import { objectKey } from "../../src/files/file.ts"
import { usedBytes } from "../../src/files/store.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"

type Json = Record<string, unknown>
const PYTHON = { "user-agent": "OpenAI/Python 2.54.0" }
const BETA = { "openai-beta": "assistants=v2" }
/** A client that does not name the API, such as go-openai and async-openai. */
const GO = { "user-agent": "Go-http-client/1.1" }

/** Some clients send the purpose before the file, others after it. */
function formOf(purpose: string, isFirst: boolean): string {
  const field = `--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n`
  const file = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{}\r\n'
  return `${isFirst ? field + file : file + field}--x--\r\n`
}

const FORM = "multipart/form-data; boundary=x"
const upload = (workspace: Workspace, headers: Record<string, string>, form = formOf("batch", true)) =>
  expectJson<Json>(200, workspace.as.call("POST", "/files", form, { ...headers, "content-type": FORM }))

describe("files of OpenAI's clients", () => {
  test.each([true, false])("have the format of its API, with the purpose before the file: %s", async (isFirst) => {
    const workspace = await newWorkspace()
    const made = await upload(workspace, GO, formOf("batch", isFirst))
    expect(made).toEqual({
      _shape: "openai",
      id: expect.stringMatching(/^file_/),
      object: "file",
      filename: "a.jsonl",
      bytes: 2,
      purpose: "batch",
      status: "processed",
      created_at: expect.closeTo(Date.now() / 1_000, -2),
    })
    expect(await expectJson(200, workspace.as.get(`/files/${String(made["id"])}`, GO))).toEqual(made)
  })

  test("are listed in both orders and by purpose, and deleted in that format", async () => {
    const workspace = await newWorkspace()
    const made = [await upload(workspace, PYTHON), await upload(workspace, PYTHON, formOf("user_data", true))]
    const list = (query: string, headers: Record<string, string>) =>
      expectJson<Json>(200, workspace.as.get(`/files${query}`, headers))
    expect(await list("?order=desc&limit=1", PYTHON)).toEqual({
      _shape: "openai",
      object: "list",
      data: made.slice(1),
      first_id: made[1]?.["id"],
      last_id: made[1]?.["id"],
      has_more: true,
    })
    const after = `?order=desc&after=${String(made[1]?.["id"])}`
    expect(await list(after, PYTHON)).toMatchObject({ data: made.slice(0, 1), has_more: false })
    expect(await list("", BETA)).toMatchObject({ object: "list", data: made })
    expect(await list("?purpose=batch", GO)).toMatchObject({ object: "list", data: made.slice(0, 1) })
    const id = String(made[0]?.["id"])
    const gone = workspace.as.call("DELETE", `/files/${id}`, undefined, GO)
    expect(await expectJson(200, gone)).toEqual({ _shape: "openai", id, object: "file", deleted: true })
  })

  test("have the other formats for other clients", async () => {
    const workspace = await newWorkspace()
    const made = await upload(workspace, PYTHON)
    const record = { type: "file", size_bytes: 2, created_at: expect.stringMatching(/Z$/) as string }
    const anthropic = { "anthropic-version": "2023-06-01" }
    expect(await expectJson(200, workspace.as.get(`/files/${String(made["id"])}`, anthropic))).toMatchObject(record)
    expect(await expectJson(200, workspace.as.get("/files"))).toMatchObject({ data: [record] })
  })
})

/** As the SDKs encode `expires_after`. */
function expiringForm(anchor: string | undefined, seconds: string | undefined, isFirst = true): string {
  const field = (name: string, value: string | undefined) =>
    value === undefined ? "" : `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const fields = field("expires_after[anchor]", anchor) + field("expires_after[seconds]", seconds)
  const form = formOf("batch", isFirst)
  return isFirst ? fields + form : form.replace("--x--", `${fields}--x--`)
}

describe("a file with expires_after", () => {
  afterEach(() => void vi.restoreAllMocks())

  test.each([true, false])("has its expiry, with the fields before the file: %s", async (isFirst) => {
    const workspace = await newWorkspace()
    const made = await upload(workspace, PYTHON, expiringForm("created_at", "3600", isFirst))
    expect(made["expires_at"]).toBe((made["created_at"] as number) + 3_600)
    const plain = await expectJson<Json>(
      200,
      workspace.as.get(`/files/${String(made["id"])}`, { "anthropic-version": "1" }),
    )
    expect(Date.parse(plain["expires_at"] as string)).toBe(Date.parse(plain["created_at"] as string) + 3_600_000)
  })

  test("exists until then only: for reads, lists, batches, the quota and the sweep", async () => {
    const workspace = await newWorkspace()
    const id = String((await upload(workspace, PYTHON, expiringForm("created_at", "3600")))["id"])
    const stays = String((await upload(workspace, PYTHON))["id"])
    const listed = async () => {
      const { data } = await expectJson<{ data: { id: string }[] }>(200, workspace.as.get("/files", PYTHON))
      return data.map((file) => file.id)
    }
    expect(await listed()).toEqual([id, stays])
    const later = Date.now() + 3_600_001
    vi.spyOn(Date, "now").mockReturnValue(later)
    expect(await listed()).toEqual([stays])
    await expectJson(404, workspace.as.get(`/files/${id}`))
    await expectJson(404, workspace.as.call("DELETE", `/files/${id}`))
    const batch = { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" }
    await expectJson(404, workspace.as.post("/batches", batch))
    expect(await usedBytes(env.DB, workspace.organizationId)).toBe(2)
    const key = { organizationId: workspace.organizationId, workspaceId: workspace.workspaceId }
    expect(await env.FILES.head(objectKey({ ...key, id }))).not.toBeNull()
    await clearFiles(env, later)
    expect(await env.FILES.head(objectKey({ ...key, id }))).toBeNull()
    expect(await env.FILES.head(objectKey({ ...key, id: stays }))).not.toBeNull()
  })

  test.each([
    ["last_active_at", "3600", "expires_after[anchor]: accepts created_at"],
    [undefined, "3600", "expires_after[anchor]: accepts created_at"],
    ["created_at", undefined, "expires_after[seconds]: must be a whole number from 3600 to 2592000"],
    ["created_at", "3599", "expires_after[seconds]"],
    ["created_at", "2592001", "expires_after[seconds]"],
    ["created_at", "-3600", "expires_after[seconds]"],
    ["created_at", "1e4", "expires_after[seconds]"],
  ])("is rejected with %s and %s, and leaves no file", async (anchor, seconds, message) => {
    const workspace = await newWorkspace()
    const form = expiringForm(anchor, seconds)
    const rejected = workspace.as.call("POST", "/files", form, { ...PYTHON, "content-type": FORM })
    const { error } = await expectJson<{ error: { message: string } }>(400, rejected)
    expect(error.message).toContain(message)
    expect(await expectJson(200, workspace.as.get("/files", PYTHON))).toMatchObject({ data: [] })
    expect(await usedBytes(env.DB, workspace.organizationId)).toBe(0)
  })
})
