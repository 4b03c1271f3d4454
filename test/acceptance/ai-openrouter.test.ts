import { createOpenRouter } from "@openrouter/ai-sdk-provider"
import { APICallError, generateText, jsonSchema, type ProviderMetadata, stepCountIs, streamText, tool } from "ai"
import { beforeAll, describe, expect, test } from "vitest"
import { ANSWER, AUTHORS, DESCRIPTION, PARAMETERS, QUESTION, weatherIn } from "./weather.ts"
import { gatewayUrl, newOrganization, type Organization, usageOf } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const provider = ({ apiKey }: Organization) => createOpenRouter({ baseURL: gatewayUrl, apiKey })
const weather = tool({
  description: DESCRIPTION,
  inputSchema: jsonSchema<{ city: string }>(PARAMETERS),
  execute: weatherIn,
})

function costOf({ providerMetadata }: { providerMetadata: ProviderMetadata | undefined }): number {
  const metadata = providerMetadata?.["openrouter"] as { usage: { cost: number } } | undefined
  return metadata?.usage.cost ?? Number.NaN
}

describe.each(AUTHORS)("@openrouter/ai-sdk-provider with the API format of %s", (author) => {
  test("completes a streamed tool loop and reads the cost of each step", async () => {
    const own = await newOrganization()
    const result = streamText({
      model: provider(own).chat(`${author}/tool-call`, { usage: { include: true } }),
      prompt: QUESTION,
      tools: { weather },
      stopWhen: stepCountIs(4),
    })
    let streamed = ""
    for await (const text of result.textStream) streamed += text
    expect(streamed).toBe(ANSWER)
    const steps = await result.steps
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"])
    const costs = steps.map(costOf)
    expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(await usageOf(own), 9)
    expect((await result.usage).outputTokens).toBeGreaterThan(0)
  })

  test("streams reasoning separately from text", async () => {
    const result = streamText({ model: provider(organization).chat(`${author}/reasoning`), prompt: "Why?" })
    expect(await result.text).toBe("Why?")
    expect(await result.reasoningText).toContain("I will repeat it.")
  })
})

test("@openrouter/ai-sdk-provider: an unknown model is an API error with status 404", async () => {
  const pending = generateText({ model: provider(organization).chat("sim/none"), prompt: "Hello", maxRetries: 0 })
  const failure: unknown = await pending.catch((error: unknown) => error)
  expect(APICallError.isInstance(failure)).toBe(true)
  expect(failure).toMatchObject({
    statusCode: 404,
    isRetryable: false,
    message: expect.stringMatching(/sim\/none/) as string,
  })
})
