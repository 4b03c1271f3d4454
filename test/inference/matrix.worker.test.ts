import { beforeAll, describe, expect, test } from "vitest"
import { embeddedModels } from "../../src/embedded/models.ts"
import { sampled } from "../support/runs.ts"
import { type TestClient, newWorkspace, openHolds, receiptOf, type Workspace } from "../support/world.ts"

/**
 * Every simulated model on every endpoint, streamed and not, alone and with a healthy fallback: the client gets a correct
 * response or a correct failure in the format of its endpoint, and the charge is right. `npm test` tries half of the
 * combinations, CI all.
 */

type Json = Record<string, unknown>
const TEXT = "Say it again and again.."
const TOOLS = ["tool-call", "parallel-tools"]
const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }

/** Models that fail before the first content, and the resulting status. */
const FAILS: Record<string, number> = {
  "status-400": 400,
  "status-401": 502,
  "status-402": 502,
  "status-403": 502,
  "status-404": 404,
  "status-408": 408,
  "status-413": 413,
  "status-422": 422,
  "status-429": 429,
  "status-429:date": 429,
  "status-429:ms": 429,
  "status-500": 502,
  "status-502": 502,
  "status-503": 503,
  "status-503:date": 503,
  "status-503:ms": 503,
  "status-504": 502,
  "status-529": 529,
  empty: 502,
  html: 502,
  "first-frame-error": 503,
}
/** Models that fail in mid-stream; as JSON the complete call fails. */
const BREAKS: Record<string, number> = { "late-error": 503, cut: 502, stall: 408 }
/** A client error: no other model is tried. */
const AT_FAULT = ["status-422"]
/** Takes six seconds each: tested in faults.worker.test.ts. */
const SLOW = ["slow"]

const slugs = embeddedModels.filter((model) => !isOther(model)).map(({ slug }) => slug)

/** Models that are neither conversations nor failures of one. */
function isOther(model: object): boolean {
  return "author" in model || "embeddings" in model || "media" in model || "output" in model
}

type Output = { text: string; calls: { name: string; args: unknown }[]; prompt: number; completion: number }
type ApiFormat = {
  name: string
  path: (slug: string, stream: boolean) => string
  body: (slug: string, limit: number) => Json
  complete: (answer: Json) => Output
  /** The failure of a stream, if any, and its content. */
  streamed: (raw: string) => { failure: Json | undefined; output: Output }
}

const eventsIn = (raw: string) =>
  [...raw.matchAll(/^data:(?: )?(.*)$/gm)].flatMap(([, data]) =>
    data === "[DONE]" ? [] : [JSON.parse(data ?? "") as Json],
  )
const at = (value: unknown, ...keys: (string | number)[]): unknown =>
  keys.reduce<unknown>((one, key) => (one as Record<string | number, unknown> | null | undefined)?.[key], value)
const str = (value: unknown) => (typeof value === "string" ? value : "")
const numberAt = (value: unknown, ...keys: (string | number)[]) => Number(at(value, ...keys) ?? 0)
const list = (value: unknown) => (Array.isArray(value) ? (value as Json[]) : [])

