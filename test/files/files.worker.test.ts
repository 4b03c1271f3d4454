import { env, exports } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { clearFiles } from "../../src/files/bytes.ts"
import { toCsvCell } from "../../src/files/export.ts"
import { readJson, requestProvider } from "../../src/files/provider-files.ts"
import { reachableProviders } from "../../src/providers/configured.ts"
import { deflated } from "../support/deflated.ts"
import { newKey, newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"

afterEach(() => vi.restoreAllMocks())

type FileRecord = { id: string; filename: string; mime_type: string; size_bytes: number; downloadable: boolean }
type FilePage = { data: FileRecord[]; has_more: boolean; cursor: string | null; first_id: string; last_id: string }

function send(key: string, form: FormData | string, query = "", type?: string): Promise<Response> {
  return (exports as unknown as { default: Fetcher }).default.fetch(`http://gateway.test/api/v1/files${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...(type !== undefined && { "content-type": type }) },
    body: form,
  })
}

function formOf(content: string | Uint8Array<ArrayBuffer>, filename = "a.txt"): FormData {
  const form = new FormData()
  form.append("file", new File([content], filename))
  return form
}

const upload = (workspace: Workspace, content: string | Uint8Array<ArrayBuffer>, filename?: string) =>
  expectJson<FileRecord>(200, send(workspace.key, formOf(content, filename)))
const objects = async ({ organizationId }: Workspace) =>
  (await env.FILES.list({ prefix: `${organizationId}/` })).objects.map(({ size }) => size)

describe("an uploaded file", () => {
  test("is stored, returned as metadata, not downloadable, and deleted with its bytes", async () => {
    const workspace = await newWorkspace()
    const made = await upload(workspace, '{"a":1}', "../../etc/x.json")
    expect(made).toEqual({
      _shape: "openrouter",
      id: expect.stringMatching(/^file_[\w-]+$/),
      type: "file",
      filename: "x.json",
      mime_type: "application/json",
      size_bytes: 7,
      downloadable: false,
      created_at: expect.any(String),
    })
    expect(await expectJson(200, workspace.as.get(`/files/${made.id}`))).toEqual(made)
    expect(await objects(workspace)).toEqual([7])
    const { error } = await expectJson<{ error: { message: string } }>(
      400,
      workspace.as.get(`/files/${made.id}/content`),
    )
    expect(error.message).toContain("uploaded")
    const gone = { _shape: "openrouter", id: made.id, type: "file_deleted" }
    expect(await expectJson(200, workspace.as.delete(`/files/${made.id}`))).toEqual(gone)
    for (const path of ["", "/content"]) await expectJson(404, workspace.as.get(`/files/${made.id}${path}`))
    await expectJson(404, workspace.as.delete(`/files/${made.id}`))
    expect(await objects(workspace)).toEqual([])
    type Log = { data: { action: string; changes: object }[] }
    const { data } = await expectJson<Log>(200, workspace.manage.get(`/audit?resource_id=${made.id}`))
    expect(data).toMatchObject([{ action: "file.delete" }, { action: "file.create", changes: { size_bytes: 7 } }])
  })

  test("larger than a part of R2 is stored completely", async () => {
    const workspace = await newWorkspace()
    const bytes = new Uint8Array(18 * 1024 * 1024 + 7)
    bytes.set(new TextEncoder().encode("%PDF-"))
    for (let at = 5; at < bytes.length; at += 1_021) bytes[at] = at % 251
    const { id, size_bytes: size } = await upload(workspace, bytes, "large.pdf")
    expect(size).toBe(bytes.length)
    const kept = await env.FILES.get(`${workspace.organizationId}/${workspace.workspaceId}/${id}`)
    const [mine, theirs] = await Promise.all(
      [bytes, new Uint8Array((await kept?.arrayBuffer()) ?? new ArrayBuffer())].map((one) =>
        crypto.subtle.digest("SHA-256", one),
      ),
    )
    expect(new Uint8Array(theirs ?? new ArrayBuffer())).toEqual(new Uint8Array(mine ?? new ArrayBuffer()))
  })

  test.each([
    ["empty", "", 400],
    ["of an unsupported type", "MZ\0\0", 400],
  ])("is rejected if it is %s, and nothing is stored", async (_, content, status) => {
    const workspace = await newWorkspace()
    await expectJson(status, send(workspace.key, formOf(content)))
    expect(await objects(workspace)).toEqual([])
    expect(await expectJson<FilePage>(200, workspace.as.get("/files"))).toMatchObject({ data: [], has_more: false })
  })

  test("is rejected if its end is not text, and nothing is stored", async () => {
    const workspace = await newWorkspace()
    const bytes = new Uint8Array(9 * 1024 * 1024).fill(97)
    bytes[bytes.length - 5] = 0xff
    await expectJson(400, send(workspace.key, formOf(bytes)))
    expect(await objects(workspace)).toEqual([])
    const rows = "SELECT count(*) AS n FROM files WHERE organization_id = ? AND deleted_at IS NULL"
    expect(await env.DB.prepare(rows).bind(workspace.organizationId).first("n")).toBe(0)
  })

  test("must be sent as a form", async () => {
    const { key } = await newWorkspace()
    await expectJson(415, send(key, "words", "", "text/plain"))
    await expectJson(400, send(key, "--x\r\n\r\n--x--", "", "multipart/form-data; boundary=x"))
    const cut = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc'
    await expectJson(400, send(key, cut, "", "multipart/form-data; boundary=x"))
  })
})

describe("files", () => {
  test("are listed oldest first, page by page", async () => {
    const workspace = await newWorkspace()
    const made: FileRecord[] = []
    for (const name of ["a", "b", "c"]) made.push(await upload(workspace, name, `${name}.txt`))
    const first = await expectJson<FilePage>(200, workspace.as.get("/files?limit=2"))
    expect(first).toEqual({
      _shape: "openrouter",
      data: made.slice(0, 2),
      first_id: made[0]?.id,
      last_id: made[1]?.id,
      has_more: true,
      cursor: made[1]?.id,
    })
    for (const name of ["cursor", "after", "after_id"]) {
      const rest = await expectJson<FilePage>(200, workspace.as.get(`/files?limit=2&${name}=${first.cursor}`))
      expect(rest).toMatchObject({ data: made.slice(2), has_more: false, cursor: null })
    }
    for (const query of ["order=up", "before_id=x", "limit=0", "limit=1001", "provider=x", "cursor=%20"]) {
      await expectJson(400, workspace.as.get(`/files?${query}`))
    }
    await expectJson(200, workspace.as.get("/files?order=asc"))
  })

  test("are listed after a deleted one, and not after what is no file", async () => {
    const workspace = await newWorkspace()
    const made: FileRecord[] = []
    for (const name of ["a", "b", "c"]) made.push(await upload(workspace, name, `${name}.txt`))
    await expectJson(200, workspace.as.delete(`/files/${made[1]?.id}`))
    const [uuid] = (made[1]?.id ?? "").split("_").slice(1)
    for (const name of ["cursor", "after", "after_id"]) {
      const rest = await expectJson<FilePage>(200, workspace.as.get(`/files?${name}=${made[1]?.id}`))
      expect(rest.data).toEqual([made[2]])
      for (const id of ["nonsense", `batch_${uuid}`, `${uuid}`, "file_", `file_${uuid}0`, `FILE_${uuid}`]) {
        const { error } = await expectJson<{ error: { message: string } }>(
          400,
          workspace.as.get(`/files?${name}=${id}`),
        )
        expect(error.message).toBe(`${name}: must be the cursor of a page, or the id of a file.`)
      }
    }
  })

  test("of another workspace are not found, and those of an unnamed one need a management key", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    const { id } = await upload(mine, "words")
    for (const by of [theirs.as, theirs.manage]) {
      for (const path of ["", "/content"]) await expectJson(404, by.get(`/files/${id}${path}`))
      await expectJson(404, by.delete(`/files/${id}`))
      await expectJson(404, by.get(`/files?workspace_id=${mine.workspaceId}`))
    }
    type Team = { data: { id: string } }
    const { data } = await expectJson<Team>(201, mine.manage.post("/workspaces", { name: "Team", slug: "team" }))
    const beside = await newKey(mine, { workspace_id: data.id })
    await expectJson(404, beside.as.get(`/files/${id}`))
    await expectJson(404, beside.as.get(`/files/${id}?workspace_id=${mine.workspaceId}`))
    const there = await expectJson<FileRecord>(200, send(beside.key, formOf("x")))
    await expectJson(404, mine.manage.get(`/files/${there.id}`))
    await expectJson(200, mine.manage.get(`/files/${there.id}?workspace_id=${data.id}`))
  })

  test("are deleted if their upload was never completed", async () => {
    const workspace = await newWorkspace()
    await upload(workspace, "words")
    await env.DB.prepare("UPDATE files SET is_ready = 0, created_at = 0 WHERE organization_id = ?")
      .bind(workspace.organizationId)
      .run()
    await clearFiles(env, Date.now())
    expect(await objects(workspace)).toEqual([])
  })
})

describe("an export", () => {
  type Made = FileRecord & { _shape: string }
  const FROM = "2020-01-01T00:00:00Z"

  async function called(): Promise<Workspace> {
    const workspace = await newWorkspace()
    await workspace.as.chat("sim/echo", "one", {}, { "x-title": '=cmd|"evil"!A1, x' })
    await workspace.as.chat("sim/echo", "two")
    await workspace.ledger.balance()
    await eventually(async () => {
      const rows = "SELECT count(*) AS n FROM generations WHERE organization_id = ?"
      expect(await env.DB.prepare(rows).bind(workspace.organizationId).first("n")).toBe(2)
    })
    return workspace
  }

  test("is a table of the calls of a period, for management keys", async () => {
    const workspace = await called()
    const made = await expectJson<Made>(201, workspace.manage.post("/exports", { from: FROM }))
    expect(made).toMatchObject({ _shape: "openrouter", downloadable: true, mime_type: "text/csv" })
    const answer = await workspace.manage.get(`/files/${made.id}/content`)
    expect(answer.headers.get("content-type")).toBe("application/octet-stream")
    expect(answer.headers.get("content-disposition")).toContain("attachment")
    const csv = await answer.text()
    expect(csv.length).toBe(made.size_bytes)
    const lines = csv.trimEnd().split("\r\n")
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(/^id,request_id,created_at,charged_at,.*cost_usd,is_byok/)
    expect(csv).toContain(`"'=cmd|""evil""!A1, x"`)
    // Usage is not visible to every key of the workspace.
    for (const path of ["", "/content"]) await expectJson(404, workspace.as.get(`/files/${made.id}${path}`))
    expect((await expectJson<FilePage>(200, workspace.as.get("/files"))).data).toEqual([])
    expect((await expectJson<FilePage>(200, workspace.manage.get("/files"))).data).toHaveLength(1)
  })

  test("can be JSON lines, of one period and one workspace", async () => {
    const workspace = await called()
    const { workspaceId } = workspace
    const exportOf = async (input: object) => {
      const { id } = await expectJson<Made>(
        201,
        workspace.manage.post("/exports", { from: FROM, format: "ndjson", ...input }),
      )
      const text = await (await workspace.manage.get(`/files/${id}/content`)).text()
      return text === ""
        ? []
        : text
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line) as Record<string, unknown>)
    }
    expect(await exportOf({ workspace_id: workspaceId })).toMatchObject([
      { workspace_id: workspaceId, model: "sim/echo", status: 200, app_title: '=cmd|"evil"!A1, x' },
      { app_title: null },
    ])
    expect(await exportOf({ to: "2020-01-02T00:00:00Z" })).toEqual([])
    await expectJson(400, workspace.manage.post("/exports", { from: FROM, to: "2019-01-01T00:00:00Z" }))
    await expectJson(400, workspace.manage.post("/exports", {}))
    await expectJson(403, workspace.as.post("/exports", { from: FROM }))
    const other = await newWorkspace()
    await expectJson(404, workspace.manage.post("/exports", { from: FROM, workspace_id: other.workspaceId }))
  })

  test.each(["=1", "+1", "-1", "@x", "\tx", "\nx", "\uFF1D1", "\uFF0B1", "\uFF0D1", "\uFF20x"])(
    "escapes %j so that it is not a formula",
    (text) => {
      expect(toCsvCell(text)).toContain(`'${text}`)
    },
  )
})

