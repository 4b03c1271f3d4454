import type { OpenRouter } from "@openrouter/sdk"
import {
  BadRequestResponseError,
  ConflictResponseError,
  ForbiddenResponseError,
  NotFoundResponseError,
  UnauthorizedResponseError,
} from "@openrouter/sdk/models/errors"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { newOrganization, openrouter, type Organization } from "./world.ts"

let organization: Organization
let client: OpenRouter
let manager: OpenRouter

beforeAll(async () => {
  organization = await newOrganization()
  client = openrouter(organization.apiKey)
  manager = openrouter(organization.managementKey)
})

const messages = [{ role: "user" as const, content: "Hello there" }]
const chatPreset = (by: OpenRouter, slug: string, more: object = {}) =>
  by.presets.createPresetsChatCompletions({ slug, chatRequest: { model: "sim/echo", messages, ...more } })
const responsesPreset = (by: OpenRouter, slug: string, more: object = {}) =>
  by.presets.createPresetsResponses({ slug, responsesRequest: { model: "sim/echo", input: "x", ...more } })
const messagesPreset = (by: OpenRouter, slug: string, more: object = {}) =>
  by.presets.createPresetsMessages({
    slug,
    messagesRequest: { model: "sim/echo", maxTokens: 64, messages, ...more },
  })

async function change(slug: string, body: object): Promise<void> {
  const response = await fetch(`${inject("gateway").url}/presets/${slug}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
}

describe("the @openrouter/sdk client", () => {
  test("creates presets on every endpoint, and versions of one", async () => {
    const first = await chatPreset(manager, "first", { temperature: 0.5 })
    expect(first.data).toMatchObject({
      slug: "first",
      status: "active",
      designatedVersion: { version: 1, config: { model: "sim/echo", temperature: 0.5 }, systemPrompt: null },
    })
    const second = await responsesPreset(manager, "first", { instructions: "Be brief." })
    expect(second.data).toMatchObject({
      id: first.data.id,
      designatedVersion: { version: 2, systemPrompt: "Be brief." },
    })
    expect(second.data.designatedVersion?.config).toEqual({ model: "sim/echo" })
    const third = await messagesPreset(manager, "first", { system: "Be kind." })
    expect(third.data.designatedVersion).toMatchObject({ version: 3, systemPrompt: "Be kind." })
    expect((await client.presets.get({ slug: "first" })).data).toEqual(third.data)
    expect((await client.presets.getVersion({ slug: "first", version: "2" })).data).toEqual(
      second.data.designatedVersion,
    )
  })

  test("lists presets and versions page by page", async () => {
    for (let seed = 0; seed < 3; seed++) await chatPreset(manager, "listed", { seed })
    await chatPreset(manager, "latest")
    const slugs: string[] = []
    for await (const { result } of await client.presets.list({ limit: 1 })) {
      slugs.push(...result.data.map(({ slug }) => slug))
    }
    expect(slugs.slice(0, 2)).toEqual(["latest", "listed"])
    const versions: unknown[] = []
    for await (const { result } of await client.presets.listVersions({ slug: "listed", limit: 2 })) {
      versions.push(...result.data.map((version) => version?.version))
    }
    expect(versions).toEqual([1, 2, 3])
  })

  test("calls with presets, non-streamed and streamed", async () => {
    await chatPreset(manager, "used")
    for (const model of ["@preset/used", "sim/echo@preset/used"]) {
      const completion = await client.chat.send({ chatRequest: { model, messages, stream: false } })
      expect(completion).toMatchObject({ choices: [{ finishReason: "stop" }] })
      const stream = await client.chat.send({ chatRequest: { model, messages, stream: true } })
      if ("choices" in stream) throw new Error("A document came.")
      let text = ""
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ""
      expect(text).toContain("Hello there")
    }
    const response = await client.responses.send({ responsesRequest: { model: "@preset/used", input: "Hello there" } })
    expect(response).toMatchObject({ status: "completed" })
  })

  const creations = { chatPreset, responsesPreset, messagesPreset }
  test.each(Object.entries(creations))("%s is rejected: 400, 401, 403, 409", async (_, create) => {
    await expect(create(manager, "bad", { temperature: 7 })).rejects.toBeInstanceOf(BadRequestResponseError)
    await expect(create(openrouter("sk-none"), "p")).rejects.toBeInstanceOf(UnauthorizedResponseError)
    await expect(create(client, "p")).rejects.toBeInstanceOf(ForbiddenResponseError)
    await create(manager, "gone")
    await change("gone", { status: "archived" })
    await expect(create(manager, "gone")).rejects.toBeInstanceOf(ConflictResponseError)
    const call = client.chat.send({ chatRequest: { model: "@preset/gone", messages, stream: false } })
    await expect(call).rejects.toBeInstanceOf(NotFoundResponseError)
    await change("gone", { status: "disabled" })
    const again = client.chat.send({ chatRequest: { model: "@preset/gone", messages, stream: false } })
    await expect(again).rejects.toBeInstanceOf(BadRequestResponseError)
    await change("gone", { status: "active" })
  })

  const reads: [string, (by: OpenRouter, slug: string) => Promise<unknown>][] = [
    ["get", (by, slug) => by.presets.get({ slug })],
    ["getVersion", (by, slug) => by.presets.getVersion({ slug, version: "1" })],
    ["listVersions", (by, slug) => by.presets.listVersions({ slug })],
  ]
  test.each(reads)("%s is rejected: 400, 401, 404", async (_, read) => {
    await expect(read(client, "no slug")).rejects.toBeInstanceOf(BadRequestResponseError)
    await expect(read(openrouter("sk-none"), "p")).rejects.toBeInstanceOf(UnauthorizedResponseError)
    await expect(read(client, "nothing")).rejects.toBeInstanceOf(NotFoundResponseError)
  })

  test("list is rejected: 400, 401", async () => {
    await expect(client.presets.list({ limit: 1_000 })).rejects.toBeInstanceOf(BadRequestResponseError)
    await expect(openrouter("sk-none").presets.list()).rejects.toBeInstanceOf(UnauthorizedResponseError)
  })
})
