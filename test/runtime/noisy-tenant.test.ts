import { expect, test } from "vitest"
import { file, stream, words } from "../support/pdf.ts"
import { piecesOf } from "./client.ts"
import { newModel, type Organization } from "./gateway.ts"
import { call, useWorld } from "./world.ts"

const world = useWorld({})

const PIECES = Array.from({ length: 60 }, (_, at) => `piece-${at} `)
const PACE_MS = 40
const SHORT_CALLS = 10

/** What one tenant is answered, while a stream of another goes on and short calls of it come and go. */
async function besideOthers(ask: () => Promise<Response>) {
  const other = await world.gateway.newOrganization()
  const paced = call(world, other, newModel(), { pieces: PIECES, paceMs: PACE_MS })
  const pieces = () => piecesOf(paced.client.body())
  await expect.poll(pieces).not.toEqual([])
  const answered = ask().then(async (response) => ({ status: response.status, text: await response.text() }))
  const short = Array.from({ length: SHORT_CALLS }, (_, at) => `short ${at}`)
  const calls = short.map((piece) => call(world, other, newModel(), { pieces: [piece] }))
  await Promise.all(calls.map(({ client }) => client.over))
  const answer = await answered
  await paced.client.over
  expect(
    calls.flatMap(({ client }) => piecesOf(client.body())),
    calls[0]?.client.body(),
  ).toEqual(short)
  expect(pieces()).toEqual(PIECES)
  expect(paced.client.body()).toContain("data: [DONE]")
  return answer
}

const reasonOf = (text: string) =>
  (JSON.parse(text) as { error: { message: string; metadata?: { reason?: string } } }).error

async function evilPdf() {
  const bytes = file(500, await stream(words(100_000)))
  const fileData = `data:application/pdf;base64,${Buffer.from(bytes).toString("base64")}`
  const part = { type: "file", file: { filename: "evil.pdf", file_data: fileData } }
  return { model: newModel(), messages: [{ role: "user", content: [part] }], plugins: [{ id: "file-parser" }] }
}

test("a PDF of 500 pages that share one stream is refused, and nothing of another tenant is lost", async () => {
  const { apiKey } = await world.gateway.newOrganization()
  const body = await evilPdf()
  const { status, text } = await besideOthers(() => world.gateway.post(apiKey, "/chat/completions", body))
  expect(status, text).toBe(400)
  expect(reasonOf(text).message).toMatch(/too much work to read/)
})

test("a key that may spend nothing is refused before its PDF is read", async () => {
  const { managementKey } = await world.gateway.newOrganization()
  const made = await world.gateway.post(managementKey, "/keys", { name: "Nothing", limit: 0 })
  const { key } = (await made.json()) as { key: string }
  const body = await evilPdf()
  const { status, text } = await besideOthers(() => world.gateway.post(key, "/chat/completions", body))
  expect(status, text).toBe(402)
  expect(text).not.toMatch(/PDF|file/)
})

/** An organization with a guardrail for all of its keys. */
async function guarded(pattern: string): Promise<Organization> {
  const organization = await world.gateway.newOrganization()
  const filter = { pattern, action: "redact" }
  const body = { name: "Slow", content_filters: [filter] }
  const made = await world.gateway.post(organization.managementKey, "/guardrails", body)
  expect(made.status, await made.clone().text()).toBe(201)
  const { data } = (await made.json()) as { data: { id: string } }
  await world.gateway.execute(`UPDATE guardrails SET is_default = 1 WHERE id = '${data.id}'`)
  return organization
}

test("a slow pattern that is accepted is searched for in a megabyte, and nothing of another tenant is lost", async () => {
  const { apiKey } = await guarded(".{0,200}x")
  const exchange = world.upstream.expect({ pieces: ["Read"], reportsUsage: true })
  const content = `${"a".repeat(900)}x${"a".repeat(1_500)}`.repeat(437)
  expect(content.length).toBeGreaterThan(1_048_576)
  const messages = [content, exchange.id].map((one) => ({ role: "user", content: one }))
  const body = { model: newModel(), messages, stream: true }
  const { status, text } = await besideOthers(() => world.gateway.post(apiKey, "/chat/completions", body))
  expect(status, text).toBe(200)
  expect(piecesOf(text)).toEqual(["Read"])
})

test("a stored pattern that is not accepted any more ends at its budget, and lets others go on", async () => {
  const { id, apiKey } = await guarded("stored")
  const rules = JSON.stringify({ content_filters: [{ pattern: ".{0,1000}.{0,1000}x", action: "redact" }] })
  await world.gateway.execute(`UPDATE guardrails SET rules = '${rules}' WHERE organization_id = '${id}'`)
  const content = `${"a".repeat(900)}x${"a".repeat(1_500)}`.repeat(170)
  const body = { model: newModel(), messages: [{ role: "user", content }] }
  const answer = await besideOthers(() => world.gateway.post(apiKey, "/chat/completions", body))
  expect(answer.status, answer.text).toBe(403)
  expect(reasonOf(answer.text).metadata?.reason).toBe("guardrail_unchecked")
})
