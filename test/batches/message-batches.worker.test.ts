import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { moveBatch, saveProgress } from "../../src/batches/progress-store.ts"
import { NO_PROGRESS } from "../../src/batches/batch.ts"
import { runs } from "../support/runs.ts"
import { eventually } from "../support/eventually.ts"
import { expectJson, newWorkspace } from "../support/world.ts"
import { type Batch, chargesOf, createBatch, insertBatch, request, toJsonl, upload } from "./batches.ts"
import { createMessageBatch, endedBatch, type MessageBatch, messageRequest, readResults } from "./message-batches.ts"

describe("a batch of messages", () => {
  test("runs each request once and has one result for each, with the message that a client would get", async () => {
    const workspace = await newWorkspace()
    const requests = [
      messageRequest("a", "Hello a"),
      messageRequest("b", "Hello b", { model: "nobody/nothing" }),
      messageRequest("c", "Hello c"),
    ]
    const created = await createMessageBatch(workspace.as, requests)
    expect(created).toMatchObject({
      type: "message_batch",
      processing_status: "in_progress",
      request_counts: { processing: 3, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
      ended_at: null,
      cancel_initiated_at: null,
      archived_at: null,
      results_url: null,
    })
    const batch = await endedBatch(workspace.as, created)
    expect(batch.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 })
    expect(batch.ended_at).toMatch(/^\d{4}-/)
    expect(batch.results_url).toMatch(new RegExp(`^https?://.+/api/v1/messages/batches/${batch.id}/results$`))
    const results = new Map((await readResults(workspace.as, batch)).map((one) => [one.custom_id, one.result]))
    expect([...results.keys()].toSorted()).toEqual(["a", "b", "c"])
    for (const id of ["a", "c"]) {
      expect(results.get(id)).toMatchObject({
        type: "succeeded",
        message: { type: "message", role: "assistant", content: [{ type: "text", text: `Hello ${id}` }] },
      })
    }
    expect(results.get("b")).toMatchObject({
      type: "errored",
      error: {
        type: "error",
        error: { type: expect.stringMatching(/_error$/), message: expect.stringContaining("nobody/nothing") },
        request_id: expect.stringMatching(/./),
      },
    })
    await eventually(async () => expect(await chargesOf(batch.id)).toHaveLength(2))
  })

  test("is also a batch of the OpenAI format, and the other way round", async () => {
    const workspace = await newWorkspace()
    const created = await createMessageBatch(workspace.as, [messageRequest("a", "Hello")])
    const same = await expectJson<Batch>(200, workspace.as.get(`/batches/${created.id}`))
    expect(same).toMatchObject({ endpoint: "/v1/messages", metadata: null, request_counts: { total: 1 } })
    const lines = [
      { custom_id: "b", method: "POST", url: "/api/v1/messages", body: Object(messageRequest("", "Hi")).params },
    ]
    const input = { input_file_id: await upload(workspace.as, toJsonl(lines)), completion_window: "24h" }
    const other = await expectJson<Batch>(
      200,
      workspace.as.post("/batches", { ...input, endpoint: "/api/v1/messages" }),
    )
    await endedBatch(workspace.as, other)
    expect(await readResults(workspace.as, other)).toMatchObject([{ custom_id: "b", result: { type: "succeeded" } }])

    // Batches of other endpoints have no results in this format.
    const chat = await createBatch(workspace.as, [request("c", "Hello")])
    await expectJson(404, workspace.as.get(`/messages/batches/${chat.id}`))
    const listed = await expectJson<{ data: MessageBatch[] }>(200, workspace.as.get("/messages/batches"))
    expect(listed.data.map(({ id }) => id)).toEqual([other.id, created.id])
  })

  test.each([
    [{ requests: [] }, "requests: must have at least one request"],
    [{ requests: [messageRequest("", "x")] }, "requests[0].custom_id: must be a string of 1 to 512 characters"],
    [{ requests: [{ custom_id: "a" }] }, "requests[0].params: is required"],
    [
      { requests: [messageRequest("a", "x"), messageRequest("a", "y")] },
      'requests[1].custom_id: must be unique, but "a" occurs',
    ],
    [{ requests: [messageRequest("a", "x", { stream: true })] }, "requests[0].params.stream: must be false"],
    [{ requests: [messageRequest("a", "x".repeat(4_200_000))] }, "requests[0].params: must be at most 4194304 bytes"],
    [{ requests: [messageRequest("a", "x")], provider: "sim" }, "provider: sim has no batches here"],
  ])("that cannot run is a 400 in the format of Anthropic, and leaves no file: %#", async (body, message) => {
    const workspace = await newWorkspace()
    const answer = await expectJson<{ type: string; error: { type: string; message: string } }>(
      400,
      workspace.as.post("/messages/batches", body),
    )
    expect(answer).toMatchObject({ type: "error", error: { type: "invalid_request_error" } })
    expect(answer.error.message).toContain(message)
    expect(await expectJson(200, workspace.as.get("/files"))).toMatchObject({ data: [] })
    expect(await expectJson(200, workspace.as.get("/messages/batches"))).toMatchObject({ data: [] })
  })

  test("is cancelled: requests that did not run have the result canceled", async () => {
    const workspace = await newWorkspace()
    const requests = Array.from({ length: 300 }, (_, at) => messageRequest(`r${at}`, "Hello"))
    const created = await createMessageBatch(workspace.as, requests)
    const cancelled = await expectJson<MessageBatch>(
      200,
      workspace.as.post(`/messages/batches/${created.id}/cancel`, {}),
    )
    expect(cancelled).toMatchObject({
      processing_status: "canceling",
      cancel_initiated_at: expect.stringMatching(/^\d{4}-/),
    })
    const batch = await endedBatch(workspace.as, created)
    const results = await readResults(workspace.as, batch)
    const count = (type: string) => results.filter(({ result }) => result.type === type).length
    expect(batch.request_counts).toEqual({
      processing: 0,
      succeeded: count("succeeded"),
      errored: 0,
      canceled: count("canceled"),
      expired: 0,
    })
    expect(count("succeeded") + count("canceled")).toBe(300)
    expect(count("canceled")).toBeGreaterThan(0)
    await expectJson(409, workspace.as.post(`/messages/batches/${created.id}/cancel`, {}))
  })

  test("has no results before it has ended, and cannot be deleted", async () => {
    const workspace = await newWorkspace()
    const file = await upload(workspace.as, toJsonl([{}]))
    const { id } = await insertBatch(workspace, { keyHash: "k", inputFileId: file })
    await env.DB.prepare("UPDATE batches SET endpoint = '/v1/messages' WHERE id = ?").bind(id).run()
    for (const answer of [
      workspace.as.get(`/messages/batches/${id}/results`),
      workspace.as.delete(`/messages/batches/${id}`),
    ]) {
      expect(await expectJson(409, answer)).toMatchObject({ type: "error", error: { type: "conflict_error" } })
    }
  })

  test("is deleted with its input and results; the records of its calls stay", async () => {
    const workspace = await newWorkspace()
    const created = await createMessageBatch(workspace.as, [messageRequest("a", "Hello"), messageRequest("b", "", {})])
    await endedBatch(workspace.as, created)
    const { data: files } = await expectJson<{ data: { id: string }[] }>(200, workspace.as.get("/files"))
    expect(files.length).toBeGreaterThan(1)
    const path = `/messages/batches/${created.id}`
    expect(await expectJson(200, workspace.as.delete(path))).toEqual({
      id: created.id,
      type: "message_batch_deleted",
    })
    for (const gone of [path, `${path}/results`]) await expectJson(404, workspace.as.get(gone))
    await expectJson(404, workspace.as.delete(path))
    expect(await expectJson(200, workspace.as.get("/files"))).toMatchObject({ data: [] })
    await eventually(async () => expect(await chargesOf(created.id)).not.toEqual([]))
    type Log = { data: { action: string }[] }
    const audit = await expectJson<Log>(200, workspace.manage.get(`/audit?resource_id=${created.id}`))
    expect(audit.data.map(({ action }) => action)).toEqual(["batch.delete", "batch.create"])
  })

  test("that failed as a whole has the reason as the result of each request", async () => {
    const workspace = await newWorkspace()
    const requests = ["a", "b"].map((id) => Object(messageRequest(id, "Hello")))
    const lines = requests.map(({ custom_id, params }) => ({
      custom_id,
      method: "PUT",
      url: "/v1/messages",
      body: params,
    }))
    const input = { input_file_id: await upload(workspace.as, toJsonl(lines)), completion_window: "24h" }
    const created = await expectJson<Batch>(200, workspace.as.post("/batches", { ...input, endpoint: "/v1/messages" }))
    await endedBatch(workspace.as, created)
    expect(await readResults(workspace.as, created)).toMatchObject(
      ["a", "b"].map((id) => ({
        custom_id: id,
        result: {
          type: "errored",
          error: { error: { type: "api_error", message: expect.stringContaining("method") } },
        },
      })),
    )
  })
})

