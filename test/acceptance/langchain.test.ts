import { AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages"
import { tool } from "@langchain/core/tools"
import { ChatOpenAI, OpenAI } from "@langchain/openai"
import { beforeAll, describe, expect, test } from "vitest"
import { ANSWER, AUTHORS, DESCRIPTION, NAME, PARAMETERS, QUESTION, weatherIn } from "./weather.ts"
import { gatewayUrl, newOrganization, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

function chat(model: string, useResponsesApi: boolean): ChatOpenAI {
  const configuration = { baseURL: gatewayUrl }
  return new ChatOpenAI({ model, useResponsesApi, apiKey: organization.apiKey, maxRetries: 0, configuration })
}

const weather = tool((input) => weatherIn(input as { city: string }), {
  name: NAME,
  description: DESCRIPTION,
  schema: PARAMETERS,
})

async function collect(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let message: AIMessageChunk | undefined
  for await (const chunk of stream) message = message ? message.concat(chunk) : chunk
  return message ?? new AIMessageChunk("")
}

describe.each(AUTHORS)("@langchain/openai with the API format of %s", (author) => {
  test.each([
    ["chat completions", false],
    ["responses", true],
  ])("completes a streamed tool loop on %s", async (_, useResponsesApi) => {
    const model = chat(`${author}/tool-call`, useResponsesApi).bindTools([weather])
    const question = new HumanMessage(QUESTION)
    const first = await collect(await model.stream([question]))
    const [called] = first.tool_calls ?? []
    expect(called).toMatchObject({ name: NAME, args: { city: QUESTION } })
    const content = await weather.invoke(called?.args ?? {})
    const result = new ToolMessage({ content, tool_call_id: called?.id ?? "" })
    const second = await collect(await model.stream([question, first, result]))
    expect(second.text).toBe(ANSWER)
    const counted = expect.toSatisfy((tokens: number) => tokens > 0) as number
    expect(second.usage_metadata).toMatchObject({
      input_tokens: counted,
      output_tokens: counted,
      total_tokens: counted,
    })
  })
})

test.each([false, true])(
  "@langchain/openai: an unknown model is MODEL_NOT_FOUND, responses: %s",
  async (useResponsesApi) => {
    const failure: unknown = await chat("sim/none", useResponsesApi)
      .invoke("Hello")
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ status: 404, lc_error_code: "MODEL_NOT_FOUND" })
  },
)

test("@langchain/openai: a text completion is invoked and streamed", async () => {
  const llm = new OpenAI({
    model: "sim/echo",
    apiKey: organization.apiKey,
    maxRetries: 0,
    configuration: { baseURL: gatewayUrl },
  })
  expect(await llm.invoke("Hello there")).toBe("Hello there")
  let text = ""
  for await (const piece of await llm.stream("Hello there")) text += piece
  expect(text).toBe("Hello there")
})
