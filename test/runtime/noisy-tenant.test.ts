import { expect, test } from "vitest"
import { file, stream, words } from "../support/pdf.ts"
import { piecesOf } from "./client.ts"
import { newModel, type Organization } from "./gateway.ts"
import { call, useSetup } from "./setup.ts"

const setup = useSetup({})

const PIECES = Array.from({ length: 60 }, (_, at) => `piece-${at} `)
const PACE_MS = 40
const SHORT_CALLS = 10

/** The response to one tenant, during a stream and short calls of another. */
async function duringOtherTraffic(request: () => Promise<Response>) {
  const other = await setup.gateway.newOrganization()
  const paced = call(setup, other, newModel(), { pieces: PIECES, paceMs: PACE_MS })
  const pieces = () => piecesOf(paced.client.body())
  await expect.poll(pieces).not.toEqual([])
  const answered = request().then(async (response) => ({ status: response.status, text: await response.text() }))
  const short = Array.from({ length: SHORT_CALLS }, (_, at) => `short ${at}`)
  const calls = short.map((piece) => call(setup, other, newModel(), { pieces: [piece] }))
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

test("a PDF of 500 pages that share one stream is rejected, and another tenant loses nothing", async () => {
  const { apiKey } = await setup.gateway.newOrganization()
  const body = await evilPdf()
  const { status, text } = await duringOtherTraffic(() => setup.gateway.post(apiKey, "/chat/completions", body))
  expect(status, text).toBe(400)
  expect(reasonOf(text).message).toMatch(/too much work to read/)
})

test("a key without a limit left is rejected before its PDF is read", async () => {
  const { managementKey } = await setup.gateway.newOrganization()
  const made = await setup.gateway.post(managementKey, "/keys", { name: "Nothing", limit: 0 })
  const { key } = (await made.json()) as { key: string }
  const body = await evilPdf()
  const { status, text } = await duringOtherTraffic(() => setup.gateway.post(key, "/chat/completions", body))
  expect(status, text).toBe(402)
  expect(text).not.toMatch(/PDF|file/)
})

/** An organization with a guardrail for all its keys. */
async function guarded(pattern: string): Promise<Organization> {
  const organization = await setup.gateway.newOrganization()
  const filter = { pattern, action: "redact" }
  const body = { name: "Slow", content_filters: [filter] }
  const made = await setup.gateway.post(organization.managementKey, "/guardrails", body)
  expect(made.status, await made.clone().text()).toBe(201)
  const { data } = (await made.json()) as { data: { id: string } }
  await setup.gateway.execute(`UPDATE guardrails SET is_default = 1 WHERE id = '${data.id}'`)
  return organization
}

test("an accepted slow pattern scans a megabyte, and another tenant loses nothing", async () => {
  const { apiKey } = await guarded(".{0,200}x")
  const exchange = setup.upstream.expect({ pieces: ["Read"], reportsUsage: true })
  const content = `${"a".repeat(900)}x${"a".repeat(1_500)}`.repeat(437)
  expect(content.length).toBeGreaterThan(1_048_576)
  const messages = [content, exchange.id].map((one) => ({ role: "user", content: one }))
  const body = { model: newModel(), messages, stream: true }
  const { status, text } = await duringOtherTraffic(() => setup.gateway.post(apiKey, "/chat/completions", body))
  expect(status, text).toBe(200)
  expect(piecesOf(text)).toEqual(["Read"])
})

test("a stored pattern that is no longer accepted stops at its time budget without blocking others", async () => {
  const { id, apiKey } = await guarded("stored")
  const rules = JSON.stringify({ content_filters: [{ pattern: ".{0,1000}.{0,1000}x", action: "redact" }] })
  await setup.gateway.execute(`UPDATE guardrails SET rules = '${rules}' WHERE organization_id = '${id}'`)
  const content = `${"a".repeat(900)}x${"a".repeat(1_500)}`.repeat(170)
  const body = { model: newModel(), messages: [{ role: "user", content }] }
  const answer = await duringOtherTraffic(() => setup.gateway.post(apiKey, "/chat/completions", body))
  expect(answer.status, answer.text).toBe(403)
  expect(reasonOf(answer.text).metadata?.reason).toBe("guardrail_unchecked")
})