test("each request is counted once, whatever its results and the ending of the batch", async () => {
  const workspace = await newWorkspace()
  const file = await upload(workspace.as, toJsonl([{}]))
  const state = fc.record({
    completed: fc.nat(4),
    errored: fc.nat(4),
    cancelled: fc.nat(4),
    expired: fc.nat(4),
    unfinished: fc.nat(4),
    ending: fc.constantFrom("completed" as const, "cancelled" as const, "expired" as const, "failed" as const),
  })
  await fc.assert(
    fc.asyncProperty(state, async ({ completed, errored, cancelled, expired, unfinished, ending }) => {
      const { id } = await insertBatch(workspace, {
        keyHash: "k",
        inputFileId: file,
        status: "finalizing",
      })
      await env.DB.prepare("UPDATE batches SET endpoint = '/v1/messages' WHERE id = ?").bind(id).run()
      const failed = errored + cancelled + expired
      const total = completed + failed + unfinished
      const progress = { ...NO_PROGRESS, total, completed, failed, cancelled, expired }
      await saveProgress(env.DB, id, { progress, now: Date.now() })
      const open = await expectJson<MessageBatch>(200, workspace.as.get(`/messages/batches/${id}`))
      expect(open.request_counts).toEqual({ processing: total, succeeded: 0, errored: 0, canceled: 0, expired: 0 })
      await moveBatch(env.DB, id, { from: ["finalizing"], to: ending, now: Date.now() })
      const { request_counts: counts } = await expectJson<MessageBatch>(
        200,
        workspace.as.get(`/messages/batches/${id}`),
      )
      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(total)
      if (ending === "failed") {
        expect(counts.errored).toBe(total)
        return
      }
      expect(counts.succeeded).toBe(completed)
      expect(counts.canceled).toBe(cancelled + (ending === "cancelled" ? unfinished : 0))
      expect(counts.expired).toBe(expired + (ending === "expired" ? unfinished : 0))
    }),
    { numRuns: runs(1) },
  )
})

