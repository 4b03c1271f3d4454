import type { OpenRouter } from "@openrouter/sdk"
import type { ChatResult, ChatStreamChunk } from "@openrouter/sdk/models"
import {
  ForbiddenResponseError,
  NotFoundResponseError,
  TooManyRequestsResponseError,
  UnauthorizedResponseError,
} from "@openrouter/sdk/models/errors"
import { beforeAll, describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { newOrganization, openrouter, type Organization } from "./world.ts"

let organization: Organization
let client: OpenRouter
let manager: OpenRouter

beforeAll(async () => {
  organization = await newOrganization()
  client = openrouter(organization.apiKey)
  manager = openrouter(organization.managementKey)
})

const body = (model: string, text: string) => ({ model, messages: [{ role: "user" as const, content: text }] })

async function send(model: string, text: string): Promise<ChatResult> {
  const result = await client.chat.send({ chatRequest: { ...body(model, text), stream: false } })
  if (!("choices" in result)) throw new Error("A stream came.")
  return result
}

/** The client parses every chunk strictly and throws here for one that it rejects. */
async function stream(model: string, text: string): Promise<ChatStreamChunk[]> {
  const result = await client.chat.send({ chatRequest: { ...body(model, text), stream: true } })
  if ("choices" in result) throw new Error("A document came.")
  const chunks: ChatStreamChunk[] = []
  for await (const chunk of result) chunks.push(chunk)
  return chunks
}

const STREAMED = [
  "sim/echo",
  "sim/null-usage",
  "sim/bare-chunks",
  "sim/crlf",
  "sim/comments",
  "sim/byte-chunks",
  "sim/split-utf8",
  "sim/odd-usage",
  "sim/no-usage",
  "sim/zero-usage",
  "sim/cached-tokens",
  "sim/no-done",
  "sim/reasoning",
  "sim/refusal",
]

describe("the @openrouter/sdk client", () => {
  test.each(STREAMED)("reads a non-streamed response of %s", async (model) => {
    const result = await send(model, "Hello there")
    expect(result.choices[0]?.finishReason).toBe("stop")
    expect(result.choices[0]?.message.role).toBe("assistant")
  })

  // After three conforming streams an endpoint is relayed without reading its frames.
  test.each(STREAMED)("reads the streams of %s, the fifth like the first", async (model) => {
    const transcripts = []
    for (let turn = 0; turn < 5; turn++) {
      const chunks = await stream(model, "Hello there")
      expect(chunks.flatMap((chunk) => chunk.error ?? [])).toEqual([])
      expect(chunks.flatMap((chunk) => chunk.choices[0]?.finishReason ?? [])).toEqual(["stop"])
      const deltas = chunks.map((chunk) => chunk.choices[0]?.delta)
      const output = deltas.map((delta) => delta?.content ?? delta?.refusal ?? delta?.reasoning ?? "").join("")
      expect(output).toContain(model === "sim/refusal" ? "can't help" : "Hello there")
      transcripts.push({ told: output, usage: chunks.find((chunk) => chunk.usage)?.usage })
    }
    for (const transcript of transcripts) expect(transcript).toEqual(transcripts[0])
  })

  test.each(["sim/late-error", "sim/cut"])("reads the error chunk of %s", async (model) => {
    for (let turn = 0; turn < 5; turn++) {
      const last = (await stream(model, "Hello")).at(-1)
      expect(last?.choices[0]?.finishReason).toBe("error")
      expect(last?.error).toMatchObject({
        code: expect.any(Number) as number,
        metadata: { errorType: "provider_unavailable" },
      })
    }
  })

  test("reads its current key", async () => {
    const { data } = await client.apiKeys.getCurrentKeyMetadata()
    expect(data).toMatchObject({ isManagementKey: false, organizationId: organization.id })
    expect((await manager.apiKeys.getCurrentKeyMetadata()).data.isManagementKey).toBe(true)
  })

  test("creates, finds, changes and deletes a key, which then gets 401", async () => {
    const made = await manager.apiKeys.create({ requestBody: { name: "For a robot", limit: 5 } })
    const { hash } = made.data
    expect(made.data).toMatchObject({ name: "For a robot", limit: 5, disabled: false })
    expect((await manager.apiKeys.list()).data.map((key) => key.hash)).toContain(hash)
    expect((await manager.apiKeys.get({ hash })).data.name).toBe("For a robot")
    const changed = await manager.apiKeys.update({ hash, requestBody: { name: "For two robots", limit: 7 } })
    expect(changed.data).toMatchObject({ name: "For two robots", limit: 7 })

    const robot = openrouter(made.key)
    await robot.apiKeys.getCurrentKeyMetadata()
    expect(await manager.apiKeys.delete({ hash })).toMatchObject({ deleted: true })
    const refusal = await eventually(
      () =>
        robot.apiKeys.getCurrentKeyMetadata().then(
          () => {
            throw new Error("The key still opens.")
          },
          (failure: unknown) => failure,
        ),
      6_000,
    )
    expect(refusal).toBeInstanceOf(UnauthorizedResponseError)
    await expect(manager.apiKeys.get({ hash })).rejects.toBeInstanceOf(NotFoundResponseError)
  })

  test("lists and counts models, and finds one with its endpoints", async () => {
    const ids: string[] = []
    for await (const page of await client.models.list()) ids.push(...page.result.data.map((model) => model.id))
    expect(ids).toContain("sim/echo")
    expect((await client.models.count()).data.count).toBe(ids.length)
    const { data } = await client.models.get({ author: "sim", slug: "echo" })
    expect(data.id).toBe("sim/echo")
    const endpoints = await client.endpoints.list({ author: "sim", slug: "echo" })
    expect(endpoints.data.endpoints).toHaveLength(1)
    expect((await client.providers.list()).data.map((provider) => provider.slug)).toContain("embedded")
  })

  test.each(["whole", "streamed"])("finds the cost of a %s call as soon as it has read the last byte", async (way) => {
    const own = await newOrganization()
    const principal = openrouter(own.apiKey)
    const chatRequest = body("sim/echo", "Hello there")
    let id = ""
    if (way === "whole") {
      const result = await principal.chat.send({ chatRequest: { ...chatRequest, stream: false } })
      if ("choices" in result) id = result.id
    } else {
      const result = await principal.chat.send({ chatRequest: { ...chatRequest, stream: true } })
      if (!("choices" in result)) for await (const chunk of result) id = chunk.id
    }
    const { data } = await principal.generations.getGeneration({ id })
    expect(data).toMatchObject({ upstreamId: id, model: "sim/echo", providerName: "Embedded", finishReason: "stop" })
    expect(data.totalCost).toBeGreaterThan(0)
    const credits = await openrouter(own.managementKey).credits.getCredits()
    expect(credits.data).toEqual({ totalCredits: 100, totalUsage: data.totalCost })
  })
})

describe("the @openrouter/sdk client gets", () => {
  test("403 for a normal key on management operations", async () => {
    const create = client.apiKeys.create({ requestBody: { name: "Mine" } })
    await expect(create).rejects.toBeInstanceOf(ForbiddenResponseError)
    await expect(client.credits.getCredits()).rejects.toBeInstanceOf(ForbiddenResponseError)
    // The client has no class for a 403 of these.
    await expect(client.apiKeys.list()).rejects.toMatchObject({ statusCode: 403 })
    await expect(client.apiKeys.delete({ hash: "0".repeat(64) })).rejects.toMatchObject({ statusCode: 403 })
  })

  test("401 for an invalid key", async () => {
    const unauthorized = openrouter("sk-gw-v1-wrong")
    await expect(unauthorized.apiKeys.getCurrentKeyMetadata()).rejects.toBeInstanceOf(UnauthorizedResponseError)
  })

  test("404 for an unknown model", async () => {
    await expect(send("sim/none", "Hello")).rejects.toBeInstanceOf(NotFoundResponseError)
  })

  test("429 from a provider", async () => {
    await expect(send("sim/status-429", "Hello")).rejects.toBeInstanceOf(TooManyRequestsResponseError)
  })
})
