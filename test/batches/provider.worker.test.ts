import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { NO_PROGRESS } from "../../src/batches/batch.ts"
import { wakeBatch } from "../../src/batches/open-batch.ts"
import { onObjectCall, OVERLOADED } from "../faults/bindings.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import { client, expectJson, newKey, newWorkspace, openHolds, type Workspace } from "../support/world.ts"
import { BatchingProvider, completion } from "./batching-provider.ts"
import {
  type Batch,
  chargesOf,
  createBatch,
  createProviderBatch,
  endsAfter,
  waitForStatus,
  type Step,
  readLines,
  request,
  upload,
  toJsonl,
} from "./batches.ts"

afterEach(() => vi.restoreAllMocks())

type Failure = { error: { message: string } }

let models = 0
const newModel = () => `batching/b${models++ % 20}`

const start = ({ as }: Pick<Workspace, "as">, texts: readonly string[], more: object = {}) =>
  createProviderBatch(as, texts, { provider: "batching", model: newModel(), ...more })

const submitted = (provider: BatchingProvider, count = 1) =>
  eventually(() => expect(provider.batches).toHaveLength(count))
/** 100 prompt and 10 completion tokens, at half of 1e-6 and 2e-6. */
const NANO = 60_000

describe("a batch at its provider", () => {
  test("is submitted once, polled, and settled line by line at the batch price", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["red", "green", "blue"])
    expect(created).toMatchObject({ provider: "batching" })
    await submitted(provider)
    expect(provider.batches[0]).toMatchObject({
      endpoint: "/v1/chat/completions",
      metadata: { gateway_batch: created.id, gateway_part: "1" },
    })
    const requests = provider.submitted()
    expect(requests).toMatchObject([
      { custom_id: "1", method: "POST", url: "/v1/chat/completions", body: { max_tokens: 50 } },
      { custom_id: "2" },
      { custom_id: "3" },
    ])
    expect(requests[0]?.body["model"]).toMatch(/^b\d+$/)
    const holds = await workspace.object.holds()
    expect(holds).toHaveLength(3)
    // The provider has a day, and its results have to be read.
    for (const { expiresAt } of holds) expect(expiresAt).toBeGreaterThan(Date.now() + 26 * 3_600_000)
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
    await wakeBatch(env, created.id)
    provider.end("completed", [
      completion("1", "Red."),
      completion("2", "Green.", [200, 20]),
      {
        custom_id: "3",
        response: { status_code: 400, request_id: "r", body: { error: { message: "Too blue" } } },
        error: null,
      },
    ])
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(batch.request_counts).toEqual({ total: 3, completed: 2, failed: 1 })
    expect(batch.usage).toMatchObject({ input_tokens: 300, output_tokens: 30 })
    const output = await readLines(workspace.as, batch.output_file_id)
    expect(output).toMatchObject([
      { custom_id: "red", response: { status_code: 200, body: { choices: [{ message: { content: "Red." } }] } } },
      { custom_id: "green", response: { status_code: 200 } },
    ])
    expect(await readLines(workspace.as, batch.error_file_id)).toMatchObject([
      {
        custom_id: "blue",
        response: { status_code: 400, body: { error: { message: expect.stringContaining("Too blue") } } },
      },
    ])
    expect(await openHolds(workspace)).toEqual([])
    expect((await workspace.ledger.balance()).spentNano).toBe(NANO + 2 * NANO)
    await eventually(async () =>
      expect((await chargesOf(created.id)).toSorted((a, b) => a - b)).toEqual([0, NANO, 2 * NANO]),
    )
    expect(provider.files.size).toBe(0)
    expect(provider.requests.filter((one) => one === "POST /batches")).toHaveLength(1)
    expect([...provider.keys]).toEqual(["Bearer batching-provider-key-0123456789"])
  })

  test("returns Messages responses for Messages requests", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const body = { model: newModel(), max_tokens: 20, messages: [{ role: "user", content: "Hi" }] }
    const line = { custom_id: "a", method: "POST", url: "/v1/messages", body }
    const created = await createBatch(workspace.as, [line], { provider: "batching", endpoint: "/v1/messages" })
    await submitted(provider)
    expect(provider.submitted()).toMatchObject([{ url: "/v1/chat/completions" }])
    provider.end("completed", [completion("1", "Hello.")])
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(await readLines(workspace.as, batch.output_file_id)).toMatchObject([
      { response: { body: { type: "message", content: [{ type: "text", text: "Hello." }], stop_reason: "end_turn" } } },
    ])
  })

  test.each([
    ["redact", "Bad [Zebra]", "c_[Zebra]"],
    ["block", "The provider rejected this request. A guardrail of this key blocks its message.", "provider_failed"],
  ])("has the provider's errors after its guardrails, without the provider's key: %s", async (action, text, code) => {
    const workspace = await newWorkspace()
    const rule = { name: "strict", content_filters: [{ pattern: "ZEBRA-\\d+", action, label: "Zebra" }] }
    const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rule))
    const { key, hash } = await newKey(workspace)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const as = client(key)
    const quoted = "Bad ZEBRA-1"
    for (const isWhole of [false, true]) {
      const provider = new BatchingProvider()
      const created = await start({ as }, ["red"])
      await submitted(provider)
      const error = { code: "c_ZEBRA-2", message: `${quoted} batching-provider-key-0123456789` }
      // An error of one line, or of the whole batch.
      if (isWhole) provider.end("failed", [], { message: error.message })
      else provider.end("completed", [{ custom_id: "1", response: null, error }])
      await wakeBatch(env, created.id)
      const batch = await waitForStatus(as, created, "completed")
      const [line] = await readLines(as, batch.error_file_id)
      const message = action === "redact" ? `${text} [redacted]` : text
      expect(line).toMatchObject({ error: { code: isWhole ? "provider_failed" : code, message } })
      vi.restoreAllMocks()
    }
  })

  test("is redacted before it is submitted, and blocked responses are not in the output", async () => {
    const workspace = await newWorkspace()
    const { data } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", {
        name: "strict",
        content_filter_builtins: [{ slug: "email", action: "redact" }],
        content_filters: [{ pattern: "forbidden", action: "block" }],
      }),
    )
    const { as, hash } = await newKey(workspace)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const provider = new BatchingProvider()
    const created = await start({ as }, ["write to a@example.com", "forbidden word", "hello"])
    await submitted(provider)
    expect(provider.submitted().map(({ custom_id: id }) => id)).toEqual(["1", "3"])
    expect(JSON.stringify(provider.submitted())).not.toContain("a@example.com")
    provider.end("completed", [completion("1", "Done."), completion("3", "This is forbidden.")])
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(as, created, "completed")
    expect(await readLines(as, batch.output_file_id)).toMatchObject([{ custom_id: "write to a@example.com" }])
    const errors = await readLines(as, batch.error_file_id)
    expect(errors.map(({ custom_id: id, response }) => [id, response?.status_code])).toEqual([
      ["forbidden word", 403],
      ["hello", 403],
    ])
    expect(await openHolds(workspace)).toEqual([])
  })

  test("holds each request under the limit of its key and submits only those that fit", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { limit: 0.000_8 })
    const provider = new BatchingProvider()
    const created = await start({ as }, ["one", "two", "three", "four"])
    await submitted(provider)
    const held = provider.submitted().length
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThan(4)
    provider.end(
      "completed",
      provider.submitted().map(({ custom_id: id }) => completion(id, "Done.")),
    )
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(as, created, "completed")
    expect(batch.request_counts).toEqual({ total: 4, completed: held, failed: 4 - held })
    expect((await readLines(as, batch.error_file_id))[0]?.response?.status_code).toBe(402)
    expect((await workspace.ledger.balance()).spentNano).toBe(held * NANO)
  })

  test("is rejected for a provider without batches, and fails requests that batches do not support", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const fields = {
      input_file_id: await upload(workspace.as, toJsonl([request("a", "Hi")])),
      completion_window: "24h",
    }
    const create = (slug: string) =>
      workspace.as.post("/batches", { ...fields, endpoint: "/v1/chat/completions", provider: slug })
    const { error } = await expectJson<Failure>(400, create("played"))
    expect(error.message).toBe("provider: played has no batches here. Providers with batches: batching, claudish.")
    const model = newModel()
    const lines = [
      request("other", "Hi", { model: "sim/echo" }),
      request("tools", "Hi", { model, tools: [{ type: "openrouter:datetime" }] }),
    ]
    const created = await createBatch(workspace.as, lines, { provider: "batching" })
    const batch = await waitForStatus(workspace.as, created, "completed")
    const errors = await readLines(workspace.as, batch.error_file_id)
    expect(errors.map(({ response }) => response?.status_code)).toEqual([400, 400])
    expect(JSON.stringify(errors[0])).toContain("cannot be in a batch of batching")
    expect(provider.requests).toEqual([])
    expect(await openHolds(workspace)).toEqual([])
  })
})

