import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { wakeBatch } from "../../src/batches/open-batch.ts"
import { eventually } from "../support/eventually.ts"
import { client, expectJson, newKey, newWorkspace } from "../support/world.ts"
import {
  type Batch,
  chargesOf,
  createBatch,
  ENDPOINT,
  insertBatch,
  waitForStatus,
  readLines,
  request,
  toJsonl,
  upload,
} from "./batches.ts"

describe("a batch", () => {
  test("runs each request once as a call of its key and writes the responses to a file", async () => {
    const workspace = await newWorkspace()
    const lines = Array.from({ length: 10 }, (_, at) => request(`r${at}`, `Number ${at}`))
    const created = await createBatch(workspace.as, lines, { metadata: { run: "nightly" } })
    expect(created).toMatchObject({ object: "batch", status: "validating", metadata: { run: "nightly" }, errors: null })
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(batch.request_counts).toEqual({ total: 10, completed: 10, failed: 0 })
    expect(batch.error_file_id).toBeNull()
    const output = await readLines(workspace.as, batch.output_file_id)
    expect(output.map((line) => line.custom_id)).toEqual(lines.map((_, at) => `r${at}`))
    for (const [at, line] of output.entries()) {
      expect(line).toMatchObject({ id: expect.stringMatching(/^batch_req_/), error: null })
      expect(line.response).toMatchObject({ status_code: 200, request_id: expect.stringMatching(/./) })
      expect(JSON.stringify(line.response?.body)).toContain(`Number ${at}`)
    }
    const tokens = output.map(({ response }) => Number(Object(response?.body["usage"]).prompt_tokens))
    expect(batch.usage.input_tokens).toBe(tokens.reduce((sum, one) => sum + one, 0))

    // The calls have the batch as their session, and add up to the usage of the key.
    await eventually(async () => expect(await chargesOf(batch.id)).toHaveLength(10))
    const spent = (await chargesOf(batch.id)).reduce((sum, cost) => sum + cost, 0)
    const { data } = await expectJson<{ data: { usage: number } }>(200, workspace.as.get("/key"))
    expect(Math.round(data.usage * 1e9)).toBe(spent)

    // Calls of another key that names the batch as its session do not count into its cost.
    const other = await newKey(workspace)
    await expectJson(
      200,
      other.as.post("/chat/completions", {
        model: "sim/echo",
        messages: [{ role: "user", content: "Hello" }],
        session_id: batch.id,
      }),
    )
    await eventually(async () => expect(await chargesOf(batch.id)).toHaveLength(11))
    const read = await expectJson<Batch>(200, workspace.as.get(`/batches/${batch.id}?include_cost=true`))
    expect(Math.round((read.cost ?? 0) * 1e9)).toBe(spent)
    const list = await expectJson<{ data: Batch[] }>(200, workspace.as.get("/batches?include_cost=true"))
    expect(list.data).toEqual([read])
    expect(batch).not.toHaveProperty("cost")
    type Log = { data: { action: string }[] }
    const audit = await expectJson<Log>(200, workspace.manage.get(`/audit?resource_id=${batch.id}`))
    expect(audit.data).toMatchObject([{ action: "batch.create" }])
  })

  test("gives both of its files the expiry that it was created with", async () => {
    const workspace = await newWorkspace()
    const lines = [request("good", "Hello"), request("bad", "Hello", { model: "nobody/nothing" })]
    const expiry = (seconds: number, anchor = "created_at") => ({ output_expires_after: { anchor, seconds } })
    const batch = await waitForStatus(workspace.as, await createBatch(workspace.as, lines, expiry(3_600)), "completed")
    for (const id of [batch.output_file_id, batch.error_file_id]) {
      type Record = { created_at: string; expires_at: string }
      const file = await expectJson<Record>(200, workspace.as.get(`/files/${id}`))
      expect(Date.parse(file.expires_at)).toBe(Date.parse(file.created_at) + 3_600_000)
    }
    for (const wrong of [expiry(3_599), expiry(2_592_001), expiry(3_600, "completed_at")]) {
      const input = { input_file_id: batch.input_file_id, endpoint: ENDPOINT, completion_window: "24h", ...wrong }
      await expectJson(400, workspace.as.post("/batches", input))
    }
  })

  test("writes failed requests to the error file, with the response that a client would get", async () => {
    const workspace = await newWorkspace()
    const lines = [request("good", "Hello"), request("bad", "Hello", { model: "nobody/nothing" })]
    const batch = await waitForStatus(workspace.as, await createBatch(workspace.as, lines), "completed")
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 })
    expect(await readLines(workspace.as, batch.output_file_id)).toMatchObject([{ custom_id: "good" }])
    expect(await readLines(workspace.as, batch.error_file_id)).toMatchObject([
      { custom_id: "bad", error: null, response: { status_code: 404, body: { error: { code: 404 } } } },
    ])
  })

  test.each([
    ["/v1/responses", { input: "Hello" }, "output"],
    ["/api/v1/chat/completions", { messages: [{ role: "user", content: "Hello" }] }, "choices"],
    ["/v1/completions", { prompt: "Hello" }, "choices"],
    ["/v1/embeddings", { input: "Hello", model: "sim/embed" }, "data"],
    ["/v1/messages", { max_tokens: 50, messages: [{ role: "user", content: "Hello" }] }, "content"],
  ])("runs requests of %s", async (endpoint, body, field) => {
    const workspace = await newWorkspace()
    const line = { custom_id: "one", method: "POST", url: endpoint, body: { model: "sim/echo", ...body } }
    const created = await createBatch(workspace.as, [line], { endpoint })
    const batch = await waitForStatus(workspace.as, created, "completed")
    const [output] = await readLines(workspace.as, batch.output_file_id)
    expect(output?.response?.body).toHaveProperty(field)
    expect(batch.usage.input_tokens).toBeGreaterThan(0)
  })

  test("stops at the limit of its key, request by request", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { limit: 0 })
    const batch = await waitForStatus(as, await createBatch(as, [request("one", "Hello")]), "completed")
    expect(batch.request_counts).toEqual({ total: 1, completed: 0, failed: 1 })
    const [line] = await readLines(as, batch.error_file_id)
    expect(line?.response?.status_code).toBeGreaterThanOrEqual(402)
    expect(line?.response?.status_code).toBeLessThanOrEqual(403)
    expect(await chargesOf(batch.id)).toEqual([])
  })

  test("is listed newest first, in pages", async () => {
    const workspace = await newWorkspace()
    const made: Batch[] = []
    for (const name of ["a", "b", "c"]) made.push(await createBatch(workspace.as, [request(name, "Hello")]))
    type Page = { data: Batch[]; has_more: boolean; last_id: string }
    const first = await expectJson<Page>(200, workspace.as.get("/batches?limit=2"))
    expect(first.data.map(({ id }) => id)).toEqual([made[2]?.id, made[1]?.id])
    expect(first.has_more).toBe(true)
    const second = await expectJson<Page>(200, workspace.as.get(`/batches?limit=2&after=${first.last_id}`))
    expect(second).toMatchObject({ data: [{ id: made[0]?.id }], has_more: false })
    for (const after of ["x", "batch_x", made[0]?.input_file_id]) {
      await expectJson(400, workspace.as.get(`/batches?after=${after}`))
      await expectJson(400, workspace.as.get(`/messages/batches?after_id=${after}`))
      await expectJson(400, workspace.as.get(`/messages/batches?before_id=${after}`))
    }
    for (const batch of made) await waitForStatus(workspace.as, batch, "completed")
    const cancelled = await insertBatch(workspace, {
      keyHash: "f".repeat(64),
      inputFileId: made[0]?.input_file_id ?? "",
      status: "cancelled",
    })
    const idsOf = async (status: string) => {
      const page = await expectJson<Page>(200, workspace.as.get(`/batches?status=${status}`))
      return page.data.map(({ id }) => id)
    }
    expect(await idsOf("completed")).toEqual(made.map(({ id }) => id).toReversed())
    expect(await idsOf("cancelled")).toEqual([cancelled.id])
    expect(await idsOf("unfinished")).toEqual([])
    await expectJson(400, workspace.as.get("/batches?status=done"))
  })

  test("is not found by other organizations", async () => {
    const [mine, other] = [await newWorkspace(), await newWorkspace()]
    const batch = await waitForStatus(mine.as, await createBatch(mine.as, [request("a", "Hello")]), "completed")
    await expectJson(404, other.as.get(`/batches/${batch.id}`))
    await expectJson(404, other.manage.get(`/batches/${batch.id}`))
    await expectJson(404, other.as.post(`/batches/${batch.id}/cancel`, undefined))
    await expectJson(404, other.as.get(`/files/${batch.output_file_id}/content`))
    const input = { input_file_id: batch.input_file_id, endpoint: ENDPOINT, completion_window: "24h" }
    await expectJson(404, other.as.post("/batches", input))
    expect(await expectJson(200, other.as.get("/batches"))).toMatchObject({ data: [] })
    await expectJson(200, mine.manage.get(`/batches/${batch.id}`))
    await expectJson(200, (await newKey(mine)).as.get(`/batches/${batch.id}`))
    await expectJson(401, client("sk-gw-v1-nobody").get(`/batches/${batch.id}`))
  })

  test("that has ended cannot be cancelled", async () => {
    const workspace = await newWorkspace()
    const batch = await waitForStatus(
      workspace.as,
      await createBatch(workspace.as, [request("a", "Hello")]),
      "completed",
    )
    await expectJson(409, workspace.as.post(`/batches/${batch.id}/cancel`, undefined))
    expect((await waitForStatus(workspace.as, batch, "completed")).output_file_id).toBe(batch.output_file_id)
  })

  test("of a disabled key makes no further call, and its requests fail with 401", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const id = await upload(as, toJsonl([request("a", "Hello")]))
    await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { disabled: true }))
    const row = await insertBatch(workspace, { keyHash: hash, inputFileId: id })
    await wakeBatch(env, row.id)
    const batch = await waitForStatus(workspace.as, row, "completed")
    expect(await readLines(workspace.as, batch.error_file_id)).toMatchObject([{ response: { status_code: 401 } }])
    expect(await chargesOf(batch.id)).toEqual([])
  })
})

