import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { wakeBatch } from "../../src/batches/open-batch.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newKey, newWorkspace, openHolds, operatorClient, type Workspace } from "../support/world.ts"
import { message, MessageBatchProvider } from "./message-batch-provider.ts"
import { BatchingProvider, completion } from "./batching-provider.ts"
import {
  type Batch,
  createBatch,
  createProviderBatch,
  endsAfter,
  waitForStatus,
  readLines,
  request,
} from "./batches.ts"

afterEach(() => vi.restoreAllMocks())

/** Of no known key format: only an exact match can redact it. */
const FIRST = "ownCanary0123456789abcdefXYZ"
const SECOND = "ownSecond0123456789abcdefXYZ"
const BEARER_FIRST = `Bearer ${FIRST}`
const GATEWAY = "Bearer batching-provider-key-0123456789"
/** 100 prompt and 10 completion tokens, at half of 1e-6 and 2e-6. */
const NANO = 60_000

let models = 0
const newModel = () => `batching/b${models++ % 20}`

async function addCredential(
  { manage }: Pick<Workspace, "manage">,
  more: Record<string, unknown> = {},
): Promise<string> {
  const input = { provider: "batching", key: FIRST, ...more }
  return (await expectJson<{ data: { id: string } }>(201, manage.post("/byok", input))).data.id
}

const start = ({ as }: Pick<Workspace, "as">, texts: readonly string[], more: object = {}) =>
  createProviderBatch(as, texts, { provider: "batching", model: newModel(), ...more })
const submitted = (provider: BatchingProvider, count = 1) =>
  eventually(() => expect(provider.batches).toHaveLength(count))
const accountsOf = (provider: BatchingProvider) => provider.batches.map(({ id }) => provider.accounts.get(id))
/** Evicts the object of a batch after these statements, and starts it again. */
async function restartObject({ id }: Pick<Batch, "id">, ...statements: string[]): Promise<void> {
  const object = env.BATCH.get(env.BATCH.idFromName(id))
  await runInDurableObject(object, (_, { storage }) => {
    for (const statement of statements) storage.sql.exec(statement)
  })
  await evictDurableObject(object)
}
/** Requests for its first batch: batches of other tests may still run. */
const requestsFor = ({ requests, batches: [first] }: BatchingProvider) =>
  requests.filter((one) => first && one.includes(first.id)).length
const isSentTo = (path: string, { method, url }: Request) => `${method} ${new URL(url).pathname}` === path

/** Completes every request of every batch. */
function answerAll(provider: BatchingProvider): void {
  for (const at of provider.batches.keys()) {
    if (provider.batches[at]?.status === "completed") continue
    provider.end(
      "completed",
      provider.submitted(at).map(({ custom_id: id }) => completion(id, "Done.")),
      { at },
    )
  }
}

async function byokUsage({ as }: Pick<Workspace, "as">): Promise<number> {
  return (await expectJson<{ data: { byok_usage: number } }>(200, as.get("/key"))).data.byok_usage
}

