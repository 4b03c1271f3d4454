import { describe, expect, test } from "vitest"
import { formatSlugs } from "../../src/embedded/models.ts"
import { events, read, worker } from "./ask.ts"

type Json = Record<string, unknown>

const SAID = "Say it again and again.."
const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }

const wires = {
  responses: {
    url: "https://embedded/responses/v1/responses",
    question: { input: SAID },
    tool: { type: "function", name: "weather", parameters: PARAMETERS },
    last: "response.completed",
    wordsOf: (event: Json) => (event["type"] === "response.output_text.delta" ? event["delta"] : ""),
    thoughtOf: (event: Json) => (event["type"] === "response.reasoning_text.delta" ? event["delta"] : ""),
    argumentsOf: (event: Json) => (event["type"] === "response.function_call_arguments.delta" ? event["delta"] : ""),
  },
  messages: {
    url: "https://embedded/messages/v1/messages",
    question: { messages: [{ role: "user", content: SAID }], max_tokens: 4_096 },
    tool: { name: "weather", input_schema: PARAMETERS },
    last: "message_stop",
    wordsOf: (event: Json) => deltaOf(event)["text"] ?? "",
    thoughtOf: (event: Json) => deltaOf(event)["thinking"] ?? "",
    argumentsOf: (event: Json) => deltaOf(event)["partial_json"] ?? "",
  },
}
const names = Object.keys(wires) as (keyof typeof wires)[]

function deltaOf(event: Json): Json {
  return event["type"] === "content_block_delta" ? (event["delta"] as Json) : {}
}

function ask(wire: keyof typeof wires, model: string, more: Json = {}): Promise<Response> {
  const { url, question } = wires[wire]
  const body = JSON.stringify({ model, ...question, ...more })
  return worker.fetch(new Request(url, { method: "POST", headers: { "content-type": "application/json" }, body }))
}

async function stream(wire: keyof typeof wires, model: string, more: Json = {}) {
  const { text, broke } = await read(await ask(wire, model, { stream: true, ...more }))
  const whole = text.slice(0, text.lastIndexOf("\n\n") + 2)
  return { told: events(whole).map((data) => JSON.parse(data) as Json), rest: text.slice(whole.length), broke }
}

describe.each(names)("in the words of /%s", (wire) => {
  const { tool, last, wordsOf, thoughtOf, argumentsOf } = wires[wire]

  test("a stream ends with the wire's own last event, and without [DONE]", async () => {
    const { told } = await stream(wire, "echo")
    expect(told.map(wordsOf).join("")).toBe(SAID)
    expect(told.at(-1)?.["type"]).toBe(last)
  })

  test("tools are called", async () => {
    const { told } = await stream(wire, "tool-call", { tools: [tool] })
    expect(JSON.parse(told.map(argumentsOf).join(""))).toEqual({ city: SAID })
  })

  test("thoughts come before the words", async () => {
    const { told } = await stream(wire, "reasoning")
    expect(told.map(thoughtOf).join("")).toContain("I will repeat it.")
    expect(told.findIndex((event) => wordsOf(event) !== "")).toBeGreaterThan(
      told.findLastIndex((event) => thoughtOf(event) !== ""),
    )
  })

  test("cut breaks inside an event", async () => {
    const { told, rest, broke } = await stream(wire, "cut")
    expect(broke).toBe(true)
    expect(told.filter((event) => wordsOf(event) !== "")).toHaveLength(10)
    expect(rest).toMatch(/^event: .*\ndata: \{/)
    expect(() => JSON.parse(rest.split("data: ")[1] ?? "")).toThrow()
    expect((await read(await ask(wire, "cut"))).broke).toBe(true)
  })

  test("every model of the list is served, and no other", async () => {
    for (const model of formatSlugs) expect((await ask(wire, model)).status).not.toBe(404)
    expect((await ask(wire, "long")).status).toBe(404)
  })

  test("a request that the wire does not have is refused", async () => {
    expect((await ask(wire, "echo", { input: 5, messages: "x" })).status).toBe(400)
  })
})

describe("a failing vendor of /responses", () => {
  test("tells an error before it has begun, and a failed response after", async () => {
    const { told } = await stream("responses", "first-frame-error")
    expect(told).toEqual([
      { type: "error", sequence_number: 0, code: "server_error", message: expect.any(String), param: null },
    ])
    const late = (await stream("responses", "late-error")).told.at(-1)
    expect(late).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error" } },
    })
    expect(await (await ask("responses", "late-error")).json()).toMatchObject({ status: "failed" })
  })

  test("has the chat wire as well, with the same models", async () => {
    const complete = (model: string) =>
      worker.fetch(
        new Request("https://embedded/responses/v1/chat/completions", {
          method: "POST",
          body: JSON.stringify({ model, messages: [{ role: "user", content: SAID }] }),
        }),
      )
    expect(await (await complete("echo")).json()).toMatchObject({ choices: [{ message: { content: SAID } }] })
    expect((await complete("long")).status).toBe(404)
  })

  test("refuses in OpenAI's shape", async () => {
    const refused = await ask("responses", "status-429")
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"])
    expect(await refused.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } })
  })

  test("no-usage has none", async () => {
    expect(await (await ask("responses", "no-usage")).json()).toMatchObject({ usage: null })
  })
})

describe("a failing vendor of /messages", () => {
  const overloaded = { type: "error", error: { type: "overloaded_error", message: expect.any(String) } }

  test("tells an error event, before it has begun and after", async () => {
    expect((await stream("messages", "first-frame-error")).told).toEqual([overloaded])
    const { told } = await stream("messages", "late-error")
    expect(told[0]?.["type"]).toBe("message_start")
    expect(told.at(-1)).toEqual(overloaded)
    const whole = await ask("messages", "late-error")
    expect([whole.status, await whole.json()]).toEqual([529, overloaded])
  })

  test("refuses in its own shape, and keeps the hint of when to come back", async () => {
    const refused = await ask("messages", "status-429")
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"])
    expect(await refused.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } })
  })

  test("no-usage has none, anywhere", async () => {
    expect(await (await ask("messages", "no-usage")).text()).not.toContain('"usage":')
    expect(JSON.stringify((await stream("messages", "no-usage")).told)).not.toContain('"usage":')
  })

  test("a thought is signed once, at its end", async () => {
    const { told } = await stream("messages", "reasoning")
    const kinds = told.map((event) => deltaOf(event)["type"])
    expect(kinds.filter((kind) => kind === "signature_delta")).toHaveLength(1)
    expect(kinds.indexOf("signature_delta")).toBe(kinds.lastIndexOf("thinking_delta") + 1)
    const answer = await ask("messages", "reasoning")
    const { content } = await answer.json<{ content: Json[] }>()
    expect(content).toMatchObject([
      { type: "thinking", signature: expect.stringMatching(/^\w+=*$/) },
      { type: "text", text: SAID },
    ])
  })
})
