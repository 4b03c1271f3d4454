import { describe, expect, test } from "vitest"
import { formatSlugs } from "../../src/embedded/models.ts"
import { events, read, worker } from "./request.ts"

type Json = Record<string, unknown>

const TEXT = "Say it again and again.."
const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }

const formats = {
  responses: {
    url: "https://embedded/responses/v1/responses",
    question: { input: TEXT },
    tool: { type: "function", name: "weather", parameters: PARAMETERS },
    last: "response.completed",
    textOf: (event: Json) => (event["type"] === "response.output_text.delta" ? event["delta"] : ""),
    thoughtOf: (event: Json) => (event["type"] === "response.reasoning_text.delta" ? event["delta"] : ""),
    argumentsOf: (event: Json) => (event["type"] === "response.function_call_arguments.delta" ? event["delta"] : ""),
  },
  messages: {
    url: "https://embedded/messages/v1/messages",
    question: { messages: [{ role: "user", content: TEXT }], max_tokens: 4_096 },
    tool: { name: "weather", input_schema: PARAMETERS },
    last: "message_stop",
    textOf: (event: Json) => deltaOf(event)["text"] ?? "",
    thoughtOf: (event: Json) => deltaOf(event)["thinking"] ?? "",
    argumentsOf: (event: Json) => deltaOf(event)["partial_json"] ?? "",
  },
}
const names = Object.keys(formats) as (keyof typeof formats)[]

function deltaOf(event: Json): Json {
  return event["type"] === "content_block_delta" ? (event["delta"] as Json) : {}
}

function send(format: keyof typeof formats, model: string, more: Json = {}): Promise<Response> {
  const { url, question } = formats[format]
  const body = JSON.stringify({ model, ...question, ...more })
  return worker.fetch(new Request(url, { method: "POST", headers: { "content-type": "application/json" }, body }))
}

async function stream(format: keyof typeof formats, model: string, more: Json = {}) {
  const { text, broke } = await read(await send(format, model, { stream: true, ...more }))
  const framesText = text.slice(0, text.lastIndexOf("\n\n") + 2)
  return {
    events: events(framesText).map((data) => JSON.parse(data) as Json),
    rest: text.slice(framesText.length),
    broke,
  }
}

describe.each(names)("embedded /%s", (format) => {
  const { tool, last, textOf: textsOf, thoughtOf, argumentsOf } = formats[format]

  test("ends a stream with the last event of the format, and without [DONE]", async () => {
    const { events: reported } = await stream(format, "echo")
    expect(reported.map(textsOf).join("")).toBe(TEXT)
    expect(reported.at(-1)?.["type"]).toBe(last)
  })

  test("calls tools", async () => {
    const { events: reported } = await stream(format, "tool-call", { tools: [tool] })
    expect(JSON.parse(reported.map(argumentsOf).join(""))).toEqual({ city: TEXT })
  })

  test("sends reasoning before text", async () => {
    const { events: reported } = await stream(format, "reasoning")
    expect(reported.map(thoughtOf).join("")).toContain("I will repeat it.")
    expect(reported.findIndex((event) => textsOf(event) !== "")).toBeGreaterThan(
      reported.findLastIndex((event) => thoughtOf(event) !== ""),
    )
  })

  test("breaks inside an event with the model cut", async () => {
    const { events: reported, rest, broke } = await stream(format, "cut")
    expect(broke).toBe(true)
    expect(reported.filter((event) => textsOf(event) !== "")).toHaveLength(10)
    expect(rest).toMatch(/^event: .*\ndata: \{/)
    expect(() => JSON.parse(rest.split("data: ")[1] ?? "")).toThrow()
    expect((await read(await send(format, "cut"))).broke).toBe(true)
  })

  test("serves every model of the list, and no other", async () => {
    for (const model of formatSlugs) expect((await send(format, model)).status).not.toBe(404)
    expect((await send(format, "long")).status).toBe(404)
  })

  test("rejects a request of another format with 400", async () => {
    expect((await send(format, "echo", { input: 5, messages: "x" })).status).toBe(400)
  })
})

describe("embedded /responses with a fault", () => {
  test("sends an error event before its start, and a failed response after it", async () => {
    const { events: reported } = await stream("responses", "first-frame-error")
    expect(reported).toEqual([
      { type: "error", sequence_number: 0, code: "server_error", message: expect.any(String), param: null },
    ])
    const late = (await stream("responses", "late-error")).events.at(-1)
    expect(late).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error" } },
    })
    expect(await (await send("responses", "late-error")).json()).toMatchObject({ status: "failed" })
  })

  test("serves chat completions, with the same models", async () => {
    const complete = (model: string) =>
      worker.fetch(
        new Request("https://embedded/responses/v1/chat/completions", {
          method: "POST",
          body: JSON.stringify({ model, messages: [{ role: "user", content: TEXT }] }),
        }),
      )
    expect(await (await complete("echo")).json()).toMatchObject({ choices: [{ message: { content: TEXT } }] })
    expect((await complete("long")).status).toBe(404)
  })

  test("returns errors in OpenAI's shape", async () => {
    const refused = await send("responses", "status-429")
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"])
    expect(await refused.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } })
  })

  test("has no usage with no-usage", async () => {
    expect(await (await send("responses", "no-usage")).json()).toMatchObject({ usage: null })
  })
})

describe("embedded /messages with a fault", () => {
  const overloaded = { type: "error", error: { type: "overloaded_error", message: expect.any(String) } }

  test("sends an error event before its start and after it", async () => {
    expect((await stream("messages", "first-frame-error")).events).toEqual([overloaded])
    const { events: reported } = await stream("messages", "late-error")
    expect(reported[0]?.["type"]).toBe("message_start")
    expect(reported.at(-1)).toEqual(overloaded)
    const framesText = await send("messages", "late-error")
    expect([framesText.status, await framesText.json()]).toEqual([529, overloaded])
  })

  test("returns errors in Anthropic's shape, with retry-after", async () => {
    const refused = await send("messages", "status-429")
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"])
    expect(await refused.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } })
  })

  test("has no usage anywhere with no-usage", async () => {
    expect(await (await send("messages", "no-usage")).text()).not.toContain('"usage":')
    expect(JSON.stringify((await stream("messages", "no-usage")).events)).not.toContain('"usage":')
  })

  test("signs reasoning once, at its end", async () => {
    const { events: reported } = await stream("messages", "reasoning")
    const kinds = reported.map((event) => deltaOf(event)["type"])
    expect(kinds.filter((kind) => kind === "signature_delta")).toHaveLength(1)
    expect(kinds.indexOf("signature_delta")).toBe(kinds.lastIndexOf("thinking_delta") + 1)
    const answer = await send("messages", "reasoning")
    const { content } = await answer.json<{ content: Json[] }>()
    expect(content).toMatchObject([
      { type: "thinking", signature: expect.stringMatching(/^\w+=*$/) },
      { type: "text", text: TEXT },
    ])
  })
})