describe("a batch with a BYOK credential", () => {
  test("is submitted with that credential, does not charge the balance, and reports is_byok", async () => {
    const workspace = await newWorkspace(0)
    await addCredential(workspace)
    const provider = new BatchingProvider()
    const created = await start(workspace, ["red", "green"])
    await submitted(provider)
    answerAll(provider)
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(accountsOf(provider)).toEqual([BEARER_FIRST])
    const output = await readLines(workspace.as, batch.output_file_id)
    expect(output.map(({ response }) => response?.body["usage"])).toMatchObject([
      { cost: 0, is_byok: true, cost_details: { upstream_inference_cost: NANO / 1e9 } },
      { cost: 0, is_byok: true },
    ])
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, byokNano: 2 * NANO, heldNano: 0 })
    expect(await byokUsage(workspace)).toBe((2 * NANO) / 1e9)
    const records = await eventually(async () => {
      const { results } = await env.DB.prepare("SELECT record FROM generations WHERE record ->> 'sessionId' = ?")
        .bind(created.id)
        .all<{ record: string }>()
      expect(results).toHaveLength(2)
      return results.map(({ record }) => JSON.parse(record) as Record<string, unknown>)
    })
    for (const record of records) expect(record).toMatchObject({ isByok: true, costNano: 0, byokCostNano: NANO })
    expect(await openHolds(workspace)).toEqual([])
    expect(provider.files.size).toBe(0)
  })

  test("is split by credential: models that a credential covers, and the gateway's key for the rest", async () => {
    const workspace = await newWorkspace()
    const [own, other] = [newModel(), newModel()]
    await addCredential(workspace, { allowed_models: [own] })
    const provider = new BatchingProvider()
    const lines = [own, other, own].map((model, at) => request(`r${at}`, "Hi", { model, max_tokens: 50 }))
    const created = await createBatch(workspace.as, lines, { provider: "batching" })
    await submitted(provider, 2)
    const byAccount = new Map(provider.batches.map(({ id }, at) => [provider.accounts.get(id), provider.submitted(at)]))
    expect(byAccount.get(BEARER_FIRST)?.map(({ custom_id: id }) => id)).toEqual(["1", "3"])
    expect(byAccount.get(GATEWAY)?.map(({ custom_id: id }) => id)).toEqual(["2"])
    answerAll(provider)
    await wakeBatch(env, created.id)
    await waitForStatus(workspace.as, created, "completed")
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: NANO, byokNano: 2 * NANO, heldNano: 0 })
  })

  test("applies only to the API keys that the credential names", async () => {
    const workspace = await newWorkspace()
    const [named, other] = [await newKey(workspace), await newKey(workspace)]
    await addCredential(workspace, { allowed_api_key_hashes: [named.hash] })
    const provider = new BatchingProvider()
    await start(other, ["a"])
    await submitted(provider)
    await start(named, ["a"])
    await submitted(provider, 2)
    expect(accountsOf(provider)).toEqual([GATEWAY, BEARER_FIRST])
  })

  test("counts against a limit that includes BYOK", async () => {
    const workspace = await newWorkspace()
    await addCredential(workspace, { is_byok_only: true })
    const counted = await newKey(workspace, { limit: 0, include_byok_in_limit: true })
    const provider = new BatchingProvider()
    const created = await start(counted, ["a"])
    const batch = await waitForStatus(counted.as, created, "completed")
    expect(await readLines(counted.as, batch.error_file_id)).toMatchObject([{ response: { status_code: 402 } }])
    expect(provider.batches).toEqual([])
  })

  test("uses a fallback credential only if the balance does not cover the gateway's key", async () => {
    const [rich, poor] = [await newWorkspace(), await newWorkspace(0)]
    for (const workspace of [rich, poor]) await addCredential(workspace, { is_fallback: true })
    const provider = new BatchingProvider()
    await start(rich, ["a"])
    await submitted(provider)
    await start(poor, ["a"])
    await submitted(provider, 2)
    expect(accountsOf(provider)).toEqual([GATEWAY, BEARER_FIRST])
    expect(await poor.ledger.balance()).toMatchObject({ heldNano: 0 })
  })

  test("can use a provider for which the gateway has no key", async () => {
    const [workspace, without] = [await newWorkspace(), await newWorkspace()]
    const pricing = { prompt: "0.000001", completion: "0.000002" }
    const model = "byok-test/batch"
    const endpoints = [{ provider: "openai", upstream_id: "m", pricing }]
    await expectJson(200, operatorClient.put("/catalogue", { models: [{ id: model, name: model, endpoints }] }))
    await addCredential(workspace, { provider: "openai" })
    const provider = new BatchingProvider("api.openai.com")
    const lines = [request("a", "Hi", { model, max_tokens: 50 })]
    // The catalogue cached in Durable Objects may be some seconds old.
    const created = await eventually(async () => {
      const batch = await createBatch(workspace.as, lines, { provider: "openai" })
      const failed = await eventually(async () => {
        const current = await expectJson<Batch>(200, workspace.as.get(`/batches/${batch.id}`))
        const { request_counts: counts } = current
        expect(provider.batches.length + counts.failed).toBe(1)
        return counts.failed === 0 ? undefined : (await waitForStatus(workspace.as, batch, "completed")).error_file_id
      })
      // Shows the error if the batch fails to the end.
      expect(failed && (await readLines(workspace.as, failed))).toBeUndefined()
      return batch
    })
    answerAll(provider)
    await wakeBatch(env, created.id)
    await waitForStatus(workspace.as, created, "completed")
    expect(accountsOf(provider)).toEqual([BEARER_FIRST])
    await expect(createBatch(without.as, lines, { provider: "openai" })).rejects.toThrow(/openai has no batches here/)
  })

  test("is submitted with an Anthropic key, and adopts no foreign batch of that key", async () => {
    const workspace = await newWorkspace(0)
    await addCredential(workspace, { provider: "claudish" })
    const provider = new MessageBatchProvider()
    provider.after = (sent) => {
      if (!isSentTo("POST /v1/messages/batches", sent)) return undefined
      provider.after = () => undefined
      provider.add([{ custom_id: "of-another-program", params: {} }])
      return new Error("The connection was lost.")
    }
    const created = await createProviderBatch(workspace.as, ["a"], { provider: "claudish", model: "acme/opus-1" })
    await eventually(() => expect(provider.batches).toHaveLength(2))
    provider.end([message("Hello.")], 0)
    provider.end([message("Not for you.")], 1)
    await eventually(async () => {
      await wakeBatch(env, created.id)
      const { status } = await expectJson<Batch>(200, workspace.as.get(`/batches/${created.id}`))
      expect(status).toBe("completed")
    })
    expect([...provider.headers].map((header) => header.split(" ")[0])).toEqual([FIRST])
    expect(provider.requests.filter((one) => one === "POST /messages/batches")).toHaveLength(1)
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, byokNano: NANO, heldNano: 0 })
  })
})

