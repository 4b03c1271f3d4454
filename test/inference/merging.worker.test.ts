import { afterEach, describe, expect, test } from "vitest"
import { ToolCallFilter } from "../../src/inference/agent/tool-calls.ts"
import { type PartialChoice, mergeChoice } from "../../src/formats/chat/to-result.ts"
import { chunk, DONE, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { newWorkspace, readStream, expectJson } from "../support/world.ts"

type Json = Record<string, unknown>
type Call = Json & { function: { name: string; arguments: string } }
type Result = { choices: { message: Json & { tool_calls: Json[] }; logprobs?: unknown }[] }

let stop = () => {}
afterEach(() => stop())
let models = 30
const newModel = () => `played/m${models++}`

function respondWith(answer: () => Response) {
  const provider = mockProvider(answer)
  ;({ stop } = provider)
  return provider
}

/** The provider streams although the request is not streamed. */
async function nonStreamed(pieces: string[], status = 200): Promise<Result> {
  respondWith(() => sse(pieces))
  return expectJson<Result>(status, (await newWorkspace()).as.chat(newModel(), "Hi"))
}

const calls = (...deltas: Json[]) => [
  ...deltas.map((delta) => chunk({ tool_calls: [delta] })),
  chunk({}, "tool_calls"),
  usageChunk(10, 5),
  DONE,
]
const TWO: [Call, Call] = [
  { id: "A", type: "function", function: { name: "get_weather", arguments: '{"a":1}' } },
  { id: "B", type: "function", function: { name: "get_time", arguments: '{"b":2}' } },
]

describe("a stream returned as JSON", () => {
  const at = (index: number | undefined, call: Json) => ({ ...(index !== undefined && { index }), ...call })
  const [weather, time] = TWO

  test.each<[string, Json[]]>([
    ["no index", [at(undefined, weather), at(undefined, time)]],
    ["one index for both", [at(0, weather), at(0, time)]],
    ["indexes from 1", [at(1, weather), at(2, time)]],
    [
      "the name and the id on every delta",
      TWO.flatMap((call, index) => {
        const { name, arguments: returned } = call.function
        return [returned.slice(0, 3), returned.slice(3)].map((piece) => ({
          ...call,
          index,
          function: { name, arguments: piece },
        }))
      }),
    ],
    [
      "a name in pieces",
      [
        { index: 0, id: "A", function: { name: "get_" } },
        { index: 0, function: { name: "weather", arguments: "" } },
        { index: 0, function: { arguments: '{"a":1}' } },
        at(1, time),
      ],
    ],
    [
      "arguments as an object",
      [at(0, { ...weather, function: { name: "get_weather", arguments: { a: 1 } } }), at(1, time)],
    ],
  ])("merges two calls with %s", async (_, deltas) => {
    const { choices } = await nonStreamed(calls(...deltas))
    expect(choices[0]?.message.tool_calls).toEqual(TWO)
  })

  test("keeps unknown fields of a tool call", async () => {
    const extra = { extra_content: { google: { thought_signature: "s" } } }
    const { choices } = await nonStreamed(calls({ ...weather, ...extra, index: 0 }, { ...time, index: 1 }))
    expect(choices[0]?.message.tool_calls).toEqual([{ ...weather, ...extra }, time])
  })

  test("sets empty arguments of a tool call to an empty object", async () => {
    const { choices } = await nonStreamed(calls({ index: 0, id: "A", function: { name: "f" } }))
    expect(choices[0]?.message.tool_calls).toEqual([
      { id: "A", type: "function", function: { name: "f", arguments: "{}" } },
    ])
  })

  test("joins the log probabilities of all chunks", async () => {
    const token = (text: string) => {
      const logprobs = { content: [{ token: text, logprob: -1, bytes: null, top_logprobs: [] }], refusal: null }
      const choices = [{ index: 0, delta: { content: text }, logprobs, finish_reason: null }]
      return chunk({}, null, { choices })
    }
    const { choices } = await nonStreamed([token("he"), token("llo"), chunk({}, "stop"), DONE])
    expect(choices[0]?.logprobs).toMatchObject({ content: [{ token: "he" }, { token: "llo" }], refusal: null })
  })

  test("joins content in parts with content in a string", async () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "Hm." }] }
    const pieces = [{ content: [thinking] }, { content: [{ type: "text", text: "An" }] }, { content: "swer" }]
    const { choices } = await nonStreamed([...pieces.map((delta) => chunk(delta)), chunk({}, "stop"), DONE])
    expect(choices[0]?.message).toMatchObject({
      content: "Answer",
      reasoning: "Hm.",
      reasoning_details: [{ type: "reasoning.text", text: "Hm." }],
    })
  })

  test("returns 502 when an event is not JSON", async () => {
    await nonStreamed([chunk({ content: "a" }), "data: {broken\n\n", chunk({}, "stop"), DONE], 502)
  })
})