const chat: ApiFormat = {
  name: "chat",
  path: () => "/chat/completions",
  body: (slug, limit) => ({
    messages: [{ role: "user", content: TEXT }],
    max_tokens: limit,
    ...(TOOLS.includes(slug) && {
      tools: ["weather", "time"].map((name) => ({ type: "function", function: { name, parameters: PARAMETERS } })),
    }),
  }),
  complete: (answer) => {
    const message = at(answer, "choices", 0, "message")
    return {
      text: str(at(message, "content") ?? at(message, "refusal")),
      calls: list(at(message, "tool_calls")).map((call) =>
        toCall(at(call, "function", "name"), at(call, "function", "arguments")),
      ),
      prompt: numberAt(answer, "usage", "prompt_tokens"),
      completion: numberAt(answer, "usage", "completion_tokens"),
    }
  },
  streamed: (raw) => {
    const chunks = eventsIn(raw)
    expect(raw.trimEnd().endsWith("data: [DONE]")).toBe(true)
    const calls: { name: string; args: string }[] = []
    for (const call of chunks.flatMap((chunk) => list(at(chunk, "choices", 0, "delta", "tool_calls")))) {
      const known = (calls[numberAt(call, "index")] ??= { name: "", args: "" })
      known.name += str(at(call, "function", "name"))
      known.args += str(at(call, "function", "arguments"))
    }
    const joined = (key: string) => chunks.map((chunk) => str(at(chunk, "choices", 0, "delta", key))).join("")
    const usage = chunks.map((chunk) => at(chunk, "usage")).findLast((one) => one !== undefined)
    return {
      failure: chunks.map((chunk) => at(chunk, "error") as Json | undefined).find((error) => error !== undefined),
      output: {
        text: joined("content") || joined("refusal"),
        calls: calls.map(({ name, args }) => toCall(name, args)),
        prompt: numberAt(usage, "prompt_tokens"),
        completion: numberAt(usage, "completion_tokens"),
      },
    }
  },
}

const readResponse = (response: Json): Output => {
  const items = list(response["output"])
  const parts = items.flatMap((item) => (item["type"] === "message" ? list(item["content"]) : []))
  return {
    text: parts.map((part) => str(part["text"] ?? part["refusal"])).join(""),
    calls: items.filter(({ type }) => type === "function_call").map((item) => toCall(item["name"], item["arguments"])),
    prompt: numberAt(response, "usage", "input_tokens"),
    completion: numberAt(response, "usage", "output_tokens"),
  }
}

const responses: ApiFormat = {
  name: "responses",
  path: () => "/responses",
  body: (slug, limit) => ({
    input: TEXT,
    max_output_tokens: limit,
    ...(TOOLS.includes(slug) && {
      tools: ["weather", "time"].map((name) => ({ type: "function", name, parameters: PARAMETERS })),
    }),
  }),
  complete: readResponse,
  streamed: (raw) => {
    const events = eventsIn(raw)
    expect(raw.trimEnd().endsWith("data: [DONE]")).toBe(true)
    expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_, index) => index))
    const last = events.at(-1) as Json
    const response = last["response"] as Json
    const isFailed = last["type"] === "response.failed"
    if (!isFailed) expect(["response.completed", "response.incomplete"]).toContain(last["type"])
    return { failure: isFailed ? (response["error"] as Json) : undefined, output: readResponse(response) }
  },
}

const readBlocks = (blocks: readonly Json[], usage: unknown): Output => ({
  text: blocks.map((block) => (block["type"] === "text" ? str(block["text"]) : "")).join(""),
  calls: blocks
    .filter(({ type }) => type === "tool_use")
    .map((block) => ({ name: str(block["name"]), args: block["input"] })),
  prompt: numberAt(usage, "input_tokens") + numberAt(usage, "cache_read_input_tokens"),
  completion: numberAt(usage, "output_tokens"),
})

const messages: ApiFormat = {
  name: "messages",
  path: () => "/messages",
  body: (slug, limit) => ({
    messages: [{ role: "user", content: TEXT }],
    max_tokens: limit,
    ...(TOOLS.includes(slug) && { tools: ["weather", "time"].map((name) => ({ name, input_schema: PARAMETERS })) }),
  }),
  complete: (answer) => readBlocks(list(answer["content"]), answer["usage"]),
  streamed: (raw) => {
    const events = eventsIn(raw)
    expect(raw).not.toContain("[DONE]")
    const blocks: (Json & { encoded: string })[] = []
    for (const event of events) {
      if (event["type"] === "content_block_start") blocks.push({ ...(event["content_block"] as Json), encoded: "" })
      const block = blocks.at(-1)
      if (event["type"] !== "content_block_delta" || !block) continue
      const delta = event["delta"] as Json
      if (delta["type"] === "text_delta") block["text"] = str(block["text"]) + str(delta["text"])
      block.encoded += str(delta["partial_json"])
    }
    const last = events.at(-1) as Json
    if (last["type"] !== "error") expect(last["type"]).toBe("message_stop")
    const complete = blocks.map(({ encoded, ...block }) =>
      encoded === "" ? block : { ...block, input: JSON.parse(encoded) as unknown },
    )
    return {
      failure: last["type"] === "error" ? (last["error"] as Json) : undefined,
      output: readBlocks(complete, events.findLast(({ type }) => type === "message_delta")?.["usage"]),
    }
  },
}

