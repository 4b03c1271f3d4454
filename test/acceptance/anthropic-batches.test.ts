import Anthropic, { BadRequestError, ConflictError, NotFoundError } from "@anthropic-ai/sdk"
import { beforeAll, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { gatewayUrl, newOrganization, type Organization, usageOf } from "./world.ts"

let organization: Organization
let client: Anthropic

beforeAll(async () => {
  organization = await newOrganization()
  const { apiKey } = organization
  client = new Anthropic({ baseURL: gatewayUrl.replace(/\/v1$/, ""), apiKey, maxRetries: 0, logLevel: "off" })
})

const request = (id: string, model = "sim/echo") => ({
  custom_id: id,
  params: { model, max_tokens: 100, messages: [{ role: "user" as const, content: `Hello ${id}` }] },
})

function ended(id: string): Promise<Anthropic.Messages.MessageBatch> {
  return eventually(async () => {
    const batch = await client.messages.batches.retrieve(id)
    expect(batch.processing_status).toBe("ended")
    return batch
  })
}

test("@anthropic-ai/sdk: a batch is created, polled, read, listed and deleted", async () => {
  const requests = [request("a"), request("b", "nobody/nothing"), request("c")]
  const created = await client.messages.batches.create({ requests })
  expect(created).toMatchObject({ type: "message_batch", processing_status: "in_progress", results_url: null })
  const batch = await ended(created.id)
  expect(batch.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 })
  const texts: Record<string, string> = {}
  for await (const { custom_id: id, result } of await client.messages.batches.results(batch.id)) {
    if (result.type === "succeeded") {
      const [block] = result.message.content
      texts[id] = block?.type === "text" ? block.text : ""
      expect(result.message.usage.output_tokens).toBeGreaterThan(0)
    } else texts[id] = result.type === "errored" ? result.error.error.type : result.type
  }
  expect(texts).toEqual({ a: "Hello a", b: expect.stringMatching(/_error$/), c: "Hello c" })
  await eventually(async () => expect(await usageOf(organization)).toBeGreaterThan(0))

  const listed: string[] = []
  for await (const { id } of client.messages.batches.list({ limit: 1 })) listed.push(id)
  expect(listed).toContain(batch.id)
  expect(await client.messages.batches.delete(batch.id)).toEqual({ id: batch.id, type: "message_batch_deleted" })
  await expect(client.messages.batches.retrieve(batch.id)).rejects.toThrow(NotFoundError)
})

test("@anthropic-ai/sdk: a cancelled batch has a result for each request", async () => {
  const ids = Array.from({ length: 500 }, (_, at) => `r${at}`)
  const created = await client.beta.messages.batches.create({ requests: ids.map((id) => request(id)) })
  expect((await client.beta.messages.batches.cancel(created.id)).processing_status).toBe("canceling")
  const batch = await ended(created.id)
  const seen: string[] = []
  let canceled = 0
  for await (const { custom_id: id, result } of await client.beta.messages.batches.results(batch.id)) {
    seen.push(id)
    if (result.type === "canceled") canceled += 1
  }
  expect(seen.toSorted()).toEqual(ids.toSorted())
  expect(batch.request_counts).toMatchObject({ canceled, succeeded: ids.length - canceled })
  await expect(client.messages.batches.cancel(batch.id)).rejects.toThrow(ConflictError)
})

test("@anthropic-ai/sdk: an invalid batch is a BadRequestError that names the request", async () => {
  const creation = client.messages.batches.create({ requests: [request("a"), request("a")] })
  await expect(creation).rejects.toThrow(BadRequestError)
  await expect(creation).rejects.toThrow(/requests\[1\]\.custom_id/)
})
