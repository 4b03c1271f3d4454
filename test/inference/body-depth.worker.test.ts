import * as fc from "fast-check"
import { describe, expect, onTestFinished, test } from "vitest"
import { mockProvider, sse } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newWorkspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Failure = { error: { message: string } }

const MODELS = ["sim/echo", "sim-responses/echo", "sim-messages/echo"]
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
const MESSAGES = `"max_tokens":16,"messages":[{"role":"user","content":"Hi"}]`
const CONTENTS = `"contents":[{"role":"user","parts":[{"text":"Hi"}]}]`

/** Bodies with the nested value in a field that is translated, echoed or ignored. */
const BODIES: Readonly<Record<string, readonly string[]>> = {
  "/chat/completions": [
    `{"model":"$M",${MESSAGES},"unknown":$V}`,
    `{"model":"$M",${MESSAGES},"tools":[{"type":"function","function":{"name":"f","parameters":$V}}]}`,
    `{"model":"$M",${MESSAGES},"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":$V}}}`,
  ],
  "/responses": [
    `{"model":"$M","input":"Hi","unknown":$V}`,
    `{"model":"$M","input":"Hi","tools":[{"type":"function","name":"f","parameters":$V}]}`,
    `{"model":"$M","input":"Hi","text":{"format":{"type":"json_schema","name":"n","schema":$V}}}`,
  ],
  "/messages": [
    `{"model":"$M",${MESSAGES},"unknown":$V}`,
    `{"model":"$M",${MESSAGES},"tools":[{"name":"f","input_schema":{"type":"object","properties":$V}}]}`,
  ],
  "/models/$M:generateContent": [
    `{${CONTENTS},"unknown":$V}`,
    `{${CONTENTS},"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":$V}]}]}`,
    `{${CONTENTS},"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":$V}}`,
  ],
  "/models/$M:countTokens": [`{${CONTENTS},"unknown":$V}`],
}
const CASES = Object.entries(BODIES).flatMap(([path, bodies]) => bodies.map((body) => [path, body] as const))

const requestArb = fc.record({ target: fc.constantFrom(...CASES), model: fc.constantFrom(...MODELS) })
const fill = (text: string, model: string, value: string) => text.replace("$M", model).replace("$V", value)

describe("a body that is nested too deeply", () => {
  test("returns 400 in every API format, and costs nothing", async () => {
    const { as } = await newWorkspace()
    await fc.assert(
      fc.asyncProperty(requestArb, fc.integer({ min: 410, max: 60_000 }), async ({ target, model }, depth) => {
        const [path, body] = target
        const answer = as.post(fill(path, encodeURIComponent(model), ""), fill(body, model, nested(depth)))
        expect((await expectJson<Failure>(400, answer)).error.message).toContain("nested too deeply")
      }),
      { numRuns: runs(1) },
    )
    expect(await expectJson(200, as.get("/key"))).toMatchObject({ data: { usage: 0 } })
  })

  test("up to the limit is answered, and never becomes a failure of the gateway or the provider", async () => {
    const { as } = await newWorkspace()
    await fc.assert(
      fc.asyncProperty(requestArb, fc.integer({ min: 1, max: 395 }), async ({ target, model }, depth) => {
        const [path, body] = target
        const { status } = await as.post(fill(path, encodeURIComponent(model), ""), fill(body, model, nested(depth)))
        expect(status).toBeLessThan(500)
      }),
      { numRuns: runs(1) },
    )
  })
})

