import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { type Gateway, newModel, type Organization, startGateway } from "./gateway.ts"
import { toNano } from "./setup.ts"

/** A batch runs this many requests at a time. */
const CONCURRENCY = 4

/** A provider that counts the calls of each request and responds while `answers` returns true. */
const provider = { calls: new Map<string, number>(), answers: (_content: string) => true, onCall: () => {} }
const server = http.createServer((request, response) => {
  void readJson(request).then(({ messages }) => {
    const content = messages.at(-1)?.content ?? ""
    provider.calls.set(content, (provider.calls.get(content) ?? 0) + 1)
    provider.onCall()
    if (!provider.answers(content)) return
    const message = { role: "assistant", content: "Done" }
    response.setHeader("content-type", "application/json").end(
      JSON.stringify({
        id: "up-1",
        object: "chat.completion",
        created: 1,
        model: "model",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
      }),
    )
  })
})

async function readJson(request: http.IncomingMessage): Promise<{ messages: { content: string }[] }> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString()) as { messages: { content: string }[] }
}

let gateway: Gateway

beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  gateway = await startGateway(`http://127.0.0.1:${port}/v1`, { HOLD_TTL_MS: "1500" })
})
afterAll(async () => {
  await gateway?.stop()
  server.closeAllConnections()
  server.close()
})

type Batch = { id: string; status: string; output_file_id: string; error_file_id: string | null }

async function startBatch({ apiKey }: Organization, contents: readonly string[]): Promise<Batch> {
  const model = newModel()
  const lines = contents.map((content) => {
    const body = { model, messages: [{ role: "user", content }] }
    return JSON.stringify({ custom_id: content, method: "POST", url: "/v1/chat/completions", body })
  })
  const form = new FormData()
  form.append("file", new File([lines.join("\n")], "batch.jsonl"))
  const headers = { authorization: `Bearer ${apiKey}` }
  const uploaded = await fetch(`${gateway.url}/api/v1/files`, { method: "POST", headers, body: form })
  const { id } = (await uploaded.json()) as { id: string }
  const input = { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" }
  const created = await gateway.post(apiKey, "/batches", input)
  expect(created.status).toBe(200)
  return (await created.json()) as Batch
}

async function fetchText({ apiKey }: Organization, resource: string): Promise<string> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const response = await fetch(`${gateway.url}/api/v1${resource}`, { headers })
  expect(response.status).toBe(200)
  return response.text()
}

async function completed(organization: Organization, { id }: Batch): Promise<Batch> {
  return eventually(async () => {
    const batch = JSON.parse(await fetchText(organization, `/batches/${id}`)) as Batch
    expect(batch.status).toBe("completed")
    return batch
  })
}

async function expectOneResultEach(organization: Organization, batch: Batch, contents: readonly string[]) {
  expect(batch.error_file_id).toBeNull()
  const output = await fetchText(organization, `/files/${batch.output_file_id}/content`)
  const ids = output.trimEnd().split("\n")
  expect(ids.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id)).toEqual(contents)
}

/** The charges once no call is open: the sum of the generations equals the usage of the account. */
async function expectExactUsage(organization: Organization, atLeast: number) {
  const rows = await eventually(async () => {
    expect(await gateway.holds(organization.id)).toEqual([])
    const found = await gateway.rows(organization.id)
    expect(found.length).toBeGreaterThanOrEqual(atLeast)
    const spent = found.reduce((sum, row) => sum + row.cost_nano, 0)
    const account = await gateway.get<{ total_usage: number }>(organization.managementKey, "/credits")
    expect(toNano(account.total_usage)).toBe(spent)
    return found
  })
  return rows
}

test("after a kill finished requests do not run again, and those in flight run once more", async () => {
  const organization = await gateway.newOrganization()
  const contents = Array.from({ length: 14 }, (_, at) => `request ${at}`)
  const held = new Set(contents.slice(6, 6 + CONCURRENCY))
  provider.calls.clear()
  provider.answers = (content) => !held.has(content)
  const batch = await startBatch(organization, contents)
  // A request starts after the previous result is stored.
  await eventually(() => {
    for (const content of held) expect(provider.calls.get(content)).toBe(1)
  })
  expect(provider.calls.size).toBe(6 + CONCURRENCY)
  provider.answers = () => true
  await gateway.killRuntime()

  const done = await completed(organization, batch)
  for (const content of contents)
    expect([content, provider.calls.get(content)]).toEqual([content, held.has(content) ? 2 : 1])
  await expectOneResultEach(organization, done, contents)
  const rows = await expectExactUsage(organization, contents.length)
  expect(rows.filter(({ ending }) => ending === "complete").length).toBeLessThanOrEqual(contents.length)
})

test("after kills at any time each request has one result, and at most four run again per kill", async () => {
  const organization = await gateway.newOrganization()
  const contents = Array.from({ length: 60 }, (_, at) => `any ${at}`)
  const kills = [7, 23, 41]
  provider.calls.clear()
  provider.answers = () => true
  let [calls, killed] = [0, Promise.resolve()]
  provider.onCall = () => {
    calls++
    if (!kills.includes(calls)) return
    killed = gateway.killRuntime()
  }
  const batch = await startBatch(organization, contents)
  await eventually(() => expect(calls).toBeGreaterThanOrEqual(contents.length))
  await killed
  provider.onCall = () => {}
  const done = await completed(organization, batch)
  await expectOneResultEach(organization, done, contents)
  const made = [...provider.calls.values()].reduce((sum, count) => sum + count, 0)
  expect(made).toBeGreaterThanOrEqual(contents.length)
  expect(made).toBeLessThanOrEqual(contents.length + CONCURRENCY * kills.length)
  await expectExactUsage(organization, 1)
})
