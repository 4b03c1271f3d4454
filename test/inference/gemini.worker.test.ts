import { exports } from "cloudflare:workers"
import { afterEach, describe, expect, test } from "vitest"
import { chunk, DONE, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace, openHolds, receiptOf, type Workspace } from "../support/world.ts"

/** The Gemini API, as Google's clients call it. */

type Json = Record<string, unknown>
type Part = {
  text?: string
  thought?: boolean
  thoughtSignature?: string
  functionCall?: { id?: string; name: string; args: Json }
  inlineData?: { mimeType: string; data: string }
}
type Generated = {
  candidates: { index: number; content: { role: string; parts: Part[] }; finishReason?: string }[]
  usageMetadata: Json & { cost: number }
  modelVersion: string
  responseId: string
}
type Failure = { error: { code: number; message: string; status: string; details?: Json[] } }

const front = (exports as unknown as { default: Fetcher }).default
const PLAYED = "played/m0"
const HELLO = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }

let stop = () => {}
afterEach(() => stop())

function play(answer: Parameters<typeof mockProvider>[0]) {
  const provider = mockProvider(answer)
  stop = provider.stop
  return provider.upstreamCalls
}

/** A request with the path and the header of Google's clients. */
function post({ key }: Pick<Workspace, "key">, path: string, body: Json): Promise<Response> {
  const headers = { "x-goog-api-key": key, "content-type": "application/json" }
  return front.fetch(`https://gateway.test/api/v1beta/${path}`, { method: "POST", headers, body: JSON.stringify(body) })
}
const get = ({ key }: Workspace, path: string) =>
  front.fetch(`https://gateway.test/api/v1beta/${path}`, { headers: { "x-goog-api-key": key } })

async function eventsOf(response: Response): Promise<(Generated & Partial<Failure>)[]> {
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  expect(response.headers.get("content-type")).toContain("text/event-stream")
  expect(raw).not.toContain("[DONE]")
  return [...raw.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? "") as Generated)
}
const partsOf = (events: readonly Generated[]) => events.flatMap(({ candidates: [one] }) => one?.content.parts ?? [])

/** A chat completion of the provider. */
const completion = (message: Json, finishReason = "stop") =>
  Response.json({
    id: "up-1",
    object: "chat.completion",
    created: 1,
    model: "m0",
    choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: finishReason }],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  })