test("pages of batches continue in both directions", async () => {
  const workspace = await newWorkspace()
  const file = await upload(workspace.as, toJsonl([{}]))
  const ids: string[] = []
  for (let at = 0; at < 5; at++) {
    const { id } = await insertBatch(workspace, { keyHash: "k", inputFileId: file, status: "completed" })
    ids.unshift(id)
  }
  await env.DB.prepare("UPDATE batches SET endpoint = '/v1/messages' WHERE workspace_id = ?")
    .bind(workspace.workspaceId)
    .run()
  const page = async (query: string) => {
    const read = await expectJson<{ data: MessageBatch[]; has_more: boolean; first_id: string; last_id: string }>(
      200,
      workspace.as.get(`/messages/batches?${query}`),
    )
    expect([read.first_id, read.last_id]).toEqual([read.data[0]?.id ?? null, read.data.at(-1)?.id ?? null])
    return [read.data.map(({ id }) => ids.indexOf(id)), read.has_more]
  }
  expect(await page("limit=2")).toEqual([[0, 1], true])
  expect(await page(`limit=2&after_id=${ids[1]}`)).toEqual([[2, 3], true])
  expect(await page(`limit=2&after_id=${ids[3]}`)).toEqual([[4], false])
  expect(await page(`limit=2&before_id=${ids[4]}`)).toEqual([[2, 3], true])
  expect(await page(`limit=2&before_id=${ids[2]}`)).toEqual([[0, 1], false])
  await expectJson(400, workspace.as.get(`/messages/batches?after_id=${ids[1]}&before_id=${ids[3]}`))
})
