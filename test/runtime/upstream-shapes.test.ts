import http from "node:http"
import type { AddressInfo } from "node:net"
import Anthropic from "@anthropic-ai/sdk"
import { createOpenAI } from "@ai-sdk/openai"
import { OpenRouter } from "@openrouter/sdk"
import { generateText, jsonSchema, streamText, tool } from "ai"
import OpenAI from "openai"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { chargeFaults, faultsOf, type Receipt } from "../fuzz/frames/check.ts"
import { type Gateway, newModel, type Organization, PROVIDER_MODELS, startGateway } from "./gateway.ts"
import { MESSAGES_DOCUMENTS, MESSAGES_STREAMS, RESPONSES_DOCUMENTS, RESPONSES_STREAMS } from "./native-shapes.ts"
import { toNano } from "./setup.ts"
import { SERVED_DOCUMENTS, SERVED_STREAMS } from "./served-shapes.ts"
import { DOCUMENTS, type Outcome, type Shape, STREAMS } from "./shapes.ts"

/**
 * Provider responses and what clients get: every shape read by four unmodified clients, streamed and as JSON. A client
 * gets the correct response with the charged usage, or an error.
 */

let gateway: Gateway
let upstream: http.Server
let organization: Organization
let shown: Shape

beforeAll(async () => {
  upstream = http.createServer((request, response) => {
    request.resume().on("end", () => {
      const { type = "text/event-stream" } = shown
      response.writeHead(200, type === "" ? {} : { "content-type": type })
      if (!shown.breaks) response.end(shown.body)
      else response.write(shown.body, () => setTimeout(() => response.destroy(), 20))
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`
  gateway = await startGateway(baseUrl, { CUSTOM_PROVIDERS: JSON.stringify(providersAt(baseUrl)) })
  organization = await gateway.newOrganization()
})

/** A provider for each API format. */
function providersAt(baseUrl: string) {
  const common = { base_url: baseUrl, api_key: "sk-scripted", models: PROVIDER_MODELS }
  return [
    { slug: "scripted", ...common },
    { slug: "scripted-messages", wire: "anthropic", ...common },
    { slug: "scripted-responses", responses: true, ...common },
  ]
}

const modelOf = ({ wire }: Shape) => (wire ? newModel().replace("scripted", `scripted-${wire}`) : newModel())

afterAll(async () => {
  upstream.closeAllConnections()
  upstream.close()
  await gateway.stop()
})

type Read = {
  text: string
  /** Undefined if the client does not read it. */
  reasoning: string | undefined
  tools: { name: string; args: string }[]
  prompt: number
  completion: number
  model: string
}

const user = [{ role: "user" as const, content: "Hi" }]
const baseURL = () => `${gateway.url}/api/v1`
const PARAMETERS = { type: "object" as const, properties: { city: { type: "string" as const } } }
const chatTools = [{ type: "function" as const, function: { name: "weather", parameters: PARAMETERS } }]

type Client = (model: string, isStreamed: boolean) => Promise<Read>

const openai: Client = async (model, isStreamed) => {
  const client = new OpenAI({ baseURL: baseURL(), apiKey: organization.apiKey, maxRetries: 0, logLevel: "off" })
  const body = { model, messages: user, tools: chatTools }
  const completion = isStreamed
    ? await client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
    : await client.chat.completions.create(body)
  const message = completion.choices[0]?.message as OpenAI.ChatCompletionMessage & { reasoning?: string }
  expect(completion.choices[0]?.finish_reason).toBe(message.tool_calls?.length ? "tool_calls" : "stop")
  const tools = (message.tool_calls ?? []).map((call) => {
    if (call.type !== "function") throw new Error("The call is of another type.")
    expect(call.id).not.toBe("")
    return { name: call.function.name, args: call.function.arguments }
  })
  return {
    text: message.content ?? "",
    // This client's helper keeps only the last piece of an unknown field.
    reasoning: isStreamed ? undefined : (message.reasoning ?? ""),
    tools,
    prompt: completion.usage?.prompt_tokens ?? -1,
    completion: completion.usage?.completion_tokens ?? -1,
    model: completion.model,
  }
}

const openrouter: Client = async (model, isStreamed) => {
  const client = new OpenRouter({
    serverURL: baseURL(),
    apiKey: organization.apiKey,
    retryConfig: { strategy: "none" },
  })
  const read: Read = { text: "", reasoning: "", tools: [], prompt: -1, completion: -1, model: "" }
  const request = { model, messages: user, tools: chatTools }
  if (!isStreamed) {
    const result = await client.chat.send({ chatRequest: { ...request, stream: false } })
    if (!("choices" in result)) throw new Error("A stream came.")
    const { content, reasoning, toolCalls } = result.choices[0]?.message ?? {}
    const tools = (toolCalls ?? []).map((call) => ({ name: call.function.name, args: call.function.arguments }))
    const { promptTokens: prompt = -1, completionTokens: completion = -1 } = result.usage ?? {}
    return {
      text: typeof content === "string" ? content : "",
      reasoning: reasoning ?? "",
      tools,
      prompt,
      completion,
      model: result.model,
    }
  }
  const stream = await client.chat.send({ chatRequest: { ...request, stream: true } })
  if ("choices" in stream) throw new Error("A document came.")
  const ids = new Set<string>()
  for await (const chunk of stream) {
    ids.add(chunk.id)
    read.model = chunk.model
    if (chunk.error || chunk.choices[0]?.finishReason === "error") throw new Error(chunk.error?.message)
    const delta = chunk.choices[0]?.delta
    read.text += delta?.content ?? ""
    read.reasoning += delta?.reasoning ?? ""
    for (const call of delta?.toolCalls ?? []) {
      const known = (read.tools[call.index] ??= { name: "", args: "" })
      known.name += call.function?.name ?? ""
      known.args += call.function?.arguments ?? ""
    }
    if (chunk.usage) {
      read.prompt = chunk.usage.promptTokens
      read.completion = chunk.usage.completionTokens
    }
  }
  expect(ids.size).toBe(1)
  return read
}

const anthropic: Client = async (model, isStreamed) => {
  const client = new Anthropic({
    baseURL: `${gateway.url}/api`,
    apiKey: organization.apiKey,
    maxRetries: 0,
    logLevel: "off",
  })
  const tools = [{ name: "weather", input_schema: PARAMETERS }]
  const body = { model, messages: user, tools, max_tokens: 1_000 }
  const message = isStreamed ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
  const hasCall = message.content.some(({ type }) => type === "tool_use")
  expect(message.stop_reason).toBe(hasCall ? "tool_use" : "end_turn")
  expect(message.role).toBe("assistant")
  expect(message.id).not.toBe("")
  const textOf = (type: "text" | "thinking") =>
    message.content
      .map((block) => (block.type === type ? (block as unknown as Record<string, string>)[type] : ""))
      .join("")
  return {
    text: textOf("text"),
    reasoning: textOf("thinking"),
    tools: message.content.flatMap((block) =>
      block.type === "tool_use" ? [{ name: block.name, args: JSON.stringify(block.input) }] : [],
    ),
    prompt: message.usage.input_tokens,
    completion: message.usage.output_tokens,
    model: message.model,
  }
}

const aiSdk: Client = async (model, isStreamed) => {
  const provider = createOpenAI({ baseURL: baseURL(), apiKey: organization.apiKey })
  const request = {
    model: provider.chat(model),
    prompt: "Hi",
    maxRetries: 0,
    tools: { weather: tool({ inputSchema: jsonSchema<{ city: string }>(PARAMETERS), execute: () => "Sunny" }) },
  }
  const toRead = (
    text: string,
    calls: readonly { toolName: string; input: unknown }[],
    usage: { inputTokens: number | undefined; outputTokens: number | undefined },
  ) => ({
    text,
    reasoning: undefined,
    tools: calls.map(({ toolName, input }) => ({ name: toolName, args: JSON.stringify(input) })),
    prompt: usage.inputTokens ?? -1,
    completion: usage.outputTokens ?? -1,
    model,
  })
  if (!isStreamed) {
    const result = await generateText(request)
    return toRead(result.text, result.toolCalls, result.usage)
  }
  let failure: unknown
  const result = streamText({ ...request, onError: ({ error }) => void (failure = error) })
  await result.consumeStream({ onError: (error) => (failure = error) })
  if (failure !== undefined) throw failure instanceof Error ? failure : new Error(JSON.stringify(failure))
  const reason = await result.finishReason
  if (reason !== "stop" && reason !== "tool-calls") throw new Error(`The stream ended with ${reason}.`)
  const [text, calls, usage] = [await result.text, await result.toolCalls, await result.usage]
  return toRead(text, calls, usage)
}

const responsesApi: Client = async (model, isStreamed) => {
  const client = new OpenAI({ baseURL: baseURL(), apiKey: organization.apiKey, maxRetries: 0, logLevel: "off" })
  const tools = [{ type: "function" as const, name: "weather", parameters: PARAMETERS, strict: null }]
  const body = { model, input: "Hi", tools }
  const streamed = { text: "", args: "" }
  const read = async () => {
    const stream = client.responses.stream(body)
    stream.on("response.output_text.delta", (event) => void (streamed.text += event.delta))
    stream.on("response.function_call_arguments.delta", (event) => void (streamed.args += event.delta))
    return stream.finalResponse()
  }
  const response = isStreamed ? await read() : await client.responses.create(body)
  if (response.status !== "completed") throw new Error(`The response is ${response.status}: ${response.error?.message}`)
  const tools_ = response.output.flatMap((item) =>
    item.type === "function_call" ? [{ name: item.name, args: item.arguments }] : [],
  )
  if (isStreamed) {
    expect(streamed.text, "the deltas").toBe(response.output_text)
    expect(streamed.args, "the deltas of arguments").toBe(tools_.map(({ args }) => args).join(""))
  }
  return {
    text: response.output_text,
    reasoning: response.output
      .flatMap((item) => (item.type === "reasoning" ? [...(item.content ?? []), ...item.summary] : []))
      .map(({ text }) => text)
      .join(""),
    tools: tools_,
    prompt: response.usage?.input_tokens ?? -1,
    completion: response.usage?.output_tokens ?? -1,
    model: response.model,
  }
}

const CLIENTS: [string, Client][] = [
  ["openai", openai],
  ["openai responses", responsesApi],
  ["@openrouter/sdk", openrouter],
  ["@anthropic-ai/sdk", anthropic],
  ["ai", aiSdk],
]

async function check(client: Client, isStreamed: boolean, shape: Shape): Promise<void> {
  shown = shape
  const model = modelOf(shape)
  const before = await spentNano()
  const read = await client(model, isStreamed).catch((error: unknown) => error as Error)
  if (shape.fails) {
    expect(read).toBeInstanceOf(Error)
    return
  }
  if (read instanceof Error) throw read
  expectOutcome(read, shape)
  expect(read.model).toBe(model)
  expect((await spentNano()) - before, "what was charged").toBe(read.prompt * 1_000 + read.completion * 2_000)
}

async function spentNano(): Promise<number> {
  const { usage } = await gateway.get<{ usage: number }>(organization.apiKey, "/key")
  return toNano(usage)
}

function expectOutcome({ text, reasoning, tools, completion }: Read, outcome: Outcome): void {
  expect(text).toBe(outcome.text ?? "")
  expect(tools).toEqual(outcome.tools ?? (outcome.tool ? [outcome.tool] : []))
  if (outcome.completion !== undefined) expect(completion).toBe(outcome.completion)
  if (reasoning !== undefined) expect(reasoning).toBe(outcome.reasoning ?? "")
}

/** A provider sends the Responses format only to requests of it. */
const isFor = (client: Client) => (shape: Shape) => shape.wire !== "responses" || client === responsesApi

const ALL_STREAMS = [...STREAMS, ...SERVED_STREAMS, ...MESSAGES_STREAMS, ...RESPONSES_STREAMS]
const ALL_DOCUMENTS = [...DOCUMENTS, ...SERVED_DOCUMENTS, ...MESSAGES_DOCUMENTS, ...RESPONSES_DOCUMENTS]

describe.each(CLIENTS)("%s", (_, client) => {
  test.each(ALL_STREAMS.filter(isFor(client)).map((shape) => [shape.name, shape] as const))(
    "streamed, %s",
    (_name, shape) => check(client, true, shape),
  )
  test.each(ALL_DOCUMENTS.filter(isFor(client)).map((shape) => [shape.name, shape] as const))(
    "as JSON, %s",
    (_name, shape) => check(client, false, shape),
  )
})

const BODIES = {
  chat: (model: string) => ({ model, stream: true, messages: user, tools: chatTools }),
  responses: (model: string) => ({
    model,
    stream: true,
    input: "Hi",
    tools: [{ type: "function", name: "weather", parameters: PARAMETERS }],
  }),
  messages: (model: string) => ({
    model,
    stream: true,
    messages: user,
    tools: [{ name: "weather", input_schema: PARAMETERS }],
    max_tokens: 1_000,
  }),
  gemini: () => ({
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    tools: [{ functionDeclarations: [{ name: "weather", parameters: PARAMETERS }] }],
  }),
}
const PATHS = {
  chat: () => "/chat/completions",
  responses: () => "/responses",
  messages: () => "/messages",
  gemini: (model: string) => `/../v1beta/models/${model}:streamGenerateContent?alt=sse`,
}

describe.each(["chat", "responses", "messages", "gemini"] as const)("the stream of /%s", (format) => {
  const shapes = ALL_STREAMS.filter(({ wire }) => wire !== "responses" || format === "responses")
  test.each(shapes.map((shape) => [shape.name, shape] as const))(
    "has its events in order, one end and the charged usage, %s",
    async (_name, shape) => {
      shown = shape
      const model = modelOf(shape)
      const response = await gateway.post(organization.apiKey, PATHS[format](model), BODIES[format](model))
      const text = await response.text()
      const headers = Object.fromEntries(response.headers)
      const answer = { status: response.status, headers, text, isComplete: true }
      expect(faultsOf({ format, isNative: false, isStreamed: true }, answer), text).toEqual([])
      if (!shape.fails) expect(response.status, text).toBe(200)
      if (response.status !== 200) return
      const id = response.headers.get("x-generation-id") ?? ""
      const receipt = await gateway.get<Receipt>(organization.apiKey, `/generation?id=${id}`)
      expect(chargeFaults({ format, isStreamed: true }, text, receipt), text).toEqual([])
    },
  )
})

test("an endpoint that has sent 20 clean streams has every later stream read as its first", async () => {
  const model = newModel()
  organization = await gateway.newOrganization()
  const clean = STREAMS.slice(0, 1)
  for (const shape of [...Array.from({ length: 20 }, () => clean).flat(), ...STREAMS]) {
    shown = shape
    const read = await openai(model, true).catch((error: unknown) => error as Error)
    if (shape.fails) expect(read, shape.name).toBeInstanceOf(Error)
    else if (read instanceof Error) throw new Error(shape.name, { cause: read })
    else expectOutcome(read, shape)
  }
})