describe("an invalid input file", () => {
  const body = { model: "sim/echo", messages: [{ role: "user", content: "Hello" }] }
  const good = { custom_id: "good", method: "POST", url: ENDPOINT, body }
  test.each([
    ["not JSON", "{", "invalid_json_line", null],
    ["no custom_id", JSON.stringify({ ...good, custom_id: undefined }), "missing_required_parameter", "custom_id"],
    ["the custom_id of another line", JSON.stringify(good), "duplicate_custom_id", "custom_id"],
    ["another method", JSON.stringify({ ...good, custom_id: "b", method: "GET" }), "invalid_method", "method"],
    ["another url", JSON.stringify({ ...good, custom_id: "b", url: "/v1/embeddings" }), "mismatched_url", "url"],
    ["no body", JSON.stringify({ ...good, custom_id: "b", body: 1 }), "invalid_parameter", "body"],
    [
      "a stream",
      JSON.stringify({ ...good, custom_id: "b", body: { ...body, stream: true } }),
      "invalid_parameter",
      "body.stream",
    ],
  ])("%s: fails the batch with the line number and runs no request", async (_, line, code, param) => {
    const workspace = await newWorkspace()
    const id = await upload(workspace.as, `${JSON.stringify(good)}\n\n${line}\n`)
    const input = { input_file_id: id, endpoint: ENDPOINT, completion_window: "24h" }
    const created = await expectJson<Batch>(200, workspace.as.post("/batches", input))
    const batch = await waitForStatus(workspace.as, created, "failed")
    expect(batch.errors?.data).toEqual([{ code, param, line: 3, message: expect.any(String) }])
    expect(batch.output_file_id).toBeNull()
    expect(await chargesOf(batch.id)).toEqual([])
  })

  test("without requests fails the batch", async () => {
    const workspace = await newWorkspace()
    const id = await upload(workspace.as, "\n\n")
    const input = { input_file_id: id, endpoint: ENDPOINT, completion_window: "24h" }
    const batch = await waitForStatus(
      workspace.as,
      await expectJson<Batch>(200, workspace.as.post("/batches", input)),
      "failed",
    )
    expect(batch.errors?.data).toMatchObject([{ code: "empty_file" }])
  })

  test.each([
    [{ endpoint: "/v1/moderations" }, "endpoint"],
    [{ completion_window: "1h" }, "completion_window"],
    [{ metadata: { a: 1 } }, "metadata"],
    [{ input_file_id: "../x" }, "input_file_id"],
  ])("%j returns 400", async (wrong, name) => {
    const workspace = await newWorkspace()
    const input = { input_file_id: "file_1", endpoint: ENDPOINT, completion_window: "24h", ...wrong }
    const { error } = await expectJson<{ error: { message: string } }>(400, workspace.as.post("/batches", input))
    expect(error.message).toContain(name)
  })
})
