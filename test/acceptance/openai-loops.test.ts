import { APIError, NotFoundError } from "openai"
import type {
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from "openai/resources/chat/completions"
import type { FunctionTool, ResponseInputItem } from "openai/resources/responses/responses"
import { beforeAll, describe, expect, test } from "vitest"
import { ANSWER, AUTHORS, DESCRIPTION, NAME, PARAMETERS, QUESTION, weatherIn } from "./weather.ts"
import { newOrganization, openai, type Organization, receiptOf } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const chatTool = {
  type: "function" as const,
  function: { name: NAME, description: DESCRIPTION, parameters: PARAMETERS },
}
const tool: FunctionTool = {
  type: "function",
  name: NAME,
  description: DESCRIPTION,
  parameters: PARAMETERS,
  strict: true,
}

type Costed = { cost: number }

describe.each(AUTHORS)("openai: a streamed tool loop with the API format of %s", (author) => {
  const model = `${author}/tool-call`

  test("on chat completions, run by the client", async () => {
    const runner = openai(organization.apiKey).chat.completions.runTools({
      model,
      stream: true,
      messages: [{ role: "user", content: QUESTION }],
      tools: [
        {
          type: "function",
          function: {
            ...chatTool.function,
            parse: JSON.parse as (text: string) => { city: string },
            function: weatherIn,
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe(ANSWER)
    const usage = await runner.totalUsage()
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
    expect(usage.completion_tokens).toBeGreaterThan(0)
  })

  test("on chat completions, turn by turn", async () => {
    const client = openai(organization.apiKey)
    const tools: ChatCompletionTool[] = [chatTool]
    const messages: ChatCompletionMessageParam[] = [{ role: "user", content: QUESTION }]
    const first = await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion()
    const called = first.choices[0]?.message.tool_calls?.[0] as ChatCompletionMessageFunctionToolCall | undefined
    expect(called?.function.name).toBe(NAME)
    const result = weatherIn(JSON.parse(called?.function.arguments ?? "") as { city: string })
    messages.push({ role: "assistant", content: null, tool_calls: called ? [called] : [] })
    messages.push({ role: "tool", tool_call_id: called?.id ?? "", content: result })
    const more = { usage: { include: true } }
    const second = await client.chat.completions.stream({ model, messages, tools, ...more }).finalChatCompletion()
    expect(second.choices[0]?.message.content).toBe(ANSWER)
    const { total_cost: cost } = await receiptOf(organization, second.id)
    expect(second.usage).toMatchObject({ cost } satisfies Costed)
  })

  test("on responses", async () => {
    const client = openai(organization.apiKey)
    const input: ResponseInputItem[] = [{ role: "user", content: QUESTION }]
    const first = await client.responses.stream({ model, input, tools: [tool] }).finalResponse()
    const called = first.output.find((item) => item.type === "function_call")
    const result = weatherIn(JSON.parse(called?.arguments ?? "") as { city: string })
    input.push(...(first.output as ResponseInputItem[]))
    input.push({ type: "function_call_output", call_id: called?.call_id ?? "", output: result })
    const second = await client.responses.stream({ model, input, tools: [tool] }).finalResponse()
    expect(second.output_text).toBe(ANSWER)
    const { total_cost: cost } = await receiptOf(organization, second.id)
    expect(second.usage).toMatchObject({ cost } satisfies Costed)
    expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0)
  })

  test("a stream that breaks in the middle throws on chat completions and fails on responses", async () => {
    const client = openai(organization.apiKey)
    const broken = `${author}/cut`
    const chat = client.chat.completions.stream({ model: broken, messages: [{ role: "user", content: QUESTION }] })
    await expect(chat.finalChatCompletion()).rejects.toBeInstanceOf(APIError)
    const response = await client.responses.stream({ model: broken, input: QUESTION }).finalResponse()
    expect(response).toMatchObject({ status: "failed", error: { code: "server_error" } })
  })
})

describe("openai: server tools", () => {
  const user = { role: "user" as const, content: "Europe/Berlin" }
  // The client has no type for server tools.
  const clock = { type: "openrouter:datetime" }

  test("a server tool runs inside one response, non-streamed and streamed", async () => {
    const client = openai(organization.apiKey)
    const body = { model: "sim/tool-call", messages: [user], tools: [clock as unknown as ChatCompletionTool] }
    const completion = await client.chat.completions.create(body)
    const streamed = await client.chat.completions.stream(body).finalChatCompletion()
    for (const { choices } of [completion, streamed]) {
      expect(choices[0]?.finish_reason).toBe("stop")
      expect(choices[0]?.message.content).toMatch(/^The tool answered: .*\d{4}-\d{2}-\d{2}T/s)
    }
  })

  test("a server tool is a separate item of a response", async () => {
    const client = openai(organization.apiKey)
    const body = { model: "sim/tool-call", input: "Europe/Berlin", tools: [clock as unknown as FunctionTool] }
    for (const response of [await client.responses.create(body), await client.responses.stream(body).finalResponse()]) {
      expect(response.output.map(({ type }) => type as string)).toEqual(["openrouter:datetime", "reasoning", "message"])
      expect(response.output_text).toMatch(/^The tool answered: /)
    }
  })
})

test("openai: an unknown model is a NotFoundError on every endpoint", async () => {
  const client = openai(organization.apiKey)
  const model = "sim/none"
  const messages = [{ role: "user" as const, content: "Hello" }]
  for (const call of [
    () => client.chat.completions.create({ model, messages }),
    () => client.chat.completions.stream({ model, messages }).finalChatCompletion(),
    () => client.responses.create({ model, input: "Hello" }),
    () => client.responses.stream({ model, input: "Hello" }).finalResponse(),
    () => client.embeddings.create({ model, input: "Hello" }),
  ]) {
    await expect(call()).rejects.toBeInstanceOf(NotFoundError)
  }
})
