import type OpenAI from "openai"
import { APIError, AuthenticationError, BadRequestError, NotFoundError, RateLimitError } from "openai"
import { beforeAll, describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { azureOpenai, newKey, newOrganization, openai, type Organization, receiptOf, usageOf } from "./world.ts"

let organization: Organization
let client: OpenAI

beforeAll(async () => {
  organization = await newOrganization()
  client = openai(organization.apiKey)
})

const user = (content: string) => [{ role: "user" as const, content }]

const weather = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}
const time = { ...weather, function: { ...weather.function, name: "time", description: "The time in a city." } }

describe("the openai client", () => {
  test("reads a non-streamed response", async () => {
    const result = await client.chat.completions.create({ model: "sim/echo", messages: user("Hello there") })
    expect(result.object).toBe("chat.completion")
    expect(result.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Hello there" } })
    expect(result.usage?.total_tokens).toBeGreaterThan(0)
  })

  test.each([
    ["usage that was not requested", undefined, 1],
    ["usage that was requested", { include_usage: true }, 1],
    ["no usage that was declined", { include_usage: false }, 0],
  ])("reads a stream with %s", async (_, streamOptions, usages) => {
    const stream = await client.chat.completions.create({
      model: "sim/echo",
      messages: user("Hello there, all of you"),
      stream: true,
      ...(streamOptions && { stream_options: streamOptions }),
    })
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Hello there, all of you")
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).toEqual(["stop"])
    const usage = chunks.filter((chunk) => chunk.usage)
    expect(usage).toHaveLength(usages)
    for (const chunk of usage) expect(chunk.choices).toEqual([])
  })

  test.each([
    ["sim/tool-call", 1],
    ["sim/parallel-tools", 2],
  ])("calls tools of %s and sends their results", async (model, calls) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = user("Paris")
    const tools = [weather, time]
    const first = await client.chat.completions.create({ model, messages, tools })
    const message = first.choices[0]?.message
    expect(first.choices[0]?.finish_reason).toBe("tool_calls")
    expect(message?.tool_calls).toHaveLength(calls)
    if (!message?.tool_calls) throw new Error("No tool was called.")
    messages.push(message)
    for (const call of message.tool_calls) {
      if (call.type !== "function") throw new Error("Not a function was called.")
      expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String) as string })
      messages.push({ role: "tool", tool_call_id: call.id, content: "Sunny" })
    }
    const second = await client.chat.completions.create({ model, messages, tools })
    expect(second.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "The tool answered: Sunny" } })
  })

  test.each(["sim/tool-call", "sim/parallel-tools"])("runs the streamed tools of %s itself", async (model) => {
    const inputs: unknown[] = []
    const runner = client.chat.completions.runTools({
      model,
      stream: true,
      messages: user("Paris"),
      tools: [
        {
          type: "function",
          function: {
            ...weather.function,
            parse: JSON.parse as (text: string) => { city: string },
            function: (input: { city: string }) => {
              inputs.push(input)
              return "Sunny"
            },
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe("The tool answered: Sunny")
    expect(inputs.length).toBe(model === "sim/tool-call" ? 1 : 3)
    for (const input of inputs) expect(input).toEqual({ city: expect.any(String) as string })
  })

  test.each([false, true])("parses a response in a JSON schema, streamed: %s", async (streamed) => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, degrees: { type: "integer" } },
      required: ["city", "degrees"],
      additionalProperties: false,
    }
    const body = {
      model: "sim/json",
      messages: user("Paris"),
      response_format: { type: "json_schema" as const, json_schema: { name: "weather", schema, strict: true } },
    }
    const result = streamed
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.parse(body)
    expect(result.choices[0]?.message.parsed).toEqual({
      city: expect.any(String) as string,
      degrees: expect.any(Number) as number,
    })
  })

  test("disconnects in the middle of a stream and is charged once for the delivered tokens", async () => {
    const own = await newOrganization()
    const controller = new AbortController()
    const total = 500
    const { data: stream, response } = await openai(own.apiKey)
      .chat.completions.create(
        { model: "sim/paced", messages: user("word ".repeat(total).slice(0, total * 4)), stream: true },
        { signal: controller.signal },
      )
      .withResponse()
    let delivered = 0
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) delivered += 1
      if (delivered === 20) controller.abort()
    }
    const receipt = await eventually(() => receiptOf(own, response.headers.get("x-generation-id") ?? ""))
    expect(receipt).toMatchObject({ ending: "cancelled", cancelled: true })
    expect(receipt.tokens_completion).toBeGreaterThanOrEqual(delivered)
    expect(receipt.tokens_completion).toBeLessThan(total)
    expect(receipt.total_cost).toBeGreaterThan(0)
    expect(await usageOf(own)).toBe(receipt.total_cost)
  })

  test("lists the models", async () => {
    const ids: string[] = []
    for await (const model of client.models.list()) ids.push(model.id)
    expect(ids).toContain("sim/echo")
  })

  test("retrieves one model", async () => {
    const model = await client.models.retrieve("sim/echo")
    expect(model).toMatchObject({ id: "sim/echo", object: "model", owned_by: "sim" })
    await expect(client.models.retrieve("sim/nothing")).rejects.toMatchObject({ status: 404 })
  })
})

