import { createGoogleGenerativeAI } from "@ai-sdk/google"
import { ApiError, GoogleGenAI, type Part } from "@google/genai"
import { APICallError, embedMany, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai"
import { beforeAll, describe, expect, test } from "vitest"
import { ANSWER, AUTHORS, DESCRIPTION, NAME, PARAMETERS, QUESTION, weatherIn } from "./weather.ts"
import { gatewayUrl, newOrganization, type Organization, receiptOf } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

/** The client adds `/v1` or `/v1beta` itself. */
function google(apiKey: string, apiVersion = "v1"): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gatewayUrl.replace(/\/v1$/, ""), apiVersion } })
}

const tools = [
  { functionDeclarations: [{ name: NAME, description: DESCRIPTION, parametersJsonSchema: PARAMETERS as unknown }] },
]
const user = (...parts: Part[]) => ({ role: "user", parts })
const toResult = ({ functionCall: call }: Part): Part => ({
  functionResponse: { name: NAME, response: { output: weatherIn(call?.args as { city: string }) } },
})

describe.each(AUTHORS)("@google/genai with the API format of %s", (author) => {
  test("reads a response with its usage and cost", async () => {
    const response = await google(organization.apiKey).models.generateContent({
      model: `${author}/echo`,
      contents: "Hello there",
    })
    expect(response.text).toBe("Hello there")
    const receipt = await receiptOf(organization, response.responseId ?? "")
    expect(response.usageMetadata).toMatchObject({
      candidatesTokenCount: receipt.tokens_completion,
      cost: receipt.total_cost,
    })
  })

  test.each(["tool-call", "parallel-tools"])("completes a streamed loop of %s", async (model) => {
    const { models } = google(organization.apiKey)
    const request = { model: `${author}/${model}`, config: { tools } }
    const called: Part[] = []
    for await (const event of await models.generateContentStream({ ...request, contents: QUESTION }))
      called.push(...(event.candidates?.[0]?.content?.parts ?? []))
    const calls = called.filter(({ functionCall }) => functionCall)
    expect(calls).toHaveLength(model === "tool-call" ? 1 : 3)
    const contents = [user({ text: QUESTION }), { role: "model", parts: called }, user(...calls.map(toResult))]
    let streamed = ""
    for await (const event of await models.generateContentStream({ ...request, contents })) streamed += event.text ?? ""
    expect(streamed).toContain(weatherIn({ city: QUESTION }))
  })

  test("keeps a conversation with a model that reasons", async () => {
    const config = { thinkingConfig: { includeThoughts: true } }
    const chat = google(organization.apiKey).chats.create({ model: `${author}/reasoning`, config })
    const first = await chat.sendMessage({ message: "Why?" })
    expect(first.candidates?.[0]?.content?.parts?.[0]).toMatchObject({
      thought: true,
      text: expect.stringContaining("I will repeat it.") as string,
    })
    let second = ""
    for await (const event of await chat.sendMessageStream({ message: "And now?" })) second += event.text ?? ""
    const third = await chat.sendMessage({ message: "At last?" })
    expect([first.text, second, third.text]).toEqual(["Why?", "And now?", "At last?"])
  })

  test.each(["late-error", "cut"])("throws an ApiError at %s in the middle of a stream", async (fault) => {
    const events = await google(organization.apiKey).models.generateContentStream({
      model: `${author}/${fault}`,
      contents: "Hello",
    })
    const read = async () => {
      for await (const _ of events);
    }
    await expect(read()).rejects.toBeInstanceOf(ApiError)
  })
})

describe.each(["v1", "v1beta"])("@google/genai with the version %s", (version) => {
  test("counts tokens, creates embeddings and lists models page by page", async () => {
    const { models } = google(organization.apiKey, version)
    const { totalTokens } = await models.countTokens({ model: "sim/echo", contents: "Hello there" })
    expect(totalTokens).toBeGreaterThan(0)
    const { embeddings } = await models.embedContent({ model: "sim/embed", contents: ["fox", "dog"] })
    expect(embeddings?.map(({ values }) => values?.length)).toEqual([256, 256])
    const names: (string | undefined)[] = []
    for await (const model of await models.list({ config: { pageSize: 10 } })) names.push(model.name)
    expect(names).toContain("models/sim/echo")
    expect(new Set(names).size).toBe(names.length)
    expect(await models.get({ model: "sim/echo" })).toMatchObject({ name: "models/sim/echo" })
  })

  test("reads a stream that pauses longer than the heartbeat", async () => {
    let text = ""
    const request = { model: "sim/slow", contents: "Hello there" }
    for await (const event of await google(organization.apiKey).models.generateContentStream(request))
      text += event.text ?? ""
    expect(text).toBe("Hello there")
  })

  test.each([
    ["sim/none", 404],
    ["sim/status-429", 429],
  ])("throws an ApiError for %s with the status %s", async (model, status) => {
    const pending = google(organization.apiKey).models.generateContent({ model, contents: "Hello" })
    await expect(pending).rejects.toMatchObject({ name: "ApiError", status })
  })
})

describe.each(AUTHORS)("@ai-sdk/google with the API format of %s", (author) => {
  const provider = () =>
    createGoogleGenerativeAI({ apiKey: organization.apiKey, baseURL: gatewayUrl.replace(/\/v1$/, "/v1beta") })
  const weather = tool({
    description: DESCRIPTION,
    inputSchema: jsonSchema<{ city: string }>(PARAMETERS),
    execute: weatherIn,
  })

  test("completes a streamed tool loop", async () => {
    const model = provider()(`${author}/tool-call`)
    const result = streamText({ model, prompt: QUESTION, tools: { weather }, stopWhen: stepCountIs(4) })
    expect(await result.text).toContain(ANSWER.split(": ")[1])
    const steps = await result.steps
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"])
    for (const { usage } of steps) expect(usage.outputTokens).toBeGreaterThan(0)
  })

  test("creates embeddings, and an unknown model is an API error with status 404", async () => {
    const { embeddings } = await embedMany({ model: provider().textEmbeddingModel("sim/embed"), values: ["a", "b"] })
    expect(embeddings).toHaveLength(2)
    const pending = generateText({ model: provider()("sim/none"), prompt: "Hello", maxRetries: 0 })
    const failure: unknown = await pending.catch((error: unknown) => error)
    expect(APICallError.isInstance(failure)).toBe(true)
    expect(failure).toMatchObject({ statusCode: 404, message: expect.stringMatching(/sim\/none/) as string })
  })
})