describe("generateContent", () => {
  test("returns the content with the charged tokens and their cost", async () => {
    const workspace = await newWorkspace()
    const calls = play(() => completion({ content: "Hi!", reasoning: "A greeting." }))
    const response = await post(workspace, `models/${PLAYED}:generateContent`, HELLO)
    const generated = await expectJson<Generated>(200, response.clone())
    const receipt = await receiptOf(workspace, response)
    expect(generated).toEqual({
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hi!" }] }, finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 3,
        totalTokenCount: 15,
        cachedContentTokenCount: 4,
        thoughtsTokenCount: 2,
        cost: receipt.total_cost,
      },
      modelVersion: PLAYED,
      responseId: response.headers.get("x-generation-id"),
    })
    expect(calls[0]?.body).toMatchObject({ model: "m0", messages: [{ role: "user", content: "Hello" }], stream: false })
    expect(await openHolds(workspace)).toEqual([])
  })

  test.each([
    "models/sim%2Fecho:generateContent",
    "sim/echo:generateContent",
    "models/sim/echo:free:generateContent",
    "../v1/models/sim/echo:generateContent",
  ])("finds the model of the path %s", async (path) => {
    const generated = await expectJson<Generated>(200, post(await newWorkspace(), path, HELLO))
    expect(partsOf([generated])).toEqual([{ text: "Hello" }])
  })

  test("returns the text of the reasoning only if the request includes thoughts", async () => {
    const workspace = await newWorkspace()
    const partsWith = async (thinkingConfig: Json) => {
      play(() => completion({ content: "Hi!", reasoning: "A greeting." }))
      const body = { ...HELLO, generationConfig: { thinkingConfig } }
      const parts = partsOf([
        await expectJson<Generated>(200, post(workspace, `models/${PLAYED}:generateContent`, body)),
      ])
      stop()
      return parts
    }
    expect(await partsWith({ includeThoughts: true })).toEqual([
      { text: "A greeting.", thought: true },
      { text: "Hi!" },
    ])
    expect(await partsWith({ includeThoughts: false })).toEqual([{ text: "Hi!" }])
  })

  test("returns generated images as inline data", async () => {
    play(() =>
      completion({
        content: "Here",
        images: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0" } }],
      }),
    )
    const generated = await expectJson<Generated>(
      200,
      post(await newWorkspace(), `models/${PLAYED}:generateContent`, HELLO),
    )
    expect(partsOf([generated])).toEqual([{ text: "Here" }, { inlineData: { mimeType: "image/png", data: "iVBORw0" } }])
  })

  test("returns what a provider verifies as signature, and sends it back unchanged with the next turn", async () => {
    const workspace = await newWorkspace()
    const details = [{ type: "reasoning.text", text: "I need the weather.", signature: "c2ln", index: 0 }]
    const toolCalls = [
      {
        id: "call-7",
        type: "function",
        function: { name: "weather", arguments: '{"city":"Oslo"}' },
        extra_content: { google: { thought_signature: "Z29vZ2xl" } },
      },
    ]
    play(() =>
      completion({ reasoning: "I need the weather.", reasoning_details: details, tool_calls: toolCalls }, "tool_calls"),
    )
    const tools = [{ functionDeclarations: [{ name: "weather" }] }]
    const first = await expectJson<Generated>(
      200,
      post(workspace, `models/${PLAYED}:generateContent`, { ...HELLO, tools }),
    )
    const parts = partsOf([first])
    expect(parts).toEqual([
      {
        functionCall: { id: "call-7", name: "weather", args: { city: "Oslo" } },
        thoughtSignature: expect.any(String) as string,
      },
    ])
    expect(first.candidates[0]?.finishReason).toBe("STOP")
    stop()
    const calls = play(() => completion({ content: "Cold." }))
    const contents = [
      ...HELLO.contents,
      { role: "model", parts },
      { role: "user", parts: [{ functionResponse: { name: "weather", response: { temp: 1 } } }] },
    ]
    await expectJson(200, post(workspace, `models/${PLAYED}:generateContent`, { contents, tools }))
    expect(calls[0]?.body["messages"]).toEqual([
      { role: "user", content: "Hello" },
      {
        role: "assistant",
        content: null,
        reasoning_content: "I need the weather.",
        reasoning_details: details,
        tool_calls: toolCalls,
      },
      { role: "tool", tool_call_id: "call-7", content: '{"temp":1}' },
    ])
  })

  test("applies a preset that the path names", async () => {
    const workspace = await newWorkspace()
    const preset = { model: PLAYED, messages: [{ role: "user", content: "Any" }], temperature: 0.3 }
    await expectJson(200, workspace.manage.post("/presets/brief/chat/completions", preset))
    const calls = play(() => completion({ content: "Hi" }))
    await expectJson(200, post(workspace, "models/@preset/brief:generateContent", HELLO))
    expect(calls[0]?.body).toMatchObject({ temperature: 0.3 })
  })
})