describe("the tool loop", () => {
  const serverCall = { index: 0, id: "A", type: "function", function: { name: "datetime", arguments: "{}" } }
  const mine = { index: 0, id: "B", type: "function", function: { name: "mine", arguments: '{"x":' } }
  const rest = { index: 0, function: { arguments: "1}" } }

  test("separates tool calls like the streams do", () => {
    const choices = new Map<number, PartialChoice>()
    const callFilter = new ToolCallFilter(["datetime"], 0)
    const returned = [serverCall, mine, rest].flatMap((delta) => {
      const places = mergeChoice(choices, { index: 0, delta: { tool_calls: [delta] } })
      const message = choices.get(0)?.choice.message ?? {}
      return callFilter.take([delta], places, message["tool_calls"] as unknown[], false)
    })
    expect(returned).toEqual([mine, rest])
    expect(callFilter.rest(choices.get(0)?.choice.message["tool_calls"] as unknown[])).toEqual([])
  })

  test("runs its call of two with the same index, and passes the other on", async () => {
    const { upstreamCalls } = respondWith(() => sse(calls(serverCall, mine, rest)))
    const tools = [{ type: "openrouter:datetime" }, { type: "function", function: { name: "mine" } }]
    const { as } = await newWorkspace()
    const { chunks } = await readStream(as.chat(newModel(), "Hi", { tools, stream: true }))
    const deltas = chunks.flatMap((one) => (one.choices[0]?.delta.tool_calls ?? []) as (Json & { function: Json })[])
    expect(deltas.map(({ index }) => index)).toEqual([0, 0])
    expect(deltas[0]).toMatchObject({ id: "B", function: { name: "mine" } })
    expect(deltas.map((one) => one.function["arguments"]).join("")).toBe('{"x":1}')
    expect(JSON.stringify(chunks)).toContain('"reasoning.server_tool_call"')
    expect(upstreamCalls).toHaveLength(1)
  })
})

describe("content in parts", () => {
  const parts = [
    { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
    { type: "text", text: "So." },
  ]
  const answer = (isStreamed: boolean) =>
    isStreamed
      ? sse([chunk({ content: [parts[0]] }), chunk({ content: [parts[1]] }), chunk({}, "stop"), usageChunk(1, 1), DONE])
      : Response.json({ choices: [{ index: 0, message: { content: parts }, finish_reason: "stop" }] })

  test.each<[string, Json, (body: string) => void]>([
    ["/responses", { input: "Hi" }, (body) => expect(body).toContain('"reasoning_text","text":"Hm."')],
    [
      "/messages",
      { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
      (body) => expect(body).toMatch(/"thinking":"Hm\."/),
    ],
    [
      "/chat/completions",
      { messages: [{ role: "user", content: "Hi" }] },
      (body) => expect(body).toMatch(/"reasoning":"Hm\."/),
    ],
  ])("%s", async (path, body, check) => {
    const { as } = await newWorkspace()
    for (const stream of [false, true]) {
      respondWith(() => answer(stream))
      const response = await as.post(path, { model: newModel(), stream, ...body })
      const text = await response.text()
      expect(response.status, text).toBe(200)
      check(text)
      expect(text).toContain('"So."')
      stop()
    }
  })
})

test("a JSON response returned as a stream has numbered tool calls with unique ids", async () => {
  const message = {
    content: null,
    tool_calls: [
      { index: 0, id: "A", function: { name: "f", arguments: { x: 1 } } },
      { index: 0, id: "A", function: { name: "f", arguments: { x: 1 } } },
      { index: 0, function: { name: "g" } },
    ],
  }
  respondWith(() => Response.json({ choices: [{ message, finish_reason: "tool_calls" }] }))
  const { chunks } = await readStream((await newWorkspace()).as.chat(newModel(), "Hi", { stream: true }))
  const returned = (chunks[0]?.choices[0]?.delta.tool_calls ?? []) as (Json & { function: Json })[]
  expect(returned.map(({ index, type, function: called }) => [index, type, called["arguments"]])).toEqual([
    [0, "function", '{"x":1}'],
    [1, "function", '{"x":1}'],
    [2, "function", "{}"],
  ])
  expect(new Set(returned.map(({ id }) => id)).size).toBe(3)
})