describe("faults", () => {
  const lost = new Error("The connection was lost.")
  const once = (match: string, what: () => Response | Error) => {
    let isDone = false
    return (sent: Request) => {
      if (isDone || `${sent.method} ${new URL(sent.url).pathname}` !== match) return undefined
      isDone = true
      return what()
    }
  }

  test.each([
    ["the response to the creation is lost", (p: BatchingProvider) => (p.after = once("POST /v1/batches", () => lost))],
    ["the creation is lost", (p: BatchingProvider) => (p.before = once("POST /v1/batches", () => lost))],
    ["the upload is lost", (p: BatchingProvider) => (p.before = once("POST /v1/files", () => lost))],
    [
      "the provider is busy",
      (p: BatchingProvider) => (p.before = once("POST /v1/batches", () => Response.json({}, { status: 503 }))),
    ],
  ])("%s: creates one batch and charges each request once", async (_, break_) => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    break_(provider)
    const created = await start(workspace, ["a", "b"])
    await eventually(() => expect(provider.requests.length).toBeGreaterThan(0))
    await eventually(async () => {
      await wakeBatch(env, created.id)
      expect(provider.batches).toHaveLength(1)
      expect(provider.requests.some((one) => one.startsWith("GET /batches/"))).toBe(true)
    })
    provider.end("completed", [completion("1", "A"), completion("2", "B")])
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 })
    expect((await workspace.ledger.balance()).spentNano).toBe(2 * NANO)
    expect(provider.batches).toHaveLength(1)
  })

  test("an object lost during submission finds the batch that it created", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a"])
    await submitted(provider)
    // The state before the response to the creation.
    const object = env.BATCH.get(env.BATCH.idFromName(created.id))
    await eventually(() => expect(provider.requests).toContain(`GET /batches/${provider.batches[0]?.id}`))
    await runInDurableObject(object, (_, { storage }) => {
      storage.sql.exec("UPDATE parts SET state = 'submitting', batch_id = NULL")
    })
    await evictDurableObject(object)
    provider.end("completed", [completion("1", "A")])
    await wakeBatch(env, created.id)
    await waitForStatus(workspace.as, created, "completed")
    expect(provider.batches).toHaveLength(1)
    expect((await workspace.ledger.balance()).spentNano).toBe(NANO)
  })

  test("an object lost while it reads results charges each request once", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a", "b"])
    await submitted(provider)
    provider.end("completed", [
      completion("1", "A"),
      {
        custom_id: "2",
        response: { status_code: 500, request_id: "r", body: { error: { message: "x" } } },
        error: null,
      },
    ])
    const errors = `/files/${provider.batches[0]?.error_file_id}/content`
    provider.before = once(`GET /v1${errors}`, () => lost)
    await wakeBatch(env, created.id)
    await eventually(() => expect(provider.requests).toContain(`GET ${errors}`))
    const object = env.BATCH.get(env.BATCH.idFromName(created.id))
    await eventually(async () => expect((await workspace.ledger.balance()).spentNano).toBe(NANO))
    // The state between the charge and the result.
    await runInDurableObject(object, (_, { storage }) => {
      storage.sql.exec("UPDATE lines SET state = 'running'")
      storage.sql.exec("DELETE FROM results")
      const progress = { ...NO_PROGRESS, total: 2 }
      storage.sql.exec("UPDATE facts SET value = ? WHERE name = 'progress'", JSON.stringify(progress))
    })
    await evictDurableObject(object)
    await eventually(async () => {
      await wakeBatch(env, created.id)
      const { status } = await expectJson<Batch>(200, workspace.as.get(`/batches/${created.id}`))
      expect(status).toBe("completed")
    })
    expect((await workspace.ledger.balance()).spentNano).toBe(NANO)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("a batch that the provider rejects fails each request without a charge", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    provider.before = (sent) =>
      sent.method === "POST" && sent.url.endsWith("/batches")
        ? Response.json({ error: { message: "Enqueued token limit reached." } }, { status: 400 })
        : undefined
    const created = await start(workspace, ["a", "b"])
    const batch = await waitForStatus(workspace.as, created, "completed")
    const errors = await readLines(workspace.as, batch.error_file_id)
    expect(errors.map(({ error }) => error?.code)).toEqual(["provider_failed", "provider_failed"])
    expect(errors[0]?.error?.message).toContain("Enqueued token limit reached.")
    expect(await openHolds(workspace)).toEqual([])
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
  })

  test("a batch that fails at the provider fails each request with the provider's message", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a"])
    await submitted(provider)
    provider.end("failed", [], { message: "The model is not enabled for batches." })
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(await readLines(workspace.as, batch.error_file_id)).toMatchObject([
      { error: { code: "provider_failed", message: "The model is not enabled for batches." } },
    ])
    expect(await openHolds(workspace)).toEqual([])
  })

  test.each([
    ["expired", "batch_expired"],
    ["cancelled", "batch_expired"],
  ])("a batch that is %s at the provider keeps its results and charges nothing for the rest", async (status, code) => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a", "b", "c"])
    await submitted(provider)
    const late = { custom_id: "2", response: null, error: { code: "batch_expired", message: "Too late." } }
    provider.end(status, [completion("1", "A"), late])
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "expired")
    expect(await readLines(workspace.as, batch.output_file_id)).toMatchObject([{ custom_id: "a" }])
    const errors = await readLines(workspace.as, batch.error_file_id)
    expect(errors.map(({ custom_id: id, error }) => [id, error?.code])).toEqual([
      ["b", "batch_expired"],
      ["c", code],
    ])
    expect((await workspace.ledger.balance()).spentNano).toBe(NANO)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("a cancelled batch is cancelled at the provider, and finished requests are in the output", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a", "b"])
    await submitted(provider)
    await expectJson(200, workspace.as.post(`/batches/${created.id}/cancel`, undefined))
    await eventually(() => expect(provider.batches[0]?.status).toBe("cancelling"))
    provider.end("cancelled", [completion("1", "A")])
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "cancelled")
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 0 })
    expect(await readLines(workspace.as, batch.error_file_id)).toMatchObject([
      { custom_id: "b", error: { code: "batch_cancelled" } },
    ])
    expect((await workspace.ledger.balance()).spentNano).toBe(NANO)
    expect(await openHolds(workspace)).toEqual([])
  })

  test.each([
    ["ends within a result", (content: string) => new Response(content.slice(0, -30))],
    ["ends between results", (content: string) => new Response(content.slice(0, content.indexOf("\n") + 1))],
    ["is empty", () => new Response("")],
    [
      "is lost",
      (content: string) =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode(content.slice(0, -30)))
              controller.error(new Error("lost"))
            },
          }),
        ),
    ],
  ])("a download of results that %s is repeated, and no result is lost", async (_, cut) => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a", "b", "c"])
    await submitted(provider)
    provider.end("completed", [completion("1", "A"), completion("2", "B"), completion("3", "C")])
    const id = provider.batches[0]?.output_file_id ?? ""
    const content = provider.files.get(id) ?? ""
    provider.before = once(`GET /v1/files/${id}/content`, () => cut(content))
    const batch = await endsAfter(workspace.as, created, ["wake"])
    expect(batch.request_counts).toEqual({ total: 3, completed: 3, failed: 0 })
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 3 * NANO, heldNano: 0 })
  })

  test("results wait for a ledger that is unavailable for many attempts", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a", "b"])
    await submitted(provider)
    let isDown = true
    onObjectCall([env.LEDGER], ({ call }) => (isDown ? Promise.reject(new Error(OVERLOADED)) : call()))
    provider.end("completed", [completion("1", "A"), completion("2", "B")])
    const output = `GET /files/${provider.batches[0]?.output_file_id}/content`
    await eventually(async () => {
      await wakeBatch(env, created.id)
      expect(provider.requests.filter((one) => one === output).length).toBeGreaterThan(8)
    })
    isDown = false
    const batch = await endsAfter(workspace.as, created, ["wake"])
    expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 })
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 2 * NANO, heldNano: 0 })
  })

  test("results that are unknown, repeated or not JSON are skipped", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a", "b"])
    await submitted(provider)
    provider.end("completed", [completion("1", "A"), completion("1", "Again"), completion("9", "Nobody")])
    const output = provider.batches[0]?.output_file_id ?? ""
    provider.files.set(output, `not json\n{"custom_id":"2"}\n${provider.files.get(output)}`)
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 })
    expect((await workspace.ledger.balance()).spentNano).toBe(NANO)
    expect(await openHolds(workspace)).toEqual([])
  })
})

