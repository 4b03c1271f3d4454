import { afterEach, describe, expect, test } from "vitest"
import { replayServerTools } from "../../src/inference/prepare/replay.ts"
import type { ChatRequest } from "../../src/formats/schemas.ts"
import { type UpstreamRequest, chunk, DONE, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { newWorkspace, readStream, expectJson, type Workspace } from "../support/world.ts"

/** A completion in which server tools ran consists of turns: output items show these turns, and input restores them. */
type Json = Record<string, unknown>
type Item = Json & { type: string }

let stop = () => {}
afterEach(() => stop())

const call = (name: string, id: string) => ({ id, type: "function", function: { name, arguments: "{}" } })
const thought = (text: string) => ({ type: "reasoning.text", text, signature: `sig ${text}`, format: "f" })
const MINE = { type: "function", name: "mine", parameters: { type: "object" } }
const TOOLS = [{ type: "openrouter:datetime" }]

type Turn = { thinkingText?: string; answerText?: string; calls?: Json[] }

/** Responds with these turns in order, streamed or not as requested. */
function respondWith(turns: Turn[]) {
  let at = 0
  const provider = mockProvider(({ body }) => {
    const { thinkingText, answerText, calls } = turns[Math.min(at++, turns.length - 1)] as Turn
    const finish = calls ? "tool_calls" : "stop"
    const details = thinkingText === undefined ? {} : { reasoning_details: [{ ...thought(thinkingText), index: 0 }] }
    const placed = calls?.map((one, index) => ({ index, ...one }))
    if (body["stream"] !== true) {
      const message = {
        role: "assistant",
        content: answerText ?? null,
        ...details,
        ...(calls && { tool_calls: calls }),
      }
      return Response.json({ choices: [{ index: 0, message, finish_reason: finish }] })
    }
    const pieces = [
      chunk({ role: "assistant", content: "" }),
      ...(thinkingText === undefined ? [] : [chunk(details)]),
      ...(answerText === undefined ? [] : [chunk({ content: answerText })]),
      ...(placed ? [chunk({ tool_calls: placed })] : []),
    ]
    return sse([...pieces, chunk({}, finish), usageChunk(1, 1), DONE])
  })
  ;({ stop } = provider)
  return provider
}

async function send({ as }: Workspace, stream: boolean, more: Json = {}): Promise<Item[]> {
  const body = { model: "played/m1", input: "Hi", tools: [...TOOLS, MINE], stream, ...more }
  if (!stream) return (await expectJson<{ output: Item[] }>(200, as.post("/responses", body))).output
  const { chunks } = await readStream(as.post("/responses", body))
  return ((chunks.at(-1) as unknown as { response: Json }).response["output"] ?? []) as Item[]
}

const shapeOf = (items: Item[]) => items.map(({ type, content }) => (content ? `${type} ${textIn(content)}` : type))
const textIn = (content: unknown) => (content as { text: string }[]).map(({ text }) => text).join("")
const messagesOf = ({ body }: UpstreamRequest) => body["messages"] as Json[]
const inShort = ({ role, content, tool_calls: calls, reasoning_details: details }: Json) => [
  role,
  ((details ?? []) as Json[]).map(({ text }) => text).join(),
  role === "tool" ? "" : (content ?? ""),
  ((calls ?? []) as { id: string }[]).map(({ id }) => id).join(),
]

const cases: [string, Turn[], string[], unknown[][]][] = [
  [
    "reasoning, text and a tool run",
    [
      { thinkingText: "A", answerText: "w1 ", calls: [call("datetime", "c1")] },
      { thinkingText: "B", answerText: "final" },
    ],
    ["reasoning A", "message w1 ", "openrouter:datetime", "reasoning", "reasoning B", "message final"],
    [
      ["assistant", "A", "w1 ", "c1"],
      ["tool", "", "", ""],
      ["assistant", "B", "final", ""],
    ],
  ],
  [
    "two rounds without text",
    [
      { thinkingText: "A", calls: [call("datetime", "c1")] },
      { calls: [call("datetime", "c2")] },
      { answerText: "final" },
    ],
    ["reasoning A", "openrouter:datetime", "reasoning", "openrouter:datetime", "reasoning", "message final"],
    [
      ["assistant", "A", "", "c1"],
      ["tool", "", "", ""],
      ["assistant", "", "", "c2"],
      ["tool", "", "", ""],
      ["assistant", "", "final", ""],
    ],
  ],
  [
    "a client tool call in the same turn",
    [{ thinkingText: "A", answerText: "w1", calls: [call("datetime", "c1"), call("mine", "c2")] }],
    ["reasoning A", "message w1", "function_call", "openrouter:datetime", "reasoning"],
    [
      ["assistant", "A", "w1", "c1,c2"],
      ["tool", "", "", ""],
    ],
  ],
  [
    "a client tool call in a later turn",
    [{ thinkingText: "A", answerText: "w1", calls: [call("datetime", "c1")] }, { calls: [call("mine", "c2")] }],
    ["reasoning A", "message w1", "openrouter:datetime", "reasoning", "function_call"],
    [
      ["assistant", "A", "w1", "c1"],
      ["tool", "", "", ""],
      ["assistant", "", "", "c2"],
    ],
  ],
]

describe.each(cases)("%s", (_, turns, items, messages) => {
  test.each([false, true])("has its items in the order of the turns; streamed: %s", async (stream) => {
    respondWith(turns)
    expect(shapeOf(await send(await newWorkspace(), stream))).toEqual(items)
  })

  test.each([false, true])("is sent upstream as these turns; streamed: %s", async (stream) => {
    const workspace = await newWorkspace()
    respondWith(turns)
    const output = await send(workspace, stream)
    const { upstreamCalls } = respondWith([{ answerText: "ok" }])
    const pending = output.filter(({ type }) => type === "function_call")
    const results = pending.map(({ call_id: id }) => ({ type: "function_call_output", call_id: id, output: "r" }))
    const input = [{ role: "user", content: "Hi" }, ...output, ...results]
    await send(workspace, false, { input })
    const [, ...rest] = messagesOf(upstreamCalls[0] as UpstreamRequest)
    expect(rest.map(inShort)).toEqual([...messages, ...results.map(() => ["tool", "", "", ""])])
  })

  test.each([false, true])("is sent upstream as these turns on /chat/completions; streamed: %s", async (stream) => {
    const workspace = await newWorkspace()
    respondWith(turns)
    const mine = { type: "function", function: { name: "mine", parameters: { type: "object" } } }
    const body = { model: "played/m1", tools: [...TOOLS, mine] }
    const question = { role: "user", content: "Hi" }
    const answer = workspace.as.post("/chat/completions", { ...body, messages: [question], stream })
    const message = stream ? await merged(answer) : await completeOf(answer)
    const { upstreamCalls } = respondWith([{ answerText: "ok" }])
    const results = ((message["tool_calls"] ?? []) as Json[]).map(({ id }) => ({
      role: "tool",
      tool_call_id: id,
      content: "r",
    }))
    await expectJson(
      200,
      workspace.as.post("/chat/completions", { ...body, messages: [question, message, ...results] }),
    )
    const [, ...rest] = messagesOf(upstreamCalls[0] as UpstreamRequest)
    expect(rest.map(inShort)).toEqual([...messages, ...results.map(() => ["tool", "", "", ""])])
  })
})

async function completeOf(answer: Promise<Response>): Promise<Json> {
  const { choices } = await expectJson<{ choices: { message: Json }[] }>(200, answer)
  return choices[0]?.message ?? {}
}

async function merged(answer: Promise<Response>): Promise<Json> {
  const { chunks } = await readStream(answer)
  const deltas = chunks.map(({ choices }) => (choices[0]?.delta ?? {}) as Json)
  const listOf = (key: string) => deltas.flatMap((delta) => (delta[key] ?? []) as Json[])
  const calls = listOf("tool_calls").map(({ id, type, function: called }) => ({ id, type, function: called }))
  return {
    role: "assistant",
    content: deltas.map(({ content }) => (typeof content === "string" ? content : "")).join(""),
    reasoning_details: listOf("reasoning_details"),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

describe("a conversation with tool runs is restored to its turns", () => {
  const run = (id: string, more: Json = {}) => ({
    type: "reasoning.server_tool_call",
    tool_name: "datetime",
    tool_call_id: id,
    arguments: "{}",
    result: "now",
    ...more,
  })
  const replay = (message: Json, names = ["datetime"]) =>
    (replayServerTools([message] as ChatRequest["messages"], new Set(names)) as Json[]).map(inShort)
  const answer = (content: unknown, details: Json[], more: Json = {}) => ({
    role: "assistant",
    content,
    reasoning_details: details,
    ...more,
  })

  test("without positions: the order of the details determines the turns", () => {
    const details = [thought("A"), run("c1"), run("c2"), thought("B"), run("c3"), thought("C")]
    expect(replay(answer("final", details))).toEqual([
      ["assistant", "A", "", "c1,c2"],
      ["tool", "", "", ""],
      ["tool", "", "", ""],
      ["assistant", "B", "", "c3"],
      ["tool", "", "", ""],
      ["assistant", "C", "final", ""],
    ])
  })

  test("with invalid positions: no text is lost", () => {
    const details = [run("c1", { content_length: 99 }), run("c2", { round: 1, content_length: -1 })]
    expect(replay(answer("final", details)).map(([, , content]) => content)).toEqual(["", "", "", "", "final"])
  })

  test("with tools that are no longer available: the reasoning stays", () => {
    expect(replay(answer("final", [thought("A"), run("c1"), thought("B")]), [])).toEqual([
      ["assistant", "A,B", "final", ""],
    ])
  })

  test("ending in a tool run: no empty message follows", () => {
    expect(replay(answer("", [run("c1")]))).toEqual([
      ["assistant", "", "", "c1"],
      ["tool", "", "", ""],
    ])
  })

  test("with runs of a provider's own tools: the message is unchanged", () => {
    const ownBlock = run("c1", { format: "anthropic-claude-v1" })
    const [message] = replayServerTools(
      [answer("x", [ownBlock]) as ChatRequest["messages"][number]],
      new Set(["datetime"]),
    )
    expect(message).toEqual(answer("x", [ownBlock]))
  })

  test("with plain reasoning as well: each turn has its part", () => {
    const returned = answer("final", [thought("A"), run("c1"), thought("B")], { reasoning: "AB" })
    const turns = replayServerTools([returned] as ChatRequest["messages"], new Set(["datetime"])) as Json[]
    expect(turns.map(({ reasoning }) => reasoning)).toEqual(["A", undefined, "B"])
  })
})
