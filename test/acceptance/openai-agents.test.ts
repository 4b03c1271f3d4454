import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents"
import { NotFoundError } from "openai"
import { beforeAll, describe, expect, test } from "vitest"
import { ANSWER, AUTHORS, DESCRIPTION, NAME, PARAMETERS, QUESTION, weatherIn } from "./weather.ts"
import { gatewayUrl, newOrganization, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const weather = tool({
  name: NAME,
  description: DESCRIPTION,
  parameters: PARAMETERS,
  strict: true,
  execute: (input) => weatherIn(input as { city: string }),
})

function runner(useResponses: boolean): Runner {
  const modelProvider = new OpenAIProvider({ baseURL: gatewayUrl, apiKey: organization.apiKey, useResponses })
  return new Runner({ modelProvider, tracingDisabled: true })
}

const endpoints = [
  ["responses", true],
  ["chat completions", false],
] as const

describe.each(AUTHORS)("@openai/agents with the API format of %s", (author) => {
  test.each(endpoints)("completes a streamed run with a tool on %s", async (_, useResponses) => {
    const agent = new Agent({
      name: "Reporter",
      instructions: "Be brief.",
      model: `${author}/tool-call`,
      tools: [weather],
    })
    const result = await runner(useResponses).run(agent, QUESTION, { stream: true })
    let streamed = ""
    for await (const text of result.toTextStream({ compatibleWithNodeStreams: false })) streamed += text
    await result.completed
    expect(streamed).toBe(ANSWER)
    expect(result.finalOutput).toBe(ANSWER)
    const { requests, inputTokens, outputTokens, totalTokens } = result.state.usage
    expect(requests).toBe(2)
    expect(outputTokens).toBeGreaterThan(0)
    expect(totalTokens).toBe(inputTokens + outputTokens)
  })
})

test.each(endpoints)("@openai/agents: an unknown model is a NotFoundError on %s", async (_, useResponses) => {
  const agent = new Agent({ name: "Reporter", model: "sim/none" })
  await expect(runner(useResponses).run(agent, "Hello")).rejects.toBeInstanceOf(NotFoundError)
})
