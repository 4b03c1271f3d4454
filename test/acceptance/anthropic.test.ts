import Anthropic, { APIError, AuthenticationError, NotFoundError, RateLimitError } from "@anthropic-ai/sdk"
import { beforeAll, describe, expect, test } from "vitest"
import { ANSWER, AUTHORS, DESCRIPTION, NAME, PARAMETERS, QUESTION, weatherIn } from "./weather.ts"
import { gatewayUrl, newOrganization, type Organization, receiptOf } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

/** The client adds `/v1` itself. */
function anthropic(apiKey: string): Anthropic {
  return new Anthropic({ baseURL: gatewayUrl.replace(/\/v1$/, ""), apiKey, maxRetries: 0, logLevel: "off" })
}

const tools: Anthropic.Tool[] = [{ name: NAME, description: DESCRIPTION, input_schema: PARAMETERS }]
const user = (content: string) => ({ role: "user" as const, content })
const LIMIT = { max_tokens: 1_024 }

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("")
}

describe.each(AUTHORS)("@anthropic-ai/sdk with the API format of %s", (author) => {
  test("reads a non-streamed message with its usage and cost", async () => {
    const { data: message, response } = await anthropic(organization.apiKey)
      .messages.create({ model: `${author}/echo`, messages: [user("Hello there")], ...LIMIT })
      .withResponse()
    expect(message).toMatchObject({ type: "message", role: "assistant", stop_reason: "end_turn", stop_sequence: null })
    expect(textOf(message)).toBe("Hello there")
    const receipt = await receiptOf(organization, response.headers.get("x-generation-id") ?? "")
    expect(message.usage).toMatchObject({ output_tokens: receipt.tokens_completion, cost: receipt.total_cost })
    expect(message.usage.input_tokens).toBeGreaterThan(0)
  })

  test("completes a streamed tool loop", async () => {
    const client = anthropic(organization.apiKey)
    const request = { model: `${author}/tool-call`, tools, ...LIMIT }
    const first = await client.messages.stream({ ...request, messages: [user(QUESTION)] }).finalMessage()
    expect(first.stop_reason).toBe("tool_use")
    const called = first.content.find((block) => block.type === "tool_use")
    expect(called).toMatchObject({ name: NAME, input: { city: QUESTION } })
    const content = weatherIn(called?.input as { city: string })
    const result = { type: "tool_result" as const, tool_use_id: called?.id ?? "", content }
    const messages = [
      user(QUESTION),
      { role: "assistant" as const, content: first.content },
      { role: "user" as const, content: [result] },
    ]
    const second = client.messages.stream({ ...request, messages })
    let streamed = ""
    second.on("text", (text) => (streamed += text))
    const final = await second.finalMessage()
    expect([streamed, textOf(final)]).toEqual([ANSWER, ANSWER])
    expect(final.usage.output_tokens).toBeGreaterThan(0)
  })

  test("runs parallel tool calls", async () => {
    const request = { model: `${author}/parallel-tools`, tools, messages: [user(QUESTION)], ...LIMIT }
    const { content } = await anthropic(organization.apiKey).messages.stream(request).finalMessage()
    const calls = content.filter((block) => block.type === "tool_use")
    expect(calls.map(({ input }) => input)).toEqual(Array.from({ length: 3 }, () => ({ city: QUESTION })))
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
  })

  test.each([false, true])("runs tools itself, streamed: %s", async (stream) => {
    const parse = (input: unknown) => input as { city: string }
    const tool = { name: NAME, description: DESCRIPTION, input_schema: PARAMETERS, parse, run: weatherIn }
    const request = { model: `${author}/tool-call`, tools: [tool], messages: [user(QUESTION)], stream, ...LIMIT }
    const { content } = await anthropic(organization.apiKey).beta.messages.toolRunner(request).runUntilDone()
    expect(content).toMatchObject([{ type: "text", text: ANSWER }])
  })

  test("lists every model page by page", async () => {
    const client = anthropic(organization.apiKey)
    const ids = async (limit: number) => {
      const listed: string[] = []
      for await (const model of client.models.list({ limit })) listed.push(model.id)
      return listed
    }
    const all = await ids(1_000)
    expect(all).toContain(`${author}/echo`)
    expect(await ids(50)).toEqual(all)
  })

  test("streams reasoning before text", async () => {
    const request = { model: `${author}/reasoning`, messages: [user("Why?")], ...LIMIT }
    const message = await anthropic(organization.apiKey).messages.stream(request).finalMessage()
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: expect.stringContaining("I will repeat it.") as string },
      { type: "text", text: "Why?" },
    ])
  })

  test.each(["late-error", "cut"])("throws an APIError at %s in the middle of a stream", async (fault) => {
    const stream = anthropic(organization.apiKey).messages.stream({
      model: `${author}/${fault}`,
      messages: [user("Hello")],
      ...LIMIT,
    })
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(APIError)
  })

  test("counts the tokens of a request before it is sent", async () => {
    const request = { model: `${author}/echo`, messages: [user("Hello there")] }
    expect((await anthropic(organization.apiKey).messages.countTokens(request)).input_tokens).toBeGreaterThan(0)
  })

  test("throws a RateLimitError for a provider's 429", async () => {
    const request = { model: `${author}/status-429`, messages: [user("Hello")], ...LIMIT }
    await expect(anthropic(organization.apiKey).messages.create(request)).rejects.toBeInstanceOf(RateLimitError)
  })
})

test("@anthropic-ai/sdk: an unknown model is a NotFoundError, a wrong key an AuthenticationError", async () => {
  const request = { model: "sim/none", messages: [user("Hello")], ...LIMIT }
  await expect(anthropic(organization.apiKey).messages.create(request)).rejects.toBeInstanceOf(NotFoundError)
  await expect(anthropic("sk-gw-v1-wrong").messages.create(request)).rejects.toBeInstanceOf(AuthenticationError)
})