describe("an event of a stream that is nested too deeply", () => {
  const event = (delta: string) =>
    `data: {"id":"u","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":null}]}\n\n`
  const formats = {
    "/chat/completions": { messages: [{ role: "user", content: "Hi" }] },
    "/responses": { input: "Hi" },
    "/messages": { max_tokens: 16, messages: [{ role: "user", content: "Hi" }] },
  }
  const format = fc.constantFrom(...Object.entries(formats))

  test("ends the stream with an error, or fails over before there is content", async () => {
    let events: string[] = []
    const { stop } = mockProvider(() => sse([...events, "data: [DONE]\n\n"]))
    onTestFinished(stop)
    const { as } = await newWorkspace()
    const cases = fc.asyncProperty(
      format,
      fc.integer({ min: 510, max: 60_000 }),
      fc.boolean(),
      async (one, depth, isFirst) => {
        const [path, body] = one
        const deep = event(`{"content":"Deep","extra":${nested(depth)}}`)
        events = isFirst ? [deep] : [event('{"content":"Hello"}'), deep]
        const response = await as.post(path, { model: "played/m98", stream: true, ...body })
        const text = await response.text()
        expect(text).not.toContain("Deep")
        if (!isFirst) expect(text).toContain("nested too deeply")
        expect(response.status).toBe(isFirst ? 502 : 200)
      },
    )
    await fc.assert(cases, { numRuns: runs(0.6) })
  })

  test("up to the limit is relayed", async () => {
    const { stop } = mockProvider(() =>
      sse([
        event(`{"content":"Hello","extra":${nested(400)}}`),
        event("{}").replace("null", '"stop"'),
        "data: [DONE]\n\n",
      ]),
    )
    onTestFinished(stop)
    const { as } = await newWorkspace()
    const text = await (await as.chat("played/m98", "Hi", { stream: true })).text()
    expect(text).toContain("Hello")
    expect(text).toContain(nested(400))
    expect(text).toContain("data: [DONE]")
  })
})

const call = (args: string) => ({ id: "c", type: "function", function: { name: "f", arguments: args } })

describe("arguments of a tool call that are nested too deeply", () => {
  test("are returned as their text where a format has an object", async () => {
    const args = nested(60_000)
    const { stop } = mockProvider(() => {
      const message = { role: "assistant", content: null, tool_calls: [call(args)] }
      return Response.json({ id: "u", choices: [{ index: 0, message, finish_reason: "tool_calls" }] })
    })
    onTestFinished(stop)
    const { as } = await newWorkspace()
    const model = "played/m98"
    const messages = [{ role: "user", content: "Hi" }]
    expect(await expectJson(200, as.post("/messages", { model, max_tokens: 16, messages }))).toMatchObject({
      content: [{ type: "tool_use", name: "f", input: { unparsed: args } }],
    })
    const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
    const path = `/models/${encodeURIComponent(model)}:generateContent`
    expect(await expectJson(200, as.post(path, { contents }))).toMatchObject({
      candidates: [{ content: { parts: [{ functionCall: { name: "f", args: { arguments: args } } }] } }],
    })
  })

  test("of any depth can be sent back in the next request, as an object or as text", async () => {
    const model = "played/m98"
    let args = ""
    const { stop } = mockProvider(() => {
      const message = { role: "assistant", content: null, tool_calls: [call(args)] }
      return Response.json({ id: "u", choices: [{ index: 0, message, finish_reason: "tool_calls" }] })
    })
    onTestFinished(stop)
    const { as } = await newWorkspace()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 300, max: 600 }), async (depth) => {
        args = nested(depth)
        const messages = [{ role: "user", content: "Hi" }]
        const send = (conversation: readonly object[]) =>
          expectJson<{ content: { id: string }[] }>(
            200,
            as.post("/messages", { model, max_tokens: 16, messages: conversation }),
          )
        const { content } = await send(messages)
        const result = { type: "tool_result", tool_use_id: content[0]?.id, content: "Done" }
        await send([...messages, { role: "assistant", content }, { role: "user", content: [result] }])
      }),
      { numRuns: runs(0.3) },
    )
  })

  test("are rejected in a request to a provider that takes an object", async () => {
    const { as } = await newWorkspace()
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: [call(nested(60_000))] },
      { role: "tool", tool_call_id: "c", content: "Done" },
    ]
    const answer = as.post("/chat/completions", { model: "sim-messages/echo", messages })
    expect((await expectJson<Failure>(400, answer)).error.message).toContain("nested")
  })
})