describe("the file storage of a provider", () => {
  const KEY = "own-vendor-key-0123456789"
  const withKey = async (provider: string) => {
    const workspace = await newWorkspace()
    await expectJson(201, workspace.manage.post("/byok", { provider, key: KEY }))
    return workspace
  }
  function mockVendor(answer: (request: Request) => Response) {
    const asked: { method: string; url: string; key: string | null; type: string | null; body: string }[] = []
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      const key = request.headers.get("x-api-key") ?? request.headers.get("authorization")
      // Batches of other tests are polled in the background.
      if (new URL(request.url).pathname.includes("/files"))
        asked.push({
          method: request.method,
          url: request.url,
          key,
          type: request.headers.get("content-type"),
          body: await request.clone().text(),
        })
      return answer(request)
    })
    return asked
  }

  test("is read with the workspace's credential, in the provider's format", async () => {
    const workspace = await withKey("openai")
    const file = {
      id: "f1",
      object: "file",
      bytes: 3,
      created_at: 5,
      filename: "a",
      purpose: "batch",
      status: "uploaded",
    }
    const returned = { ...file, _shape: "openai", status: "processed" }
    const asked = mockVendor((request) =>
      request.url.endsWith("/content")
        ? new Response("abc")
        : Response.json(request.url.includes("?") ? { data: [file], has_more: true } : file),
    )
    expect(await expectJson(200, workspace.as.get("/files?provider=openai&after=f0&limit=5"))).toEqual({
      _shape: "openai",
      object: "list",
      data: [returned],
      first_id: "f1",
      last_id: "f1",
      has_more: true,
    })
    expect(await expectJson(200, workspace.as.get("/files/f1?provider=openai"))).toEqual(returned)
    expect(await (await workspace.as.get("/files/f1/content?provider=openai")).text()).toBe("abc")
    const gone = { _shape: "openai", id: "f1", object: "file", deleted: true }
    expect(await expectJson(200, workspace.as.delete("/files/f1?provider=openai"))).toEqual(gone)
    expect(await expectJson(200, send(workspace.key, formOf("words"), "?provider=openai"))).toEqual(returned)
    const at = "https://api.openai.com/v1/files"
    expect(asked.map(({ method, url }) => [method, url])).toEqual([
      ["GET", `${at}?limit=5&after=f0`],
      ["GET", `${at}/f1`],
      ["GET", `${at}/f1/content`],
      ["DELETE", `${at}/f1`],
      ["POST", at],
    ])
    expect(new Set(asked.map(({ key }) => key))).toEqual(new Set([`Bearer ${KEY}`]))
    expect(asked.at(-1)?.body).toMatch(/words\r\n--[^]*name="purpose"\r\n\r\nuser_data\r\n--/)
    expect(await objects(workspace)).toEqual([])
  })

  test("may compress its responses with deflate, although it was not asked to", async () => {
    const workspace = await withKey("openai")
    mockVendor(() => deflated({ data: [], has_more: false }))
    expect(await expectJson(200, workspace.as.get("/files?provider=openai"))).toMatchObject({ data: [] })
  })

  test.each(["before", "after"])("gets the purpose of the client once, %s its file", async (place) => {
    const workspace = await withKey("openai")
    const asked = mockVendor(() => Response.json({ id: "f1" }))
    const form = new FormData()
    if (place === "before") form.append("purpose", "batch")
    const content = `"name="purpose"\r\n--x\r\n${"w".repeat(100_000)}`
    form.append("file", new File([content], "ä b.jsonl"))
    if (place === "after") form.append("purpose", "batch")
    await expectJson(200, send(workspace.key, form, "?provider=openai"))
    const sent = asked[0]
    const received = await new Response(sent?.body, { headers: { "content-type": sent?.type ?? "" } }).formData()
    expect(received.getAll("purpose")).toEqual(["batch"])
    const file = received.get("file")
    if (!(file instanceof File)) throw new Error("The form has no file.")
    expect(file.name).toBe("ä b.jsonl")
    expect(await file.text()).toBe(content)
    expect([...received.keys()]).toHaveLength(2)
  })

  test("of Anthropic is read in Anthropic's format", async () => {
    const workspace = await withKey("anthropic")
    const file = { id: "f1", type: "file", filename: "a", mime_type: "text/plain", size_bytes: 3, created_at: "x" }
    const asked = mockVendor(() => Response.json({ data: [{ ...file, downloadable: true }], has_more: false }))
    expect(await expectJson(200, workspace.as.get("/files?provider=anthropic"))).toMatchObject({
      _shape: "anthropic",
      data: [{ ...file, _shape: "anthropic", downloadable: true }],
      has_more: false,
    })
    expect(asked[0]).toMatchObject({ url: "https://api.anthropic.com/v1/files?limit=100", key: KEY })
  })

  test("is that of the workspace in workspace_id, which only management keys may name", async () => {
    const workspace = await withKey("openai")
    type Team = { data: { id: string } }
    const { data } = await expectJson<Team>(201, workspace.manage.post("/workspaces", { name: "Team", slug: "team" }))
    const query = `?provider=openai&workspace_id=${data.id}`
    const asked = mockVendor(() => Response.json({ id: "f1", data: [] }))
    for (const path of [`/files${query}`, `/files/f1${query}`, `/files/f1/content${query}`]) {
      await expectJson(403, workspace.manage.get(path))
      await expectJson(404, workspace.as.get(path))
    }
    await expectJson(403, workspace.manage.delete(`/files/f1${query}`))
    await expectJson(403, send(workspace.managementKey, formOf("words"), query))
    expect(asked).toEqual([])
    const theirs = { provider: "openai", key: "team-vendor-key-0123456789", workspace_id: data.id }
    await expectJson(201, workspace.manage.post("/byok", theirs))
    await expectJson(200, workspace.manage.delete(`/files/f1${query}`))
    expect(asked.map(({ key }) => key)).toEqual(["Bearer team-vendor-key-0123456789"])
  })

  test("needs a credential of the workspace", async () => {
    const workspace = await newWorkspace()
    const asked = mockVendor(() => Response.json({}))
    const { error } = await expectJson<{ error: { message: string } }>(403, workspace.as.get("/files?provider=openai"))
    expect(error.message).toContain("/byok")
    expect(asked).toEqual([])
  })

  describe("under a guardrail", () => {
    const SECRET = "ZEBRA-4711"
    const guarded = async (rules: Record<string, unknown>) => {
      const workspace = await withKey("openai")
      const made = workspace.manage.post("/guardrails", { name: "Rail", ...rules })
      const { data } = await expectJson<{ data: { id: string } }>(201, made)
      const { key, as, hash } = await newKey(workspace)
      await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
      return { key, as }
    }
    const filtering = (action: "block" | "redact" | "flag") =>
      guarded({ content_filters: [{ pattern: "ZEBRA-\\d+", action, label: "Zebra" }] })
    const upload = (key: string, form: FormData) => send(key, form, "?provider=openai")
    const file = { id: "f1", object: "file", filename: `${SECRET}.txt`, bytes: 3, purpose: "batch", created_at: 9 }
    const utf16 = new Uint8Array([0x5a, 0, 0x45, 0])

    test("has the text and the names of files redacted, and the purpose of the client", async () => {
      const { key } = await filtering("redact")
      const asked = mockVendor(() => Response.json(file))
      const form = formOf(`It is ${SECRET}.`, `${SECRET}.txt`)
      form.append("purpose", "batch")
      const uploaded = await expectJson(200, upload(key, form))
      expect(JSON.stringify(uploaded)).not.toContain(SECRET)
      expect(asked).toHaveLength(1)
      expect(asked[0]?.body).toContain("It is [Zebra].")
      expect(asked[0]?.body).toContain('filename="[Zebra].txt"')
      expect(asked[0]?.body).not.toContain(SECRET)
      expect(asked[0]?.body.match(/name="purpose"\r\n\r\n\w+/g)).toEqual(['name="purpose"\r\n\r\nbatch'])
      await expectJson(200, upload(key, formOf("fine")))
      expect(asked[1]?.body).toMatch(/name="purpose"\r\n\r\nuser_data\r\n[^]*fine/)
    })

    test.each([
      ["text that is blocked", formOf(`It is ${SECRET}.`), 403],
      ["a name that is blocked", formOf("fine", `${SECRET}.txt`), 403],
      ["text that is not UTF-8", formOf(utf16), 403],
      ["more than is read", formOf("a".repeat(10 * 1024 * 1024)), 413],
    ])("gets no file with %s", async (_name, form, status) => {
      const { key } = await filtering("block")
      const asked = mockVendor(() => Response.json(file))
      await expectJson(status, upload(key, form))
      expect(asked).toEqual([])
    })

    test("gets every file if filters only flag", async () => {
      const { key } = await filtering("flag")
      const asked = mockVendor(() => Response.json(file))
      await expectJson(200, upload(key, formOf(utf16, `${SECRET}.txt`)))
      expect(asked[0]?.body).toContain(`filename="${SECRET}.txt"`)
    })

    test("gets binary files, which filters do not scan", async () => {
      const { key } = await filtering("block")
      const asked = mockVendor(() => Response.json({ ...file, filename: "a.pdf" }))
      await expectJson(200, upload(key, formOf("%PDF-1.7 fine", "a.pdf")))
      expect(asked).toHaveLength(1)
    })

    test.each([
      ["a list", "/files?provider=openai", () => Response.json({ data: [file], has_more: false }), 200],
      ["a record", "/files/f1?provider=openai", () => Response.json(file), 200],
      ["content", "/files/f1/content?provider=openai", () => new Response(`It is ${SECRET}`), 200],
      [
        "an error message",
        "/files/f1?provider=openai",
        () => Response.json({ error: { message: `No ${SECRET}` } }, { status: 404 }),
        404,
      ],
    ])("returns %s redacted", async (_name, path, answer, status) => {
      const { as } = await filtering("redact")
      mockVendor(answer)
      const response = await as.get(path)
      const text = await response.text()
      expect(response.status, text).toBe(status)
      expect(text).toContain("[Zebra]")
      expect(text).not.toContain(SECRET)
    })

    test("returns no content that a filter blocks or cannot read", async () => {
      const { as } = await filtering("block")
      for (const body of [`It is ${SECRET}`, utf16]) {
        mockVendor(() => new Response(body))
        await expectJson(403, as.get("/files/f1/content?provider=openai"))
      }
    })

    test.each([
      ["allowed_providers", { allowed_providers: ["anthropic"] }],
      ["ignored_providers", { ignored_providers: ["openai"] }],
      ["enforce_zdr_openai", { enforce_zdr_openai: true }],
      ["allowed_data_regions", { allowed_data_regions: ["europe"] }],
    ])("is not used against %s", async (field, rules) => {
      const { as, key } = await guarded(rules)
      const asked = mockVendor(() => Response.json(file))
      for (const answer of [as.get("/files?provider=openai"), upload(key, formOf("fine"))]) {
        const { error } = await expectJson<{ error: { metadata: unknown } }>(403, answer)
        expect(error.metadata).toEqual({ reason: "guardrail", patterns: [field] })
      }
      expect(asked).toEqual([])
    })

    test("is used despite rules about models, which files have none of", async () => {
      const { key } = await guarded({ allowed_models: ["sim/echo"], enforce_zdr_anthropic: true })
      mockVendor(() => Response.json(file))
      await expectJson(200, upload(key, formOf("fine")))
    })
  })

  test("returns 408 when the provider does not respond in time", async () => {
    const provider = reachableProviders(env).get("openai")
    if (!provider) throw new Error("OpenAI is not configured.")
    vi.spyOn(globalThis, "fetch").mockImplementation(
      (_, init) =>
        new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))),
    )
    const storage = { provider, screening: undefined, timers: { firstFrameMs: 5, totalMs: 5 } }
    const { signal } = new AbortController()
    for (const sent of [
      { method: "GET", path: "/files" },
      { method: "POST", path: "/files", body: new FormData() },
    ])
      await expect(requestProvider(storage, sent, signal)).rejects.toMatchObject({
        code: "timeout",
        message: "OpenAI did not respond in time.",
      })
  })

  test("returns 408 when the provider does not end its response in time, and its status if that is an error", async () => {
    const provider = reachableProviders(env).get("openai")
    if (!provider) throw new Error("OpenAI is not configured.")
    const cancelled: number[] = []
    const endless = (status: number) =>
      new Response(new ReadableStream({ cancel: () => void cancelled.push(status) }), { status })
    const storage = { provider, screening: undefined, timers: { firstFrameMs: 5, totalMs: 5 } }
    const timeout = { code: "timeout", message: "OpenAI did not respond in time." }
    await expect(readJson(storage, endless(200))).rejects.toMatchObject(timeout)
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => endless(404))
    const sent = { method: "GET", path: "/files/f1" }
    const failed = requestProvider(storage, sent, new AbortController().signal)
    await expect(failed).rejects.toMatchObject({ code: "not_found" })
    expect(cancelled).toEqual([200, 404])
  })

  test.each([
    [401, 403],
    [404, 404],
    [400, 400],
    [429, 429],
    [500, 502],
    [503, 503],
  ])("with status %d returns %d, without the key", async (status, returned) => {
    const workspace = await withKey("openai")
    mockVendor(() => Response.json({ error: { message: `no: ${KEY}` } }, { status }))
    const { error } = await expectJson<{ error: { message: string } }>(
      returned,
      workspace.as.get("/files/f1?provider=openai"),
    )
    expect(error.message).not.toContain(KEY)
  })
})
