import { createOpenAI } from "@ai-sdk/openai"
import { APICallError, embed, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai"
import { beforeAll, describe, expect, test } from "vitest"
import { ANSWER, AUTHORS, DESCRIPTION, PARAMETERS, QUESTION, weatherIn } from "./weather.ts"
import { gatewayUrl, newOrganization, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const provider = () => createOpenAI({ baseURL: gatewayUrl, apiKey: organization.apiKey })
const weather = tool({
  description: DESCRIPTION,
  inputSchema: jsonSchema<{ city: string }>(PARAMETERS),
  execute: weatherIn,
})

const endpoints = {
  responses: (model: string) => provider()(model),
  chat: (model: string) => provider().chat(model),
}

describe.each(AUTHORS)("@ai-sdk/openai with the API format of %s", (author) => {
  test.each(["responses", "chat"] as const)("completes a streamed tool loop on %s", async (endpoint) => {
    const result = streamText({
      model: endpoints[endpoint](`${author}/tool-call`),
      prompt: QUESTION,
      tools: { weather },
      stopWhen: stepCountIs(4),
      providerOptions: { openai: { store: false } },
    })
    expect(await result.text).toBe(ANSWER)
    const steps = await result.steps
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"])
    for (const { usage } of steps) {
      expect(usage.inputTokens).toBeGreaterThan(0)
      expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))
    }
  })
})

test.each(["responses", "chat"] as const)("@ai-sdk/openai: an unknown model is a 404 on %s", async (endpoint) => {
  const pending = generateText({ model: endpoints[endpoint]("sim/none"), prompt: "Hello", maxRetries: 0 })
  const failure: unknown = await pending.catch((error: unknown) => error)
  expect(APICallError.isInstance(failure)).toBe(true)
  expect(failure).toMatchObject({ statusCode: 404, message: expect.stringMatching(/sim\/none/) as string })
})

test("@ai-sdk/openai: embeddings arrive with their usage", async () => {
  const { embedding, usage } = await embed({ model: provider().embedding("sim/embed"), value: "Hello there" })
  expect(embedding).toHaveLength(256)
  expect(usage.tokens).toBe(3)
})
