import { env } from "cloudflare:workers"
import { afterEach, expect, test, vi } from "vitest"
import { wakeBatch, wakeStalledBatches } from "../../src/batches/open-batch.ts"
import { hashKey } from "../../src/access/key.ts"
import { eventually } from "../support/eventually.ts"
import { mockProvider } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace } from "../support/world.ts"
import {
  type Batch,
  chargesOf,
  createBatch,
  insertBatch,
  waitForStatus,
  readLines,
  request,
  toJsonl,
  upload,
} from "./batches.ts"

afterEach(() => vi.restoreAllMocks())

const HOUR_MS = 3_600_000
const COMPLETION = {
  id: "up-1",
  object: "chat.completion",
  created: 1,
  model: "m0",
  choices: [{ index: 0, message: { role: "assistant", content: "Done" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
}
const playedRequest = (id: string, model: number) => request(id, id, { model: `played/m${model}` })

test("a cancelled batch starts no further request and outputs those in flight", async () => {
  const workspace = await newWorkspace()
  const gate = Promise.withResolvers<void>()
  const { upstreamCalls } = mockProvider(async () => {
    await gate.promise
    return Response.json(COMPLETION)
  })
  const lines = Array.from({ length: 20 }, (_, at) => playedRequest(`r${at}`, 60))
  const created = await createBatch(workspace.as, lines)
  await eventually(() => expect(upstreamCalls).toHaveLength(4))
  const cancelling = await expectJson<Batch>(200, workspace.as.post(`/batches/${created.id}/cancel`, undefined))
  expect(cancelling.status).toBe("cancelling")
  gate.resolve()
  const batch = await waitForStatus(workspace.as, created, "cancelled")
  expect(upstreamCalls).toHaveLength(4)
  expect(batch.request_counts).toEqual({ total: 20, completed: 4, failed: 0 })
  expect(await readLines(workspace.as, batch.output_file_id)).toHaveLength(4)
  const errors = await readLines(workspace.as, batch.error_file_id)
  expect(errors).toHaveLength(16)
  expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(["batch_cancelled"]))
})

test("a request that fails with a retryable status is retried", async () => {
  const workspace = await newWorkspace()
  let calls = 0
  mockProvider(() => {
    calls++
    return calls === 1 ? Response.json({ error: { message: "Busy" } }, { status: 503 }) : Response.json(COMPLETION)
  })
  const batch = await waitForStatus(
    workspace.as,
    await createBatch(workspace.as, [playedRequest("a", 61)]),
    "completed",
  )
  expect(calls).toBe(2)
  expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 })
})

test("a batch stays within the rate limits of its key, and each request succeeds in the end", async () => {
  const workspace = await newWorkspace()
  const { as } = await newKey(workspace, { concurrent_requests: 1 })
  const lines = Array.from({ length: 6 }, (_, at) => request(`r${at}`, "Hello"))
  const batch = await waitForStatus(as, await createBatch(as, lines), "completed")
  expect(batch.request_counts).toEqual({ total: 6, completed: 6, failed: 0 })
})

test("a batch whose window has ended runs nothing more", async () => {
  const workspace = await newWorkspace()
  const inputFileId = await upload(workspace.as, toJsonl([request("a", "Hello")]))
  const createdAt = Date.now() - 25 * HOUR_MS
  const row = await insertBatch(workspace, { keyHash: hashKey(workspace.key), inputFileId, createdAt })
  await wakeBatch(env, row.id)
  const batch = await waitForStatus(workspace.as, row, "expired")
  expect(await readLines(workspace.as, batch.error_file_id)).toMatchObject([
    { custom_id: "a", response: null, error: { code: "batch_expired" } },
  ])
})

test("a batch that was never started is started by the scheduler", async () => {
  const workspace = await newWorkspace()
  const inputFileId = await upload(workspace.as, toJsonl([request("a", "Hello")]))
  const createdAt = Date.now() - 2 * HOUR_MS
  const row = await insertBatch(workspace, { keyHash: hashKey(workspace.key), inputFileId, createdAt })
  await wakeStalledBatches(env, Date.now())
  await waitForStatus(workspace.as, row, "completed")
})