test("each request is charged for its response, for any outcome and any loss of the object", async () => {
  const usage = fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 60 }))
  const outcome = fc.oneof(
    usage.map((tokens) => ({ kind: "answered" as const, tokens })),
    fc.record({ kind: fc.constantFrom("refused" as const, "late" as const, "missing" as const) }),
  )
  const step = fc.constantFrom<Step>("wake", "lose")
  const status = fc.constantFrom("completed", "expired", "cancelled", "failed")
  await fc.assert(
    fc.asyncProperty(
      fc.array(outcome, { minLength: 1, maxLength: 6 }),
      fc.array(step, { maxLength: 4 }),
      status,
      async (outcomes, steps, ending) => {
        vi.restoreAllMocks()
        const workspace = await newWorkspace()
        const provider = new BatchingProvider()
        const created = await start(
          workspace,
          outcomes.map((_, at) => `r${at}`),
        )
        await submitted(provider)
        const results = outcomes.flatMap((one, at) => {
          const id = String(at + 1)
          if (one.kind === "answered") return [completion(id, "Done.", one.tokens)]
          if (one.kind === "missing") return []
          const body = { error: { message: "Refused" } }
          const response = one.kind === "refused" ? { status_code: 400, request_id: "r", body } : null
          return [{ custom_id: id, response, error: response ? null : { code: "batch_expired", message: "Late" } }]
        })
        provider.end(ending, results)
        const batch = await endsAfter(workspace.as, created, steps)
        const nano = outcomes.reduce(
          (all, one) => all + (one.kind === "answered" ? one.tokens[0] * 500 + one.tokens[1] * 1_000 : 0),
          0,
        )
        const answered = outcomes.filter(({ kind }) => kind === "answered").length
        expect(batch.request_counts).toMatchObject({ total: outcomes.length, completed: answered })
        expect(await workspace.ledger.balance()).toMatchObject({ spentNano: nano, heldNano: 0 })
        expect(provider.batches).toHaveLength(1)
      },
    ),
    { numRuns: runs(0.15) },
  )
})