describe("the openai client gets", () => {
  const hello = (asker: OpenAI, model = "sim/echo", more: object = {}) =>
    asker.chat.completions.create({ model, messages: user("Hello"), ...more })

  test("401 for an invalid key", async () => {
    await expect(hello(openai("sk-gw-v1-wrong"))).rejects.toBeInstanceOf(AuthenticationError)
  })

  test("404 for an unknown model", async () => {
    await expect(hello(client, "sim/none")).rejects.toBeInstanceOf(NotFoundError)
  })

  test.each([false, true])("429 from a provider, streamed: %s", async (stream) => {
    const failure: unknown = await hello(client, "sim/status-429", { stream }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(RateLimitError)
    expect(failure).toMatchObject({ status: 429, code: 429 })
  })

  test("402 for a key whose limit is too small", async () => {
    const key = await newKey(organization, { limit: 0.000001 })
    await expect(hello(openai(key))).rejects.toMatchObject({
      status: 402,
      message: expect.stringMatching(/limit/) as string,
    })
  })

  test("400 with the name of the field", async () => {
    const failure: unknown = await hello(client, "sim/echo", { temperature: 3 }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BadRequestError)
    expect(failure).toMatchObject({ message: expect.stringMatching(/temperature/) as string })
  })

  // An idle provider is in the runtime tests, which have a short idle timeout.
  test.each(["sim/late-error", "sim/cut"])(
    "an APIError for %s in the middle of a stream, without a finish reason",
    async (model) => {
      const stream = await client.chat.completions.create({ model, messages: user("Hello"), stream: true })
      const seen: OpenAI.ChatCompletionChunk[] = []
      const read = async () => {
        for await (const chunk of stream) seen.push(chunk)
      }
      await expect(read()).rejects.toBeInstanceOf(APIError)
      expect(seen.length).toBeGreaterThan(0)
      expect(seen.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).toEqual([])
    },
  )
})

describe("text completions of the openai client", () => {
  const prompt = "Three rivers of Europe"

  test("a response has the text, the finish reason and the charged usage", async () => {
    const completion = await client.completions.create({ model: "sim/echo", prompt: [prompt], max_tokens: 50 })
    expect(completion.object).toBe("text_completion")
    expect(completion.choices).toMatchObject([{ text: prompt, finish_reason: "stop", index: 0 }])
    expect(completion.usage?.total_tokens).toBeGreaterThan(0)
  })

  test("a stream has the text in chunks, and the usage in the last one", async () => {
    const stream = await client.completions.create({ model: "sim/echo", prompt, stream: true })
    const chunks: OpenAI.Completion[] = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.length).toBeGreaterThan(2)
    expect(chunks.map(({ choices }) => choices[0]?.text ?? "").join("")).toBe(prompt)
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0)
  })

  test.each(["sim/late-error", "sim/cut"])("an APIError for %s in the middle of a stream", async (model) => {
    const stream = await client.completions.create({ model, prompt, stream: true })
    const read = async () => {
      for await (const _ of stream);
    }
    await expect(read()).rejects.toBeInstanceOf(APIError)
  })
})

describe("the Azure class of the openai client", () => {
  test("streams a chat of the model that a request names", async () => {
    const stream = await azureOpenai(organization.apiKey).chat.completions.create({
      model: "sim/echo",
      messages: user("Hello there"),
      stream: true,
    })
    let text = ""
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ""
    expect(text).toBe("Hello there")
  })

  test("calls the deployment of the client, whatever model a request names", async () => {
    const deployed = azureOpenai(organization.apiKey, "sim/echo")
    const result = await deployed.chat.completions.create({ model: "gpt-4o", messages: user("Hello there") })
    expect(result).toMatchObject({ model: "sim/echo", choices: [{ message: { content: "Hello there" } }] })
  })

  test("gets embeddings, responses and models", async () => {
    const azure = azureOpenai(organization.apiKey)
    const { data } = await azure.embeddings.create({ model: "sim/embed", input: "Hello" })
    expect(data[0]?.embedding.length).toBeGreaterThan(0)
    expect((await azure.responses.create({ model: "sim/echo", input: "Hello" })).output_text).toBe("Hello")
    expect((await azure.models.list()).data.map(({ id }) => id)).toContain("sim/echo")
  })

  test("gets the errors of the gateway", async () => {
    const azure = azureOpenai("sk-gw-v1-nothing")
    const call = azure.chat.completions.create({ model: "sim/echo", messages: user("Hello") })
    await expect(call).rejects.toThrow(AuthenticationError)
  })
})
