import { toFile } from "openai"
import { beforeAll, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { newOrganization, openai, type Organization, usageOf } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const endpoint = "/v1/chat/completions"

function jsonl(ids: readonly string[], model = "sim/echo"): string {
  return ids
    .map((id) => ({
      custom_id: id,
      method: "POST",
      url: endpoint,
      body: { model, messages: [{ role: "user", content: `Hello ${id}` }] },
    }))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("")
}

test("openai: a batch is uploaded, created, polled, read and listed", async () => {
  const client = openai(organization.apiKey)
  const ids = ["a", "b", "c"]
  const anchor = "created_at" as const
  const file = await client.files.create({
    file: await toFile(Buffer.from(jsonl(ids)), "in.jsonl"),
    purpose: "batch",
    expires_after: { anchor, seconds: 7_200 },
  })
  expect(file.expires_at).toBe(file.created_at + 7_200)
  const expiry = { output_expires_after: { anchor, seconds: 3_600 } }
  const input = { input_file_id: file.id, endpoint, completion_window: "24h", metadata: { team: "search" } } as const
  const created = await client.batches.create({ ...input, ...expiry })
  expect(created).toMatchObject({ object: "batch", status: "validating", endpoint, metadata: { team: "search" } })
  const batch = await eventually(async () => {
    const found = await client.batches.retrieve(created.id)
    expect(found.status).toBe("completed")
    return found
  })
  expect(batch.request_counts).toEqual({ total: 3, completed: 3, failed: 0 })
  const output = await client.files.retrieve(batch.output_file_id ?? "")
  expect(output.expires_at).toBe(output.created_at + 3_600)
  const content = await (await client.files.content(batch.output_file_id ?? "")).text()
  const lines = content.trimEnd().split("\n")
  expect(lines.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id)).toEqual(ids)
  for (const id of ids) expect(content).toContain(`Hello ${id}`)
  await eventually(async () => expect(await usageOf(organization)).toBeGreaterThan(0))
  const listed: string[] = []
  for await (const { id } of client.batches.list({ limit: 1 })) listed.push(id)
  expect(listed).toContain(batch.id)
})

test("openai: an invalid file fails with its lines, and a finished batch cannot be cancelled", async () => {
  const client = openai(organization.apiKey)
  const file = await client.files.create({
    file: await toFile(Buffer.from(jsonl(["a", "a"])), "in.jsonl"),
    purpose: "batch",
  })
  const created = await client.batches.create({ input_file_id: file.id, endpoint, completion_window: "24h" })
  const batch = await eventually(async () => {
    const found = await client.batches.retrieve(created.id)
    expect(found.status).toBe("failed")
    return found
  })
  expect(batch.errors?.data).toMatchObject([{ code: "duplicate_custom_id", line: 2 }])
  await expect(client.batches.cancel(batch.id)).rejects.toMatchObject({ status: 409 })
})

test("openai: a cancelled batch ends with its finished requests", async () => {
  const client = openai(organization.apiKey)
  const ids = Array.from({ length: 2_000 }, (_, at) => `r${at}`)
  const file = await client.files.create({ file: await toFile(Buffer.from(jsonl(ids)), "in.jsonl"), purpose: "batch" })
  const created = await client.batches.create({ input_file_id: file.id, endpoint, completion_window: "24h" })
  expect((await client.batches.cancel(created.id)).status).toBe("cancelling")
  const batch = await eventually(async () => {
    const found = await client.batches.retrieve(created.id)
    expect(found.status).toBe("cancelled")
    return found
  })
  expect(batch.request_counts?.completed).toBeLessThan(ids.length)
  expect(await (await client.files.content(batch.error_file_id ?? "")).text()).toContain("batch_cancelled")
})
