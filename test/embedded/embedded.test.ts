import { describe, expect, test } from "vitest"
import { estimatePromptTokens, estimateTokens } from "../../src/support/tokens.ts"
import { realtimeModels } from "../../src/embedded/realtime/models.ts"
import { mediaModels } from "../../src/embedded/media/models.ts"
import { embeddedModels } from "../../src/embedded/models.ts"
import { toSchemaValue } from "../../src/embedded/schema-value.ts"
import { request, contentOf, document, events, post, read, stream, user, worker } from "./request.ts"

const output = "The quick brown fox jumps over the lazy dog, twice."

describe("a response", () => {
  test("is the last user message, in one document with its usage", async () => {
    const answer = await document("echo", output)
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      created: expect.any(Number),
      model: "echo",
      system_fingerprint: "sim-1",
      choices: [{ index: 0, message: { role: "assistant", content: output }, finish_reason: "stop" }],
    })
    const prompt = estimatePromptTokens(user(output))
    const completion = estimateTokens(output)
    expect(answer.usage).toEqual({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    })
  })

  test("streams a role, one chunk a token, a finish, usage on request and [DONE]", async () => {
    const chunks = await stream("echo", output)
    expect(chunks[0]?.choices).toEqual([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }])
    expect(chunks).toHaveLength(estimateTokens(output) + 3)
    expect(contentOf(chunks)).toBe(output)
    expect(chunks.at(-2)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: "stop" }])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: estimateTokens(output) } })
    expect(chunks.slice(0, -1).some((chunk) => "usage" in chunk)).toBe(false)
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  test("streams no usage unless requested", async () => {
    const text = await (await request("echo", output, { stream: true })).text()
    expect(text).not.toContain("usage")
    expect(text).toMatch(/\n\ndata: \[DONE\]\n\n$/)
  })

  test("joins text parts, and is (empty) without text", async () => {
    const parts = [
      { type: "text", text: "one " },
      { type: "image_url", image_url: { url: "data:," } },
      { type: "text", text: "two" },
    ]
    expect(contentOf([await document("echo:free", "", { messages: [{ role: "user", content: parts }] })])).toBe(
      "one two",
    )
    expect(contentOf([await document("echo", "")])).toBe("(empty)")
  })

  test("never splits a character, and still counts tokens as estimated", async () => {
    const text = "abc🌍🌍🌍x🌍"
    const chunks = await stream("echo", text)
    expect(contentOf(chunks)).toBe(text)
    expect(chunks.every((chunk) => contentOf([chunk]).isWellFormed())).toBe(true)
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(estimateTokens(text))
  })

  test("ends with length at the smaller of two limits", async () => {
    const answer = await document("echo", output, { max_tokens: 5, max_completion_tokens: 3 })
    expect(answer.choices).toMatchObject([{ message: { content: output.slice(0, 12) }, finish_reason: "length" }])
    expect(answer.usage?.completion_tokens).toBe(3)
  })

  test.each([["jumps"], [["nowhere", "jumps", "lazy"]]])("ends before a stop sequence: %j", async (stop) => {
    const answer = await document("echo", output, { stop })
    expect(answer.choices).toMatchObject([{ message: { content: "The quick brown fox " }, finish_reason: "stop" }])
  })

  test("has the requested number of choices, all of them counted", async () => {
    expect((await document("echo", output, { n: 3 })).usage?.completion_tokens).toBe(3 * estimateTokens(output))
    const chunks = await stream("echo", output, { n: 2 })
    for (const index of [0, 1]) {
      const mine = chunks.filter(({ choices }) => choices[0]?.index === index)
      expect(contentOf(mine)).toBe(output)
      expect(mine.at(-1)?.choices[0]?.finish_reason).toBe("stop")
    }
  })

  test("of long has four thousand tokens, always the same", async () => {
    const answer = await document("long", output)
    expect(contentOf([answer])).toMatch(/^word-0001 word-0002 .* word-1600$/)
    expect(answer.usage?.completion_tokens).toBe(4_000)
  })
})

