import OpenAI from "openai"
import { expect, test } from "vitest"
import { chunksOf, framesOf, piecesOf } from "./client.ts"
import { eventually } from "../support/eventually.ts"
import { newModel } from "./gateway.ts"
import { countTokens, type Script } from "./upstream.ts"
import { call, useSetup } from "./setup.ts"

const setup = useSetup({ IDLE_TIMEOUT_MS: "1000" })

const PIECES = Array.from({ length: 10 }, (_, at) => `piece ${at} `)
const broken: Script = { pieces: PIECES, paceMs: 2, ending: "broken" }
const silent: Script = { pieces: PIECES, paceMs: 2, ending: "silent" }

test("a provider that dies within an event leaves complete events, an error chunk and [DONE]", async () => {
  const organization = await setup.gateway.newOrganization()
  const { client } = call(setup, organization, newModel(), broken)
  await client.over
  expect(client.body().endsWith("\n\n")).toBe(true)
  expect(framesOf(client.body()).at(-1)).toBe("[DONE]")
  expect(piecesOf(client.body())).toEqual(PIECES)
  expect(chunksOf(client.body()).at(-1)).toMatchObject({
    choices: [{ delta: { content: "" }, finish_reason: "error" }],
    error: { code: 502, metadata: { error_type: "provider_unavailable" } },
  })
})

test.each([
  ["that crashes", broken, "cut"],
  ["that crashes in a burst", { ...broken, paceMs: 0 }, "cut"],
  ["that stalls", silent, "stalled"],
  ["that stalls after a burst", { ...silent, paceMs: 0 }, "stalled"],
])("a provider %s: the openai client throws, and delivered content is charged", async (_, script, ending) => {
  const model = newModel()
  const organization = await setup.gateway.newOrganization()
  const baseURL = `${setup.gateway.url}/api/v1`
  const client = new OpenAI({ baseURL, apiKey: organization.apiKey, maxRetries: 0, logLevel: "off" })
  const exchange = setup.upstream.expect(script)
  const messages = [{ role: "user" as const, content: exchange.id }]
  const stream = await client.chat.completions.create({ model, messages, stream: true })
  const pieces: string[] = []
  const reading = async () => {
    for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? "")
  }
  await expect(reading()).rejects.toThrow()
  expect(pieces.filter((piece) => piece !== "")).toEqual(PIECES)

  const [row] = await eventually(async () => {
    const rows = await setup.gateway.rows(organization.id)
    expect(rows).toHaveLength(1)
    return rows
  })
  expect(row).toMatchObject({ ending, tokens: countTokens(PIECES) })
  await eventually(() => expect(exchange.closed).toBe(true))
  expect(await setup.gateway.holds(organization.id)).toEqual([])
})
