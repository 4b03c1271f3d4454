import { describe, expect, test } from "vitest"
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