describe("streamGenerateContent", () => {
  const path = `models/${PLAYED}:streamGenerateContent?alt=sse`

  test("passes text on at once and a function call when it is complete, and ends with the charge", async () => {
    const workspace = await newWorkspace()
    const call = (fields: Json, index = 0) => ({ tool_calls: [{ index, ...fields }] })
    play(() =>
      sse([
        chunk({ role: "assistant", content: "Let me " }),
        chunk({ content: "see." }),
        chunk(call({ id: "a", type: "function", function: { name: "weather", arguments: '{"ci' } })),
        chunk(call({ function: { arguments: 'ty":"Oslo"}' } })),
        chunk(call({ id: "b", type: "function", function: { name: "time", arguments: "{}" } }, 1)),
        chunk({}, "tool_calls"),
        usageChunk(10, 5),
        DONE,
      ]),
    )
    const tools = [{ functionDeclarations: [{ name: "weather" }, { name: "time" }] }]
    const response = await post(workspace, path, { ...HELLO, tools })
    const events = await eventsOf(response)
    expect(events.map((event) => partsOf([event]))).toEqual([
      [{ text: "Let me " }],
      [{ text: "see." }],
      [
        { functionCall: { id: "a", name: "weather", args: { city: "Oslo" } } },
        { functionCall: { id: "b", name: "time", args: {} } },
      ],
    ])
    const receipt = await receiptOf(workspace, response)
    expect(events.at(-1)).toMatchObject({
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15, cost: receipt.total_cost },
    })
    expect(new Set(events.map(({ responseId, modelVersion }) => `${responseId} ${modelVersion}`)).size).toBe(1)
  })

  test("streams several candidates with their indexes", async () => {
    play(() => {
      const at = (index: number, delta: Json, reason: string | null = null) =>
        chunk({}, null, { choices: [{ index, delta, finish_reason: reason }] })
      return sse([at(1, { content: "B" }), at(0, { content: "A" }), at(0, {}, "length"), at(1, {}, "stop"), DONE])
    })
    const body = { ...HELLO, generationConfig: { candidateCount: 2 } }
    const events = await eventsOf(await post(await newWorkspace(), path, body))
    expect(
      events.flatMap(({ candidates }) => candidates).map(({ index, finishReason }) => [index, finishReason]),
    ).toEqual([
      [1, undefined],
      [0, undefined],
      [0, "MAX_TOKENS"],
      [1, "STOP"],
    ])
  })

  test("ends a stream that breaks with an error event and charges what was delivered", async () => {
    const workspace = await newWorkspace()
    play(() => sse([chunk({ role: "assistant", content: "Let me see " }), new Error("reset")]))
    const response = await post(workspace, path, HELLO)
    const events = await eventsOf(response)
    expect(events.at(-1)?.error).toMatchObject({ code: 502, status: "UNAVAILABLE" })
    const receipt = await receiptOf(workspace, response)
    expect(receipt).toMatchObject({ tokens_from: "estimate", status: 502 })
    expect(events.at(-1)?.usageMetadata.cost).toBe(receipt.total_cost)
  })

  test("rejects other formats of a stream", async () => {
    const response = post(await newWorkspace(), `models/${PLAYED}:streamGenerateContent?alt=proto`, HELLO)
    const { error } = await expectJson<Failure>(400, response)
    expect(error).toMatchObject({ status: "INVALID_ARGUMENT", message: "alt: accepts sse and json." })
  })
})

describe("streamGenerateContent without alt=sse", () => {
  const array = `models/${PLAYED}:streamGenerateContent`
  const arrayOf = async (response: Response) => {
    const raw = await response.text()
    expect(response.headers.get("content-type")).toBe("application/json")
    return JSON.parse(raw) as (Generated & Partial<Failure>)[]
  }
  const dateless = (value: unknown) => JSON.stringify(value).replaceAll(/"responseId":"[^"]+"/g, "")

  test.each([
    ["text", [chunk({ content: "Hel" }), chunk({ content: "lo" }), chunk({}, "stop"), usageChunk(10, 5), DONE]],
    ["a comment", [": wait\n\n", chunk({ content: "Hel" }), ": wait\n\n", chunk({}, "stop"), DONE]],
    ["a stream that breaks", [chunk({ content: "Hello" }), new Error("reset")]],
  ])("is an array of the same objects: %s", async (_name, pieces) => {
    const workspace = await newWorkspace()
    play(() => sse(pieces))
    const events = await eventsOf(await post(workspace, `${array}?alt=sse`, HELLO))
    expect(dateless(await arrayOf(await post(workspace, array, HELLO)))).toBe(dateless(events))
    expect(dateless(await arrayOf(await post(workspace, `${array}?alt=json`, HELLO)))).toBe(dateless(events))
  })

  test("is sent element by element, with white space as heartbeat", async () => {
    play(() => sse([chunk({ content: "One" }), ": working\n\n", null]))
    const { body } = await post(await newWorkspace(), array, HELLO)
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    while (!text.endsWith("\n\n")) text += (await reader?.read())?.value ?? ""
    expect(JSON.parse(`${text}]`)).toMatchObject([{ candidates: [{ content: { parts: [{ text: "One" }] } }] }])
    await reader?.cancel()
  })

  test("has the status and the error envelope of a call that fails before the stream", async () => {
    play(() => Response.json({ error: { message: "Not this." } }, { status: 400 }))
    const { error } = await expectJson<Failure>(400, post(await newWorkspace(), array, HELLO))
    expect(error).toMatchObject({ code: 400, status: "INVALID_ARGUMENT", message: "Not this." })
  })

  test("ends with an error if a guardrail blocks the response, and hides redacted text", async () => {
    const workspace = await newWorkspace()
    const guardrail = async (action: string) => {
      const rules = { name: "Rail", content_filters: [{ pattern: "SECRET", action, label: "S" }] }
      const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rules))
      const { key, hash } = await newKey(workspace)
      await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
      return { ...workspace, key }
    }
    play(() => sse([chunk({ content: "It is SEC" }), chunk({ content: "RET." }), chunk({}, "stop"), DONE]))
    const blocked = await arrayOf(await post(await guardrail("block"), array, HELLO))
    expect(blocked.at(-1)?.error).toMatchObject({ code: 403, status: "PERMISSION_DENIED" })
    const redacted = await arrayOf(await post(await guardrail("redact"), array, HELLO))
    expect(
      partsOf(redacted)
        .map(({ text }) => text)
        .join(""),
    ).toBe("It is [S].")
  })

  test("has the same elements with plugins that read the response", async () => {
    play(() => sse([chunk({ content: "Noon." }), chunk({}, "stop"), usageChunk(10, 5), DONE]))
    const workspace = await newWorkspace()
    const body = { ...HELLO, plugins: [{ id: "response-healing" }] }
    const events = await eventsOf(await post(workspace, `${array}?alt=sse`, body))
    expect(dateless(await arrayOf(await post(workspace, array, body)))).toBe(dateless(events))
  })

  test("is charged for the delivered content when the client disconnects", async () => {
    const workspace = await newWorkspace()
    play(() =>
      sse([chunk({ content: "Hello there" }), ...Array.from({ length: 50 }, () => chunk({ content: "x" })), null]),
    )
    const response = await post(workspace, array, HELLO)
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(await receiptOf(workspace, response)).toMatchObject({ cancelled: true, tokens_from: "estimate" })
  })
})