describe("a credential that the provider rejects", () => {
  const reject = (provider: BatchingProvider, path: string) => {
    provider.before = (sent) =>
      isSentTo(path, sent) && sent.headers.get("authorization") === BEARER_FIRST
        ? Response.json({ error: { message: `Incorrect API key provided: ${FIRST}` } }, { status: 401 })
        : undefined
  }

  test.each(["POST /v1/files", "POST /v1/batches"])("is replaced by the gateway's key at %s", async (path) => {
    const workspace = await newWorkspace()
    await addCredential(workspace)
    const provider = new BatchingProvider()
    reject(provider, path)
    const created = await start(workspace, ["a", "b"])
    await submitted(provider)
    expect(accountsOf(provider)).toEqual([GATEWAY])
    expect((await workspace.object.holds()).length).toBe(2)
    answerAll(provider)
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 })
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 2 * NANO, byokNano: 0, heldNano: 0 })
    expect(JSON.stringify(await readLines(workspace.as, batch.output_file_id))).not.toContain(FIRST)
  })

  test("is replaced by the next credential of the workspace", async () => {
    const workspace = await newWorkspace(0)
    await addCredential(workspace)
    await addCredential(workspace, { key: SECOND })
    const provider = new BatchingProvider()
    reject(provider, "POST /v1/files")
    await start(workspace, ["a"])
    await submitted(provider)
    expect(accountsOf(provider)).toEqual([`Bearer ${SECOND}`])
  })

  test.each([{ is_required: true }, { is_byok_only: true }])("fails each request with %j", async (rule) => {
    const workspace = await newWorkspace()
    await addCredential(workspace, rule)
    const provider = new BatchingProvider()
    reject(provider, "POST /v1/files")
    const created = await start(workspace, ["a", "b"])
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(batch.request_counts).toEqual({ total: 2, completed: 0, failed: 2 })
    const errors = await readLines(workspace.as, batch.error_file_id)
    expect(errors[0]?.response).toMatchObject({
      status_code: 502,
      body: { error: { message: expect.stringContaining("rejected the workspace's credential with status 401") } },
    })
    expect(JSON.stringify(errors)).not.toContain(FIRST)
    expect(provider.accounts.size).toBe(0)
    expect(await openHolds(workspace)).toEqual([])
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, byokNano: 0 })
  })

  test("makes the batch wait if the response to its creation was lost, without a second batch", async () => {
    const workspace = await newWorkspace()
    await addCredential(workspace)
    const provider = new BatchingProvider()
    provider.after = (sent) => {
      if (!isSentTo("POST /v1/batches", sent)) return undefined
      provider.after = () => undefined
      provider.before = () => Response.json({ error: { message: `No: ${FIRST}` } }, { status: 401 })
      return new Error("The connection was lost.")
    }
    const created = await start(workspace, ["a"])
    await submitted(provider)
    const waiting = await eventually(async () => {
      await wakeBatch(env, created.id)
      const { errors } = await expectJson<Batch>(200, workspace.as.get(`/batches/${created.id}`))
      expect(errors?.data).toMatchObject([{ code: "byok_unavailable" }])
      return errors
    })
    expect(JSON.stringify(waiting)).not.toContain(FIRST)
    expect(provider.batches).toHaveLength(1)
    provider.before = () => undefined
    answerAll(provider)
    await eventually(async () => {
      await wakeBatch(env, created.id)
      const batch = await expectJson<Batch>(200, workspace.as.get(`/batches/${created.id}`))
      expect(batch).toMatchObject({ status: "completed", errors: null })
    })
    expect(accountsOf(provider)).toEqual([BEARER_FIRST])
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, byokNano: NANO, heldNano: 0 })
  })
})