test("a batch whose input file is deleted before it starts fails", async () => {
  const workspace = await newWorkspace()
  const inputFileId = await upload(workspace.as, toJsonl([request("a", "Hello")]))
  await expectJson(200, workspace.as.delete(`/files/${inputFileId}`))
  const row = await insertBatch(workspace, { keyHash: hashKey(workspace.key), inputFileId })
  await wakeBatch(env, row.id)
  const batch = await waitForStatus(workspace.as, row, "failed")
  expect(batch.errors?.data).toMatchObject([{ code: "input_file_unavailable" }])
})

test("waking a batch that has ended changes nothing", async () => {
  const workspace = await newWorkspace()
  const batch = await waitForStatus(workspace.as, await createBatch(workspace.as, [request("a", "Hello")]), "completed")
  await wakeBatch(env, batch.id)
  expect(await expectJson(200, workspace.as.get(`/batches/${batch.id}`))).toEqual(batch)
  expect(await readLines(workspace.as, batch.output_file_id)).toHaveLength(1)
})

test.each(["in_progress", "finalizing", "cancelling"])(
  "a batch that is %s again in a restored database fails, and its requests are not charged again",
  async (status) => {
    const workspace = await newWorkspace()
    const batch = await waitForStatus(workspace.as, await createBatch(workspace.as, [request("a", "Hi")]), "completed")
    const charged = await eventually(async () => {
      const costs = await chargesOf(batch.id)
      expect(costs).toHaveLength(1)
      return costs
    })
    await env.DB.prepare("UPDATE batches SET status = ?, output_file_id = NULL WHERE id = ?")
      .bind(status, batch.id)
      .run()
    await wakeBatch(env, batch.id)
    const failed = await waitForStatus(workspace.as, batch, "failed")
    expect(failed.errors?.data).toMatchObject([{ code: "results_lost", message: expect.stringContaining(batch.id) }])
    expect(await chargesOf(batch.id)).toEqual(charged)
  },
)

test("a batch that was cancelled before its input was read has a result for each request", async () => {
  const workspace = await newWorkspace()
  const { hash } = await newKey(workspace)
  const file = await upload(workspace.as, toJsonl([request("a", "Hi"), request("b", "Hi")]))
  const { id } = await insertBatch(workspace, { keyHash: hash, inputFileId: file, status: "cancelling" })
  await env.DB.prepare("UPDATE batches SET progress = ? WHERE id = ?")
    .bind(JSON.stringify({ total: 2 }), id)
    .run()
  await wakeBatch(env, id)
  const batch = await waitForStatus(workspace.as, { id }, "cancelled")
  const errors = await readLines(workspace.as, batch.error_file_id)
  expect(errors.map(({ error }) => error?.code)).toEqual(["batch_cancelled", "batch_cancelled"])
})

test("a response of several megabytes is written completely", async () => {
  const workspace = await newWorkspace()
  const content = "é".repeat(2_500_000)
  const [choice] = COMPLETION.choices
  mockProvider(() =>
    Response.json({ ...COMPLETION, choices: [{ ...choice, message: { role: "assistant", content } }] }),
  )
  const batch = await waitForStatus(
    workspace.as,
    await createBatch(workspace.as, [playedRequest("a", 62)]),
    "completed",
  )
  const [line] = await readLines(workspace.as, batch.output_file_id)
  expect(JSON.stringify(line?.response?.body)).toContain(content)
})

test("a workspace with 50 unfinished batches gets 429 for another one", async () => {
  const workspace = await newWorkspace()
  const inputFileId = await upload(workspace.as, toJsonl([request("a", "Hello")]))
  for (let at = 0; at < 50; at++) await insertBatch(workspace, { keyHash: hashKey(workspace.key), inputFileId })
  const input = { input_file_id: inputFileId, endpoint: "/v1/chat/completions", completion_window: "24h" }
  const response = await workspace.as.post("/batches", input)
  const { error } = await expectJson<{ error: { message: string } }>(429, response)
  expect(error.message).toContain("50")
  const header = (name: string) => response.headers.get(name)
  expect([header("x-ratelimit-limit"), header("x-ratelimit-remaining"), header("retry-after")]).toEqual([
    "50",
    "0",
    "60",
  ])
  expect(Number(header("x-ratelimit-reset"))).toBeGreaterThan(Date.now())
})