describe("other shapes of responses", () => {
  test("json without a schema wraps the message", async () => {
    expect(JSON.parse(contentOf([await document("json", output)]))).toEqual({ echo: output, ok: true })
  })

  test("json with a schema fits it, with nested objects, references and bounds", async () => {
    const schema = {
      type: "object",
      properties: {
        title: { type: "string", maxLength: 9 },
        score: { type: "number", minimum: 0, maximum: 1 },
        note: { anyOf: [{ type: "null" }, { type: "string" }] },
        author: { $ref: "#/$defs/author" },
        tags: { type: "array", minItems: 2, items: { const: "x" } },
      },
      $defs: { author: { type: "object", properties: { name: { type: ["string", "null"] } } } },
    }
    const response_format = { type: "json_schema", json_schema: { name: "note", schema } }
    expect(JSON.parse(contentOf([await document("json", output, { response_format })]))).toEqual({
      title: "The quick",
      score: 1,
      note: null,
      author: { name: output },
      tags: ["x", "x"],
    })
  })

  test.each([
    [{ type: "integer" }, 42],
    [{ type: "number", maximum: 1, minimum: 0 }, 1],
    [{ type: "number", exclusiveMaximum: 1, exclusiveMinimum: 0 }, 0.5],
    [{ type: "integer", exclusiveMaximum: 9.5 }, 9],
    [{ type: "number", minimum: 100 }, 100],
    [{ type: "array", items: { type: "number" }, minItems: 1 }, [42]],
    [{ type: "string", minLength: 4 }, "hi.."],
    [{ oneOf: [{ type: "boolean" }, { type: "null" }] }, true],
    [{ allOf: [{ properties: { a: { type: "boolean" } } }, { properties: { b: { const: 2 } } }] }, { a: true, b: 2 }],
    [{ required: ["a"], type: "object" }, { a: "hi" }],
    [{ properties: { next: { anyOf: [{ $ref: "#/missing" }] } } }, { next: "hi" }],
  ])("%j is satisfied by %j", (schema, value) => {
    expect(toSchemaValue(schema, "hi")).toEqual(value)
  })

  test("a recursive schema ends", () => {
    const list = { type: "object", properties: { next: { anyOf: [{ $ref: "#" }, { type: "null" }] } } }
    expect(JSON.stringify(toSchemaValue(list, "hi"))).toMatch(/^(\{"next":)+null\}+$/)
    expect(toSchemaValue({ $ref: "#" }, "hi")).toBe(null)
  })

  test("reasoning comes before the content and is counted in both places", async () => {
    const thought = `The user said: ${output}. I will repeat it.`
    const { choices, usage } = await document("reasoning", output)
    const details = [{ type: "reasoning.text", text: thought, index: 0, format: "unknown" }]
    expect(choices).toMatchObject([{ message: { content: output, reasoning: thought, reasoning_details: details } }])
    expect(usage?.completion_tokens).toBe(estimateTokens(thought) + estimateTokens(output))
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(estimateTokens(thought))

    const deltas = (await stream("reasoning", output)).flatMap(({ choices }) => choices[0]?.delta ?? [])
    expect(deltas.map(({ reasoning }) => reasoning ?? "").join("")).toBe(thought)
    expect(deltas.findIndex(({ content }) => content)).toBeGreaterThan(
      deltas.findLastIndex(({ reasoning }) => reasoning),
    )
  })

  test.each([[{ reasoning_effort: "none" }], [{ reasoning: { effort: "none" } }]])(
    "without effort has no reasoning: %j",
    async (more) => {
      const { choices } = await document("reasoning", output, more)
      expect(choices[0]?.message).toEqual({ role: "assistant", content: output })
    },
  )

  test("a refusal has no content", async () => {
    const refusal = "I can't help with that."
    const { choices } = await document("refusal", output)
    expect(choices).toMatchObject([{ message: { content: null, refusal }, finish_reason: "stop" }])
    const chunks = await stream("refusal", output)
    expect(chunks.map(({ choices }) => choices[0]?.delta?.refusal ?? "").join("")).toBe(refusal)
    expect(contentOf(chunks)).toBe("")
  })
})

describe("rejected requests", () => {
  test.each([
    ["a body that is not JSON", "{", null],
    ["messages that are not an array", JSON.stringify({ model: "echo", messages: "hi" }), "messages"],
    ["no messages", JSON.stringify({ model: "echo", messages: [] }), "messages"],
    ["too many choices", JSON.stringify({ model: "echo", messages: user("hi"), n: 5 }), "n"],
    ["a limit of 0 tokens", JSON.stringify({ model: "echo", messages: user("hi"), max_tokens: 0 }), "max_tokens"],
    [
      "a choice of an unknown tool",
      JSON.stringify({ model: "tool-call", messages: user("hi"), tool_choice: { function: { name: "x" } } }),
      "tool_choice",
    ],
  ])("%s", async (_, body, param) => {
    const refused = await post(body)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({
      error: { message: expect.any(String), type: "invalid_request_error", param, code: null },
    })
  })

  test.each(["unknown", "status-999", "status-500:date", "constructor"])(
    "an unknown model is a 404: %s",
    async (model) => {
      const refused = await request(model, output)
      expect(refused.status).toBe(404)
      expect(await refused.json()).toMatchObject({ error: { param: "model", code: "model_not_found" } })
    },
  )

  test("an unknown path is a 404", async () => {
    expect((await worker.fetch(new Request("https://embedded/v1/embeddings"))).status).toBe(404)
  })
})

test("every listed model is served under its slug", async () => {
  const listed = await (await worker.fetch(new Request("https://embedded/v1/models"))).json()
  const slugs = [...embeddedModels, ...mediaModels, ...realtimeModels].map(({ slug }) => slug)
  const chatting = embeddedModels.filter(({ embeddings }) => !embeddings).map(({ slug }) => slug)
  expect((listed as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(slugs)
  expect(new Set(slugs).size).toBe(slugs.length)
  const waiting = ["slow", "paced"]
  for (const slug of chatting.filter((slug) => !waiting.includes(slug))) {
    const answered = await request(slug, output, { stream: true })
    expect([200, Number(slug.slice(7, 10))]).toContain(answered.status)
    await answered.body?.cancel()
  }
})

test("the same request streams the same events", async () => {
  const [one, other] = [
    await read(await request("long", output, { stream: true })),
    await read(await request("long", output, { stream: true })),
  ]
  const anonymous = (text: string) => text.replaceAll(/"id":"[^"]*","object":"[^"]*","created":\d+/g, "")
  expect(anonymous(one.text)).toBe(anonymous(other.text))
  expect(events(one.text)).toHaveLength(4_003)
})
