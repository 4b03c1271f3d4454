import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { GatewayError } from "../../../src/errors/errors.ts"
import { toJsonSchema } from "../../../src/formats/gemini/json-schema.ts"
import { readSignature, toSignature } from "../../../src/formats/gemini/signatures.ts"
import { toChatRequest } from "../../../src/inference/endpoints/gemini/request.ts"

type Json = Record<string, unknown>

const toChat = (body: Json) => toChatRequest(body, "sim/echo", false).chat as unknown as Json
const user = (...parts: Json[]) => ({ role: "user", parts })
const model = (...parts: Json[]) => ({ role: "model", parts })
const call = (name: string, args: Json = {}, more: Json = {}) => ({ functionCall: { name, args, ...more } })
const answer = (name: string, response: Json, more: Json = {}) => ({ functionResponse: { name, response, ...more } })
const messagesOf = (...contents: Json[]) => toChat({ contents })["messages"] as Json[]

function refusalOf(body: Json): string {
  try {
    toChat(body)
  } catch (error) {
    return (error as GatewayError).message
  }
  throw new Error("was accepted")
}

describe("a request in Google's format", () => {
  test("keeps its parameters under the names of the chat format", () => {
    const generationConfig = {
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      seed: 7,
      candidateCount: 2,
      maxOutputTokens: 100,
      stopSequences: ["END"],
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      responseLogprobs: true,
      logprobs: 3,
      thinkingConfig: { thinkingBudget: 2_048, includeThoughts: true },
      responseMimeType: "application/json",
    }
    expect(toChat({ contents: [user({ text: "Hi" })], generationConfig, provider: { sort: "price" } })).toEqual({
      model: "sim/echo",
      stream: false,
      messages: [{ role: "user", content: "Hi" }],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      seed: 7,
      n: 2,
      max_tokens: 100,
      stop: ["END"],
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      logprobs: true,
      top_logprobs: 3,
      reasoning: { max_tokens: 2_048 },
      response_format: { type: "json_object" },
      provider: { sort: "price" },
    })
  })

  test("means the same with names in snake case, except within schemas and arguments", () => {
    const parameters = { type: "OBJECT", properties: { first_name: { type: "STRING", nullable: true } } }
    const inCamelCase = toChat({
      systemInstruction: { parts: [{ text: "Be brief" }] },
      contents: [
        user({ inlineData: { mimeType: "image/png", data: "AAAA" } }),
        model(call("save_it", { first_name: "Ann" })),
        user(answer("save_it", { was_saved: true })),
      ],
      tools: [{ functionDeclarations: [{ name: "save_it", parameters }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["save_it"] } },
      session_id: "s-1",
    })
    const inSnakeCase = toChat({
      system_instruction: { parts: [{ text: "Be brief" }] },
      contents: [
        user({ inline_data: { mime_type: "image/png", data: "AAAA" } }),
        model({ function_call: { name: "save_it", args: { first_name: "Ann" } } }),
        user({ function_response: { name: "save_it", response: { was_saved: true } } }),
      ],
      tools: [{ function_declarations: [{ name: "save_it", parameters }] }],
      tool_config: { function_calling_config: { mode: "ANY", allowed_function_names: ["save_it"] } },
      session_id: "s-1",
    })
    expect(inSnakeCase).toEqual(inCamelCase)
    expect(inCamelCase).toMatchObject({
      session_id: "s-1",
      tool_choice: { type: "function", function: { name: "save_it" } },
      tools: [{ function: { parameters: { properties: { first_name: { type: ["string", "null"] } } } } }],
    })
    expect(JSON.stringify(inCamelCase)).toContain(String.raw`{\"first_name\":\"Ann\"}`)
  })

  test.each([
    [{ thinkingBudget: 0 }, { effort: "none" }],
    [{ thinkingBudget: -1 }, { enabled: true }],
    [{ thinkingLevel: "high" }, { effort: "high" }],
    [{ includeThoughts: true }, undefined],
  ])("asks for reasoning with %j as %j", (thinkingConfig, reasoning) => {
    const chat = toChat({ contents: [user({ text: "Hi" })], generationConfig: { thinkingConfig } })
    expect(chat["reasoning"]).toEqual(reasoning)
  })

  test.each([
    ["AUTO", undefined, "auto", ["a", "b"]],
    ["ANY", undefined, "required", ["a", "b"]],
    ["ANY", ["b"], { type: "function", function: { name: "b" } }, ["b"]],
    ["NONE", undefined, "none", ["a", "b"]],
  ])("offers functions with the mode %s of %j", (mode, allowedFunctionNames, choice, names) => {
    const chat = toChat({
      contents: [user({ text: "Hi" })],
      tools: [{ functionDeclarations: [{ name: "a" }, { name: "b" }] }],
      toolConfig: { functionCallingConfig: { mode, allowedFunctionNames } },
    })
    expect(chat["tool_choice"]).toEqual(choice)
    expect((chat["tools"] as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual(names)
  })

  test("uses the gateway's web tools for Google's", () => {
    const tools = [{ googleSearch: {} }, { url_context: {} }]
    expect(toChat({ contents: [user({ text: "Hi" })], tools })["tools"]).toEqual([
      { type: "service:web_search" },
      { type: "service:web_fetch" },
    ])
  })

  test.each([
    [{ contents: [] }, "contents: must have at least 1 content."],
    [{ contents: [user({ text: 1 })] }, "contents[0].parts[0].text: must be a string."],
    [{ contents: [{ role: "assistant", parts: [] }] }, "contents[0].role: accepts user, model and function."],
    [
      { contents: [user({ text: "Hi" })], generationConfig: { maxOutputTokens: 0 } },
      "generationConfig.maxOutputTokens: must be an integer of at least 1.",
    ],
    [
      { contents: [user({ text: "Hi" })], tools: [{ codeExecution: {} }] },
      "tools[0].codeExecution: is not available on this gateway: use functionDeclarations, googleSearch, googleSearchRetrieval, urlContext.",
    ],
    [
      { contents: [user({ text: "Hi" })], cachedContent: "cachedContents/1" },
      "cachedContent: is not available on this gateway: send the content.",
    ],
    [
      { contents: [user({ fileData: { fileUri: "gs://bucket/file" } })] },
      "contents[0].parts[0].fileData.fileUri: must be an https URL or the id of a file of this gateway; send other data as inlineData.",
    ],
    [
      { contents: [user(answer("find", {}))] },
      "contents[0].parts[0].functionResponse: answers no functionCall find of the turns before it.",
    ],
    [
      { contents: [user(call("find"))] },
      "contents[0].parts[0].functionCall: must be in a content with the role model.",
    ],
  ])("%j is rejected with the field and its rule", (body, message) => {
    expect(refusalOf(body)).toBe(message)
  })
})

describe("contents", () => {
  test("become messages, and function responses follow their calls", () => {
    const messages = messagesOf(
      user({ text: "Weather?" }),
      model({ text: "I look. " }, call("weather", { city: "Oslo" }), call("weather", { city: "Rome" })),
      user(answer("weather", { temp: 1 }), answer("weather", { temp: 20 }), { text: "Well?" }),
    )
    expect(messages).toEqual([
      { role: "user", content: "Weather?" },
      {
        role: "assistant",
        content: "I look. ",
        tool_calls: [
          { id: "call_0", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
          { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_0", content: '{"temp":1}' },
      { role: "tool", tool_call_id: "call_1", content: '{"temp":20}' },
      { role: "user", content: "Well?" },
    ])
  })

  test("match function responses by id where the client sends ids, in any order", () => {
    const messages = messagesOf(
      user({ text: "Weather?" }),
      model(call("weather", {}, { id: "a" }), call("weather", {}, { id: "b" })),
      user(answer("weather", { n: 2 }, { id: "b" }), answer("weather", { n: 1 }, { id: "a" })),
    )
    expect(messages.slice(2).map(({ tool_call_id: id, content }) => [id, content])).toEqual([
      ["b", '{"n":2}'],
      ["a", '{"n":1}'],
    ])
  })

  test("join the chunks of a streamed turn that clients keep as contents", () => {
    const messages = messagesOf(
      user({ text: "Hi" }),
      model({ text: "Hel" }),
      model({ text: "lo" }),
      model({ text: "" }),
    )
    expect(messages).toEqual([
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
    ])
  })

  test("keep media in the part that the chat format has for it", () => {
    const [message] = messagesOf(
      user(
        { text: "Look" },
        { inlineData: { mimeType: "image/png", data: "A-_B" } },
        { inlineData: { mimeType: "audio/mpeg", data: "AAAA" } },
        { inlineData: { mimeType: "application/pdf", data: "AAAA" } },
        { inlineData: { mimeType: "text/csv", data: btoa("a,b") } },
        { fileData: { mimeType: "image/jpeg", fileUri: "https://example.com/a.jpg" } },
        { fileData: { fileUri: "https://youtu.be/abc" } },
      ),
    )
    expect(message?.["content"]).toEqual([
      { type: "text", text: "Look" },
      { type: "image_url", image_url: { url: "data:image/png;base64,A+/B" } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
      { type: "file", file: { filename: "file.pdf", file_data: "data:application/pdf;base64,AAAA" } },
      { type: "text", text: "a,b" },
      { type: "image_url", image_url: { url: "https://example.com/a.jpg" } },
      { type: "video_url", video_url: { url: "https://youtu.be/abc" } },
    ])
  })
})

test("a schema in Google's form becomes JSON Schema", () => {
  const schema = {
    type: "OBJECT",
    property_ordering: ["type", "items"],
    required: ["items"],
    properties: {
      type: { type: "STRING", enum: ["A", "B"], nullable: true },
      items: { type: "ARRAY", min_items: "1", items: { type: "INTEGER", format: "int64", example: 3 } },
      either: { anyOf: [{ type: "NUMBER" }, { type: "BOOLEAN" }] },
    },
  }
  expect(toJsonSchema(schema)).toEqual({
    type: "object",
    required: ["items"],
    properties: {
      type: { type: ["string", "null"], enum: ["A", "B", null] },
      items: { type: "array", minItems: 1, items: { type: "integer", format: "int64", examples: [3] } },
      either: { anyOf: [{ type: "number" }, { type: "boolean" }] },
    },
  })
})

describe("a thought signature", () => {
  const detail = fc.record({
    type: fc.constantFrom("reasoning.text", "reasoning.summary", "reasoning.encrypted"),
    text: fc.string({ unit: "grapheme", maxLength: 40 }),
    signature: fc.string({ maxLength: 20 }),
  })

  test("returns the reasoning and the fields of the call, in either base64 alphabet", () => {
    fc.assert(
      fc.property(fc.array(detail, { minLength: 1, maxLength: 4 }), fc.string({ maxLength: 20 }), (details, value) => {
        const signature = toSignature(details, { id: "c", function: { name: "f" }, extra_content: { value } }) ?? ""
        const urlSafe = signature.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
        const expected = { details, callFields: { extra_content: { value } } }
        expect([readSignature(signature), readSignature(urlSafe)]).toEqual([expected, expected])
      }),
    )
  })

  test("of Google's own models stays with its call", () => {
    const messages = messagesOf(user({ text: "Hi" }), model({ ...call("f"), thoughtSignature: "CtQBAdHtim8" }))
    expect(messages[1]).toMatchObject({
      tool_calls: [{ extra_content: { google: { thought_signature: "CtQBAdHtim8" } } }],
    })
  })
})
