import { createAnthropic } from "@ai-sdk/anthropic"
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai"
import { beforeAll, describe, expect, test } from "vitest"
import { ANSWER, AUTHORS, DESCRIPTION, PARAMETERS, QUESTION, weatherIn } from "./weather.ts"
import { gatewayUrl, newOrganization, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const model = (id: string) => createAnthropic({ baseURL: gatewayUrl, apiKey: organization.apiKey })(id)
const weather = tool({
  description: DESCRIPTION,
  inputSchema: jsonSchema<{ city: string }>(PARAMETERS),
  execute: weatherIn,
})

describe.each(AUTHORS)("@ai-sdk/anthropic with the API format of %s", (author) => {
  test("completes a streamed tool loop", async () => {
    const result = streamText({
      model: model(`${author}/tool-call`),
      prompt: QUESTION,
      tools: { weather },
      stopWhen: stepCountIs(4),
      maxOutputTokens: 1_024,
    })
    expect(await result.text).toBe(ANSWER)
    const steps = await result.steps
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"])
    for (const { usage } of steps) expect(usage.outputTokens).toBeGreaterThan(0)
  })
})

test("@ai-sdk/anthropic: an unknown model is an API error with status 404", async () => {
  const pending = generateText({ model: model("sim/none"), prompt: "Hello", maxRetries: 0 })
  const failure: unknown = await pending.catch((error: unknown) => error)
  expect(APICallError.isInstance(failure)).toBe(true)
  expect(failure).toMatchObject({ statusCode: 404, message: expect.stringMatching(/sim\/none/) as string })
})