describe("a credential that changes while the batch runs", () => {
  async function running(more: Record<string, unknown> = {}) {
    const workspace = await newWorkspace()
    const id = await addCredential(workspace, more)
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a", "b"])
    await submitted(provider)
    await eventually(() => expect(provider.requests).toContain(`GET /batches/${provider.batches[0]?.id}`))
    return { workspace, id, provider, created }
  }

  test("pauses the batch while it is disabled, is named in its errors, and resumes it when enabled", async () => {
    const { workspace, id, provider, created } = await running()
    await expectJson(200, workspace.manage.patch(`/byok/${id}`, { disabled: true }))
    await eventually(async () => {
      await wakeBatch(env, created.id)
      const batch = await expectJson<Batch>(200, workspace.as.get(`/batches/${created.id}`))
      expect(batch.status).toBe("in_progress")
      expect(batch.errors?.data[0]?.message).toContain("is disabled")
    })
    // A check that began with the credential must end first.
    answerAll(provider)
    const before = requestsFor(provider)
    await wakeBatch(env, created.id)
    expect(requestsFor(provider)).toBe(before)
    await expectJson(200, workspace.manage.patch(`/byok/${id}`, { disabled: false }))
    await wakeBatch(env, created.id)
    await waitForStatus(workspace.as, created, "completed")
    expect(requestsFor(provider)).toBeGreaterThan(before)
    expect(provider.batches).toHaveLength(1)
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, byokNano: 2 * NANO, heldNano: 0 })
  })

  test("fails each request when it is deleted, without charging the balance", async () => {
    const { workspace, id, provider, created } = await running()
    await expectJson(200, workspace.manage.delete(`/byok/${id}`))
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "completed")
    // A check that began with the credential must end first.
    answerAll(provider)
    const requestsBefore = requestsFor(provider)
    const errors = await readLines(workspace.as, batch.error_file_id)
    expect(errors.map(({ error }) => error?.code)).toEqual(["byok_unavailable", "byok_unavailable"])
    expect(errors[0]?.error?.message).toBe("The workspace's credential for batching was deleted.")
    await wakeBatch(env, created.id)
    expect(requestsFor(provider)).toBe(requestsBefore)
    expect(provider.requests).not.toContain(`GET /files/${provider.batches[0]?.output_file_id}/content`)
    expect(provider.batches).toHaveLength(1)
    // When the holds expire, the provider's possible cost becomes a BYOK estimate.
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, byokNano: 0 })
    expect(await openHolds(workspace)).toHaveLength(2)
  })

  test("ends a cancelled batch at once when it is disabled", async () => {
    const { workspace, id, provider, created } = await running()
    await expectJson(200, workspace.manage.patch(`/byok/${id}`, { disabled: true }))
    await expectJson(200, workspace.as.post(`/batches/${created.id}/cancel`, undefined))
    const batch = await waitForStatus(workspace.as, created, "cancelled")
    const errors = await readLines(workspace.as, batch.error_file_id)
    expect(errors[0]?.error).toMatchObject({ code: "byok_unavailable", message: expect.stringContaining("disabled") })
    expect(provider.batches[0]?.status).toBe("validating")
  })

  test("is used with its new key, and for results of models that it no longer covers", async () => {
    const { workspace, id, provider, created } = await running()
    await expectJson(
      200,
      workspace.manage.patch(`/byok/${id}`, { key: SECOND, allowed_models: ["acme/other"], allow_unknown: true }),
    )
    for (const one of provider.accounts.keys()) provider.accounts.set(one, `Bearer ${SECOND}`)
    answerAll(provider)
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "completed")
    expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 })
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, byokNano: 2 * NANO, heldNano: 0 })
  })

  test("is replaced by the gateway's key if it is disabled before the batch is created", async () => {
    const workspace = await newWorkspace()
    const id = await addCredential(workspace)
    const provider = new BatchingProvider()
    provider.before = (sent) => (isSentTo("POST /v1/files", sent) ? Response.json({}, { status: 503 }) : undefined)
    const created = await start(workspace, ["a"])
    await eventually(() => expect(provider.requests).toContain("POST /files"))
    await expectJson(200, workspace.manage.patch(`/byok/${id}`, { disabled: true }))
    provider.before = () => undefined
    await eventually(async () => {
      await wakeBatch(env, created.id)
      expect(provider.batches).toHaveLength(1)
    })
    expect(accountsOf(provider)).toEqual([GATEWAY])
    answerAll(provider)
    await wakeBatch(env, created.id)
    await waitForStatus(workspace.as, created, "completed")
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: NANO, byokNano: 0, heldNano: 0 })
  })

  test("that is added later does not affect a batch of the gateway's key", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await start(workspace, ["a"])
    await submitted(provider)
    await addCredential(workspace, { is_byok_only: true })
    answerAll(provider)
    await wakeBatch(env, created.id)
    await waitForStatus(workspace.as, created, "completed")
    expect(accountsOf(provider)).toEqual([GATEWAY])
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: NANO, byokNano: 0, heldNano: 0 })
  })
})

