import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { wakeBatch } from "../../src/batches/open-batch.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newWorkspace, openHolds, type Workspace } from "../support/world.ts"
import { errored, message, MessageBatchProvider, type Outcome } from "./message-batch-provider.ts"
import { createProviderBatch, endsAfter, waitForStatus, readLines, type Step } from "./batches.ts"

afterEach(() => vi.restoreAllMocks())

const start = ({ as }: Workspace, texts: readonly string[]) =>
  createProviderBatch(as, texts, { provider: "claudish", model: "acme/opus-1" })

const submitted = (provider: MessageBatchProvider, count = 1) =>
  eventually(() => expect(provider.batches).toHaveLength(count))
/** 100 prompt and 10 completion tokens, at half of 1e-6 and 2e-6. */
const NANO = 60_000

describe("a batch of a Messages provider", () => {
  test("is translated, submitted once, and settled line by line at the batch price", async () => {
    const workspace = await newWorkspace()
    const provider = new MessageBatchProvider()
    const created = await start(workspace, ["red", "green", "blue"])
    await submitted(provider)
    const [batch] = provider.batches
    const requests = provider.submitted.get(batch?.id ?? "") ?? []
    expect(requests.map(({ custom_id: id }) => id)).toEqual([1, 2, 3].map((line) => `${created.id}-${line}`))
    for (const { custom_id: id } of requests) expect(id).toMatch(/^[\w-]{1,64}$/)
    expect(requests[0]?.params).toMatchObject({ model: "opus", max_tokens: 50, messages: [{ role: "user" }] })
    expect(requests[0]?.params).not.toHaveProperty("stream")
    expect(await workspace.object.holds()).toHaveLength(3)
    provider.end([message("Red."), message("Green.", [200, 20]), errored("invalid_request_error", "Too blue")])
    await wakeBatch(env, created.id)
    const ended = await waitForStatus(workspace.as, created, "completed")
    expect(ended.request_counts).toEqual({ total: 3, completed: 2, failed: 1 })
    expect(await readLines(workspace.as, ended.output_file_id)).toMatchObject([
      { custom_id: "red", response: { status_code: 200, body: { choices: [{ message: { content: "Red." } }] } } },
      { custom_id: "green", response: { status_code: 200 } },
    ])
    expect(await readLines(workspace.as, ended.error_file_id)).toMatchObject([
      {
        custom_id: "blue",
        response: { status_code: 400, body: { error: { message: expect.stringContaining("Too blue") } } },
      },
    ])
    expect(await openHolds(workspace)).toEqual([])
    expect((await workspace.ledger.balance()).spentNano).toBe(3 * NANO)
    expect(provider.requests.filter((one) => one === "POST /messages/batches")).toHaveLength(1)
    expect(provider.batches).toEqual([])
    expect([...provider.headers]).toEqual(["claudish-provider-key-0123456789 2023-06-01"])
  })

  test("is submitted with the beta features of its creation", async () => {
    const workspace = await newWorkspace()
    const provider = new MessageBatchProvider()
    const params = { model: "acme/opus-1", max_tokens: 20, messages: [{ role: "user", content: "Hi" }] }
    const created = await expectJson<{ id: string }>(
      200,
      workspace.as.post(
        "/messages/batches",
        { requests: [{ custom_id: "a", params }], provider: "claudish" },
        { "anthropic-beta": "one-2026, two-2026, not a beta" },
      ),
    )
    await submitted(provider)
    expect([...provider.betas]).toEqual(["one-2026,two-2026"])
    provider.end([message("Done.")])
    await endsAfter(workspace.as, created, ["wake"])
    expect([...provider.betas]).toEqual(["one-2026,two-2026"])
  })

  test("does not charge requests that were canceled or expired", async () => {
    const workspace = await newWorkspace()
    const provider = new MessageBatchProvider()
    const created = await start(workspace, ["a", "b"])
    await submitted(provider)
    await expectJson(200, workspace.as.post(`/batches/${created.id}/cancel`, undefined))
    await eventually(() => expect(provider.batches[0]?.processing_status).toBe("canceling"))
    provider.end([message("A"), { type: "canceled" }])
    await wakeBatch(env, created.id)
    const batch = await waitForStatus(workspace.as, created, "cancelled")
    expect(batch.request_counts).toMatchObject({ total: 2, completed: 1 })
    expect(await readLines(workspace.as, batch.error_file_id)).toMatchObject([
      { custom_id: "b", error: { code: "batch_cancelled" } },
    ])
    expect((await workspace.ledger.balance()).spentNano).toBe(NANO)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("is not created twice when the response to its creation is lost, and adopts no foreign batch", async () => {
    const workspace = await newWorkspace()
    const provider = new MessageBatchProvider()
    const foreign = provider.add([
      { custom_id: "theirs-1", params: {} },
      { custom_id: "theirs-2", params: {} },
    ])
    provider.after = ({ method, url }) => {
      if (method !== "POST" || !url.endsWith("/batches")) return undefined
      provider.after = () => undefined
      return new Error("The connection was lost.")
    }
    const created = await start(workspace, ["a", "b"])
    await submitted(provider, 2)
    // Neither has ended, so the gateway cannot tell which one it created.
    await wakeBatch(env, created.id)
    provider.end([message("Theirs"), message("Theirs")], 0)
    await wakeBatch(env, created.id)
    expect(provider.batches).toHaveLength(2)
    provider.end([message("A"), message("B")], 1)
    expect(await endsAfter(workspace.as, created, [])).toMatchObject({ request_counts: { completed: 2 } })
    expect(provider.requests.filter((one) => one === "POST /messages/batches")).toHaveLength(1)
    expect(provider.batches).toEqual([foreign])
    expect((await workspace.ledger.balance()).spentNano).toBe(2 * NANO)
  })
})

test("each request is charged for its response, for any outcome and any loss of the object", async () => {
  const usage = fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 60 }))
  const outcome = fc.oneof(
    usage.map((tokens) => ({ tokens, outcome: message("Done.", tokens) })),
    fc
      .constantFrom<Outcome>(
        errored("overloaded_error", "Busy"),
        errored("invalid_request_error", "No"),
        { type: "expired" },
        { type: "canceled" },
        { type: "new kind" },
      )
      .map((one) => ({ tokens: null, outcome: one })),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(outcome, { minLength: 1, maxLength: 6 }),
      fc.array(fc.constantFrom<Step>("wake", "lose"), { maxLength: 4 }),
      fc.boolean(),
      async (outcomes, steps, losesCreation) => {
        vi.restoreAllMocks()
        const workspace = await newWorkspace()
        const provider = new MessageBatchProvider()
        if (losesCreation) {
          provider.after = ({ method }) => {
            if (method !== "POST") return undefined
            provider.after = () => undefined
            return new Error("The connection was lost.")
          }
        }
        const texts = outcomes.map((_, at) => `r${at}`)
        const created = await start(workspace, texts)
        await submitted(provider)
        provider.end(outcomes.map((one) => one.outcome))
        const batch = await endsAfter(workspace.as, created, steps)
        const nano = outcomes.reduce((all, { tokens }) => all + (tokens ? tokens[0] * 500 + tokens[1] * 1_000 : 0), 0)
        const answered = outcomes.filter(({ tokens }) => tokens !== null).length
        expect(batch.request_counts).toMatchObject({ total: outcomes.length, completed: answered })
        expect(await workspace.ledger.balance()).toMatchObject({ spentNano: nano, heldNano: 0 })
        expect(provider.requests.filter((one) => one === "POST /messages/batches")).toHaveLength(1)
      },
    ),
    { numRuns: runs(0.15) },
  )
})
