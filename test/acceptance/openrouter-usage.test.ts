import type { OpenRouter } from "@openrouter/sdk"
import {
  BadRequestResponseError,
  ForbiddenResponseError,
  NotFoundResponseError,
  UnauthorizedResponseError,
} from "@openrouter/sdk/models/errors"
import { beforeAll, describe, expect, test } from "vitest"
import { newOrganization, openrouter, type Organization } from "./world.ts"

let organization: Organization
let client: OpenRouter
let manager: OpenRouter
const unauthorized = openrouter(`sk-gw-v1-${"x".repeat(43)}`)

beforeAll(async () => {
  organization = await newOrganization()
  client = openrouter(organization.apiKey)
  manager = openrouter(organization.managementKey)
})

const messages = [{ role: "user" as const, content: "Count this" }]
const chat = () => client.chat.send({ chatRequest: { model: "sim/echo", messages, stream: false } })

describe("the @openrouter/sdk client", () => {
  test("reads a generation and its content, and sends feedback", async () => {
    const { result } = await manager.workspaces.list()
    const [workspace] = result.data
    if (!workspace) throw new Error("There is no workspace.")
    const updateWorkspaceRequest = { isObservabilityIoLoggingEnabled: true }
    await manager.workspaces.update({ id: workspace.id, updateWorkspaceRequest })
    // An isolate caches a key for up to five seconds; a new key is not cached.
    const { key } = await manager.apiKeys.create({ requestBody: { name: "logged" } })
    const logged = openrouter(key)
    const answer = await logged.chat.send({ chatRequest: { model: "sim/echo", messages, stream: false } })
    if (!("id" in answer)) throw new Error("A stream was not asked for.")
    const generation = await logged.generations.getGeneration({ id: answer.id })
    expect(generation.data).toMatchObject({ model: "sim/echo", streamed: false, apiType: "completions" })
    const content = await logged.generations.listGenerationContent({ id: generation.data.id })
    expect(content.data.output).toEqual({ completion: "Count this", reasoning: null })
    expect(content.data.input).toEqual({ messages })
    const submitGenerationFeedbackRequest = { generationId: generation.data.id, category: "latency" as const }
    const feedback = await manager.generations.submitFeedback({ submitGenerationFeedbackRequest })
    expect(feedback.data).toEqual({ success: true })
    await expect(client.generations.listGenerationContent({ id: "gen-nothing" })).rejects.toThrow(NotFoundResponseError)
    await expect(client.generations.getGeneration({ id: "gen-nothing" })).rejects.toThrow(NotFoundResponseError)
    await expect(unauthorized.generations.getGeneration({ id: "x" })).rejects.toThrow(UnauthorizedResponseError)
  })

  test("reads credits, activity and analytics", async () => {
    await chat()
    expect((await manager.credits.getCredits()).data.totalUsage).toBeGreaterThan(0)
    expect((await manager.analytics.getUserActivity()).data).toEqual([])
    const { data: meta } = await manager.analytics.getAnalyticsMeta()
    expect(meta.metrics.map(({ name }) => name)).toContain("requests")
    const query = (metrics: string[]) =>
      manager.analytics.queryAnalytics({ requestBody: { metrics, dimensions: ["model"], granularity: "hour" } })
    const { data } = await query(["requests", "usage"])
    // The client's type of a row has no fields.
    expect(data.data).toHaveLength(1)
    expect(data.metadata.rowCount).toBe(1)
    expect(data.metadata.truncated).toBe(false)
    await expect(query(["luck"])).rejects.toThrow(BadRequestResponseError)
    await expect(client.analytics.getAnalyticsMeta()).rejects.toThrow(ForbiddenResponseError)
    await expect(client.credits.getCredits()).rejects.toThrow(ForbiddenResponseError)
  })

  test("reads the datasets, which are empty if the gateway has no data", async () => {
    const apps = await client.datasets.getAppRankings()
    for await (const { result } of apps) expect(result.meta.version).toBe("v1")
    expect((await client.datasets.getRankingsDaily()).meta.version).toBe("v1")
    for await (const { result } of await client.datasets.getSessionCost()) expect(result.meta.version).toBe("v1")
    expect((await client.benchmarks.getBenchmarks()).data).toEqual([])
    expect((await client.classifications.getTaskClassifications()).data.windowDays).toBe(7)
    const tooEarly = client.datasets.getRankingsDaily({ endDate: "2020-01-01" })
    await expect(tooEarly).rejects.toThrow(BadRequestResponseError)
    await expect(unauthorized.benchmarks.getBenchmarks()).rejects.toThrow(UnauthorizedResponseError)
  })
})