describe("a guardrail", () => {
  async function guarded(action: "block" | "redact"): Promise<{ key: string }> {
    const workspace = await newWorkspace()
    const builtins = [{ slug: "email", action }]
    const { data } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", { name: "E-mail", content_filter_builtins: builtins }),
    )
    const { key, hash } = await newKey(workspace)
    const body = { key_hashes: [hash] }
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, body))
    return { key }
  }
  const SECRET = "ada@example.com"
  const places: [string, Json][] = [
    ["a text", { contents: [{ parts: [{ text: SECRET }] }] }],
    ["an instruction", { ...HELLO, system_instruction: { parts: [{ text: SECRET }] } }],
    [
      "arguments",
      {
        contents: [
          ...HELLO.contents,
          { role: "model", parts: [{ functionCall: { name: "f", args: { to: SECRET } } }] },
          { parts: [{ functionResponse: { name: "f", response: {} } }] },
        ],
      },
    ],
    [
      "a function response",
      {
        contents: [
          ...HELLO.contents,
          { role: "model", parts: [{ functionCall: { name: "f" } }] },
          { parts: [{ functionResponse: { name: "f", response: { mail: SECRET } } }] },
        ],
      },
    ],
    ["a function", { ...HELLO, tools: [{ functionDeclarations: [{ name: "f", description: SECRET }] }] }],
    ["a schema", { ...HELLO, generationConfig: { responseSchema: { type: "STRING", enum: [SECRET] } } }],
    ["a stop sequence", { ...HELLO, generationConfig: { stopSequences: [SECRET] } }],
    ["a text file", { contents: [{ parts: [{ inlineData: { mimeType: "text/plain", data: btoa(SECRET) } }] }] }],
  ]

  test.each(places)("that blocks finds its match in %s before anything is sent", async (_, body) => {
    const workspace = await guarded("block")
    const calls = play(() => completion({ content: "Hi" }))
    const { error } = await expectJson<Failure>(403, post(workspace, `models/${PLAYED}:generateContent`, body))
    expect(error).toMatchObject({ code: 403, status: "PERMISSION_DENIED" })
    expect(calls).toEqual([])
  })

  test("that redacts changes the stream of the response, however it is split", async () => {
    const workspace = await guarded("redact")
    play(() =>
      sse([..."Mail ada@example.com now".split("").map((content) => chunk({ content })), chunk({}, "stop"), DONE]),
    )
    const response = await post(workspace, `models/${PLAYED}:streamGenerateContent?alt=sse`, HELLO)
    const text = partsOf(await eventsOf(response))
      .map((part) => part.text)
      .join("")
    expect(text).toBe("Mail [EMAIL] now")
  })
})