/** Text only: the format has no tools. */
const completions: ApiFormat = {
  name: "completions",
  path: () => "/completions",
  body: (_, limit) => ({ prompt: TEXT, max_tokens: limit }),
  complete: (answer) => ({
    text: str(at(answer, "choices", 0, "text")),
    calls: [],
    prompt: numberAt(answer, "usage", "prompt_tokens"),
    completion: numberAt(answer, "usage", "completion_tokens"),
  }),
  streamed: (raw) => {
    const chunks = eventsIn(raw)
    expect(raw.trimEnd().endsWith("data: [DONE]")).toBe(true)
    expect(chunks.filter(({ object }) => object !== "text_completion")).toEqual([])
    const usage = chunks.map((chunk) => at(chunk, "usage")).findLast((one) => one !== undefined)
    return {
      failure: chunks.map((chunk) => at(chunk, "error") as Json | undefined).find((error) => error !== undefined),
      output: {
        text: chunks.map((chunk) => str(at(chunk, "choices", 0, "text"))).join(""),
        calls: [],
        prompt: numberAt(usage, "prompt_tokens"),
        completion: numberAt(usage, "completion_tokens"),
      },
    }
  },
}

const gemini: ApiFormat = {
  name: "gemini",
  path: (slug, stream) => `/models/sim/${slug}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  body: (slug, limit) => ({
    contents: [{ role: "user", parts: [{ text: TEXT }] }],
    generationConfig: { maxOutputTokens: limit },
    ...(TOOLS.includes(slug) && {
      tools: [{ functionDeclarations: ["weather", "time"].map((name) => ({ name, parameters: PARAMETERS })) }],
    }),
  }),
  complete: (answer) => readCandidates([answer]),
  streamed: (raw) => {
    const chunks = eventsIn(raw)
    const failure = chunks.map((chunk) => at(chunk, "error") as Json | undefined).find((error) => error !== undefined)
    if (!failure) expect(at(chunks.at(-1), "candidates", 0, "finishReason")).toEqual(expect.any(String))
    return { failure, output: readCandidates(chunks) }
  },
}

function readCandidates(chunks: readonly Json[]): Output {
  const parts = chunks.flatMap((chunk) => list(at(chunk, "candidates", 0, "content", "parts")))
  const usage = at(chunks.at(-1), "usageMetadata")
  return {
    text: parts.map(({ text }) => str(text)).join(""),
    calls: parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [{ name: str(at(call, "name")), args: at(call, "args") }],
    ),
    prompt: numberAt(usage, "promptTokenCount"),
    completion: numberAt(usage, "candidatesTokenCount") + numberAt(usage, "thoughtsTokenCount"),
  }
}

function toCall(name: unknown, args: unknown) {
  return { name: str(name), args: JSON.parse(str(args)) as unknown }
}

/** The output of each model as JSON on /chat/completions: the same on every endpoint. */
const references = new Map<string, Promise<Output>>()
function referenceOf(slug: string): Promise<Output> {
  const known =
    references.get(slug) ??
    newWorkspace().then(async ({ as }) => chat.complete(await (await send(as, chat, slug, {})).json()))
  references.set(slug, known)
  return known
}

function send(as: TestClient, format: ApiFormat, slug: string, more: Json): Promise<Response> {
  const limit = slug === "paced" ? 5 : 4_096
  return as.post(format.path(slug, more["stream"] === true), {
    model: `sim/${slug}`,
    ...format.body(slug, limit),
    ...more,
  })
}

const usd = (prompt: number, completion: number, cached = 0) =>
  Number(((prompt - cached) * 1e-6 + cached * 1e-7 + completion * 2e-6).toFixed(9))

const formats = [chat, responses, messages, completions, gemini]

describe.each(formats)("$name", (format) => {
  describe.each([
    [true, "streamed"],
    [false, "whole"],
  ])("stream: %s", (stream) => {
    describe.each([
      [false, "alone"],
      [true, "with a healthy model behind it"],
    ])("fallback: %s", (hasFallback) => {
      const excluded = [...SLOW, ...(stream ? [] : ["stall"]), ...(format === completions ? [...TOOLS, "refusal"] : [])]
      const possible = slugs.filter((slug) => !excluded.includes(slug))
      const cases = sampled(possible, 2, formats.indexOf(format) + Number(stream) + Number(hasFallback))

      let workspace: Workspace
      beforeAll(async () => {
        workspace = await newWorkspace()
      })

      test.concurrent.each(cases)("sim/%s", async (slug) => {
        const more = { stream, ...(hasFallback && { models: ["sim/echo"] }) }
        const response = await send(workspace.as, format, slug, more)
        const raw = await response.text()
        const failsWith = FAILS[slug] ?? (stream ? undefined : BREAKS[slug])
        const isCarried = hasFallback && !AT_FAULT.includes(slug)

        if (failsWith !== undefined && !isCarried) {
          expect(response.status, raw).toBe(failsWith)
          expect(JSON.parse(raw)).toMatchObject({ error: { code: failsWith, message: expect.any(String) as string } })
          const receipt = await receiptOf(workspace, response)
          expect(receipt).toMatchObject({ total_cost: 0, tokens_from: "none", status: failsWith })
        } else if (stream && BREAKS[slug] !== undefined) {
          expect(response.status, raw).toBe(200)
          const { failure, output } = format.streamed(raw)
          expect(failure).toMatchObject({ message: expect.any(String) as string })
          if (format !== responses) expect(output.text).not.toBe("")
          const receipt = await receiptOf(workspace, response)
          expect(receipt).toMatchObject({ tokens_from: "estimate", status: BREAKS[slug], total_cost: usd(10, 10) })
        } else {
          expect(response.status, raw).toBe(200)
          const answered = failsWith === undefined ? slug : "echo"
          const expected = await referenceOf(answered)
          const output = stream
            ? format.streamed(raw)
            : { failure: undefined, output: format.complete(JSON.parse(raw) as Json) }
          expect(output.failure).toBeUndefined()
          expect({ text: output.output.text, calls: output.output.calls }).toEqual({
            text: expected.text,
            calls: expected.calls,
          })
          const receipt = await receiptOf(workspace, response)
          const { tokens_prompt: prompt, tokens_completion: completion, native_tokens_cached: cached } = receipt
          const price = answered.endsWith(":free") ? 0 : usd(prompt, completion, cached)
          expect(receipt).toMatchObject({ ending: "complete", status: 200, total_cost: price })
          if (receipt.tokens_from === "upstream")
            expect([output.output.prompt, output.output.completion]).toEqual([prompt, completion])
        }
      })

      test("leaves no hold", async () => {
        expect(await openHolds(workspace)).toEqual([])
      })
    })
  })
})

test("the matrix covers every simulated conversation", () => {
  const known = slugs.filter((slug) => slug in FAILS || slug in BREAKS)
  expect(known.toSorted()).toEqual([...Object.keys(FAILS), ...Object.keys(BREAKS)].toSorted())
})