test("an object lost during submission finds the batch in the credential's account", async () => {
  const workspace = await newWorkspace()
  await addCredential(workspace)
  const provider = new BatchingProvider()
  const created = await start(workspace, ["a"])
  await submitted(provider)
  await eventually(() => expect(provider.requests).toContain(`GET /batches/${provider.batches[0]?.id}`))
  await restartObject(created, "UPDATE parts SET state = 'submitting', batch_id = NULL")
  answerAll(provider)
  await wakeBatch(env, created.id)
  await waitForStatus(workspace.as, created, "completed")
  expect(accountsOf(provider)).toEqual([BEARER_FIRST])
  expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, byokNano: NANO, heldNano: 0 })
})

test("an object started by an earlier release continues with the gateway's key", async () => {
  const workspace = await newWorkspace()
  const provider = new BatchingProvider()
  const created = await start(workspace, ["a"])
  await submitted(provider)
  await eventually(() => expect(provider.requests).toContain(`GET /batches/${provider.batches[0]?.id}`))
  await restartObject(
    created,
    "ALTER TABLE requests DROP COLUMN credential",
    "ALTER TABLE parts DROP COLUMN credential",
    "ALTER TABLE parts DROP COLUMN note",
  )
  answerAll(provider)
  await wakeBatch(env, created.id)
  await waitForStatus(workspace.as, created, "completed")
  expect(await workspace.ledger.balance()).toMatchObject({ spentNano: NANO, heldNano: 0 })
})