describe("an error", () => {
  test("has the name of its status, and the delay of a retry", async () => {
    const workspace = await newWorkspace()
    const unknown = await expectJson<Failure>(404, post(workspace, "models/sim/none:generateContent", HELLO))
    expect(unknown.error.status).toBe("NOT_FOUND")
    const limited = await expectJson<Failure>(429, post(workspace, "models/sim/status-429:generateContent", HELLO))
    expect(limited.error).toMatchObject({
      status: "RESOURCE_EXHAUSTED",
      details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" }],
    })
    const invalid = await post({ ...workspace, key: "sk-gw-v1-unknown" }, "models/sim/echo:generateContent", HELLO)
    expect((await expectJson<Failure>(401, invalid)).error.status).toBe("UNAUTHENTICATED")
  })

  test("of an unknown method lists those that exist", async () => {
    const { error } = await expectJson<Failure>(404, post(await newWorkspace(), "models/sim/echo:predict", HELLO))
    expect(error.message).toContain("There is no method predict.")
    expect(error.message).toContain("generateContent, streamGenerateContent, countTokens")
  })

  test("before any provider is recorded with the model of the path", async () => {
    const workspace = await newWorkspace()
    await expectJson(400, post(workspace, "models/sim/echo:generateContent", { contents: [] }))
    const { data } = await expectJson<{ data: Json[] }>(200, workspace.manage.get("/calls"))
    expect(data).toMatchObject([{ model: "sim/echo", status: 400 }])
  })
})

describe("the other methods", () => {
  test("embedContent and batchEmbedContents return vectors and charge them", async () => {
    const workspace = await newWorkspace()
    const content = (text: string) => ({ content: { parts: [{ text }] } })
    type Embedded = { embedding: { values: number[] }; embeddings: { values: number[] }[]; usageMetadata: Json }
    const one = await post(workspace, "models/sim/embed:embedContent", content("fox"))
    const single = await expectJson<Embedded>(200, one.clone())
    const receipt = await receiptOf(workspace, one)
    expect(single.usageMetadata).toMatchObject({ cost: receipt.total_cost })
    const batch = { requests: [content("dog"), content("fox")] }
    const several = await expectJson<Embedded>(200, post(workspace, "models/sim/embed:batchEmbedContents", batch))
    expect(several.embeddings).toHaveLength(2)
    expect(several.embeddings[1]).toEqual(single.embedding)
  })

  test("countTokens estimates without a charge", async () => {
    const workspace = await newWorkspace()
    const count = await expectJson(200, post(workspace, "models/sim/echo:countTokens", HELLO))
    const nested = { generateContentRequest: { model: "models/sim/echo", ...HELLO } }
    expect(await expectJson(200, post(workspace, "models/sim/echo:countTokens", nested))).toEqual(count)
    expect(count).toEqual({ totalTokens: 6 })
    expect((await expectJson<{ data: Json[] }>(200, workspace.manage.get("/calls"))).data).toEqual([])
  })

  test("the models of the key are listed page by page and found by name", async () => {
    const workspace = await newWorkspace()
    type Page = { models: { name: string; supportedGenerationMethods: string[] }[]; nextPageToken?: string }
    const names: string[] = []
    let token: string | undefined
    do {
      const query = token === undefined ? "" : `&pageToken=${encodeURIComponent(token)}`
      const page = await expectJson<Page>(200, get(workspace, `models?pageSize=20${query}`))
      names.push(...page.models.map(({ name }) => name))
      token = page.nextPageToken
    } while (token !== undefined)
    expect(names).toContain("models/sim/echo")
    expect(names).toContain("models/sim/embed")
    expect(new Set(names).size).toBe(names.length)
    expect(await expectJson(200, get(workspace, "models/sim/embed"))).toMatchObject({
      name: "models/sim/embed",
      supportedGenerationMethods: ["embedContent", "batchEmbedContents"],
    })
    await expectJson(404, get(workspace, "models/sim/none"))
    await expectJson(400, get(workspace, "models?pageToken=none"))
  })
})
