import { env, exports } from "cloudflare:workers"
import OpenAI, { toFile } from "openai"
import { afterEach, expect, test, vi } from "vitest"
import { wakeBatch } from "../../src/batches/open-batch.ts"
import { eventually } from "../support/eventually.ts"
import { newWorkspace } from "../support/world.ts"
import { BatchingProvider, completion } from "./batching-provider.ts"

afterEach(() => vi.restoreAllMocks())

const gateway = (exports as unknown as { default: Fetcher }).default

test("the openai client runs a batch at a provider", async () => {
  const { key, ledger } = await newWorkspace()
  const provider = new BatchingProvider()
  const baseURL = "http://gateway.test/api/v1"
  const fetch = (url: RequestInfo, init?: RequestInit) => gateway.fetch(url, init)
  const client = new OpenAI({ apiKey: key, baseURL, fetch: fetch as never, maxRetries: 0 })
  const messages = [{ role: "user", content: "Describe red." }]
  const line = {
    custom_id: "red",
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "batching/b19", messages },
  }
  const file = await client.files.create({
    file: await toFile(new TextEncoder().encode(JSON.stringify(line)), "colors.jsonl"),
    purpose: "batch",
  })
  const fields = { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" } as const
  const created = await client.batches.create({ ...fields, provider: "batching" } as typeof fields)
  await eventually(() => expect(provider.batches).toHaveLength(1))
  expect((await client.batches.retrieve(created.id)).status).toBe("in_progress")
  provider.end("completed", [completion("1", "Warm.")])
  await wakeBatch(env, created.id)
  const batch = await eventually(async () => {
    const found = await client.batches.retrieve(created.id)
    expect(found.status).toBe("completed")
    return found
  })
  const output = await (await client.files.content(batch.output_file_id ?? "")).text()
  expect(JSON.parse(output)).toMatchObject({
    custom_id: "red",
    response: { status_code: 200, body: { choices: [{ message: { content: "Warm." } }] } },
  })
  expect((await ledger.balance()).spentNano).toBe(60_000)
})