test("each request is charged to the key that ran it, for any credentials and any changes to them", async () => {
  const step = fc.constantFrom("wake" as const, "lose" as const, "disable" as const, "enable" as const)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 400 })), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.array(step, { maxLength: 5 }),
      fc.boolean(),
      fc.boolean(),
      async (requests, steps, isRejected, losesResponse) => {
        vi.restoreAllMocks()
        const workspace = await newWorkspace()
        const provider = new BatchingProvider()
        const named = [newModel(), newModel(), newModel()] as const
        // The first model has a credential, the second another one, which may be rejected, the third has none.
        const id = await addCredential(workspace, { allowed_models: [named[0]] })
        await addCredential(workspace, { key: SECOND, allowed_models: [named[1]] })
        provider.before = (sent) =>
          isRejected && sent.headers.get("authorization") === `Bearer ${SECOND}`
            ? Response.json({ error: { message: "No" } }, { status: 401 })
            : undefined
        provider.after = (sent) => {
          if (!losesResponse || !isSentTo("POST /v1/batches", sent)) return undefined
          provider.after = () => undefined
          return new Error("The connection was lost.")
        }
        const lines = requests.map(([model], at) => request(`r${at}`, "Hi", { model: named[model], max_tokens: 50 }))
        const created = await createBatch(workspace.as, lines, { provider: "batching" })
        const isShared = ([model]: readonly [number, number]) => model === 2 || (isRejected && model === 1)
        const accounts = new Set(requests.map((one) => (isShared(one) ? 2 : one[0])))
        await eventually(async () => {
          if (provider.batches.length < accounts.size) await wakeBatch(env, created.id)
          const sent = provider.batches.flatMap((_, at) => provider.submitted(at))
          expect(sent).toHaveLength(requests.length)
        })
        const made = provider.batches.length
        for (const at of provider.batches.keys()) {
          const results = provider
            .submitted(at)
            .map(({ custom_id: line }) => completion(line, "Done.", [requests[Number(line) - 1]?.[1] ?? 0, 10]))
          provider.end("completed", results, { at })
        }
        for (const one of steps) {
          if (one === "wake" || one === "lose") await wakeBatch(env, created.id)
          else await expectJson(200, workspace.manage.patch(`/byok/${id}`, { disabled: one === "disable" }))
          if (one === "lose") await evictDurableObject(env.BATCH.get(env.BATCH.idFromName(created.id)))
        }
        await expectJson(200, workspace.manage.patch(`/byok/${id}`, { disabled: false }))
        const batch = await endsAfter(workspace.as, created, [])
        expect(batch.request_counts).toEqual({ total: requests.length, completed: requests.length, failed: 0 })
        const sum = (some: readonly (readonly [number, number])[]) =>
          some.reduce((all, [, prompt]) => all + prompt * 500 + 10_000, 0)
        expect(await workspace.ledger.balance()).toMatchObject({
          spentNano: sum(requests.filter(isShared)),
          byokNano: sum(requests.filter((one) => !isShared(one))),
          heldNano: 0,
        })
        expect(provider.batches).toHaveLength(made)
      },
    ),
    { numRuns: runs(0.15) },
  )
})
