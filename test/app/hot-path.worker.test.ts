import * as fc from "fast-check"
import { afterEach, expect, test } from "vitest"
import { type UpstreamRequest, DONE, chunk, good, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { newWorkspace, openHolds, receiptOf, type Workspace } from "../support/world.ts"

/**
 * The hot path and the router respond alike to the same request. A body of declared length may take the hot path; the
 * same body without a length never does.
 */

type Json = Record<string, unknown>

let stop = () => {}
afterEach(() => stop())

const USAGE = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }
const DOCUMENT = {
  id: "up-1",
  object: "chat.completion",
  created: 1,
  model: "vendor",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: USAGE,
}

/** The provider responds as the request states, so that both paths get the same response. */
function answer({ body }: UpstreamRequest): Response {
  const how = body["x_answer"]
  if (how === "error") return Response.json({ error: { message: "no", code: "bad" } }, { status: 400 })
  if (how === "busy") return Response.json({ error: { message: "slow down" } }, { status: 429 })
  if (how === "no usage") {
    if (!body["stream"]) return Response.json({ ...DOCUMENT, usage: undefined })
    return sse([chunk({ content: "1234" }), chunk({}, "stop"), DONE])
  }
  if (how === "tools") {
    const calls = [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }]
    const message = { role: "assistant", content: null, tool_calls: calls }
    if (!body["stream"]) {
      return Response.json({ ...DOCUMENT, choices: [{ index: 0, message, finish_reason: "stop" }] })
    }
    return sse([chunk({ tool_calls: calls }), chunk({}, "tool_calls"), usageChunk(3, 4), DONE])
  }
  return body["stream"] ? sse(good("Hello, world")) : Response.json(DOCUMENT)
}

const request = fc.record(
  {
    model: fc.constantFrom(
      "played/m80",
      "played/m81",
      "PLAYED/M80",
      "played/m80:floor",
      "played/unpriced",
      "acme/opus-1",
      "played/nowhere",
      "",
      "sim/echo:nitro",
    ),
    messages: fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom([{ role: "user", content: "Hi" }], [{ role: "system", content: "Be." }]),
      },
      { weight: 1, arbitrary: fc.constantFrom([], [{ role: "nobody", content: "Hi" }], [{ role: "user" }], "Hi") },
    ),
    stream: fc.constantFrom<unknown>(true, false, true, false, null, "yes"),
    max_tokens: fc.constantFrom<unknown>(5, 100, null, 0, 1.5),
    temperature: fc.constantFrom<unknown>(0, 1, 2, null, 3),
    n: fc.constantFrom<unknown>(1, 2, 0),
    user: fc.constantFrom<unknown>("someone", null, 7),
    tools: fc.constantFrom<unknown>(
      [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
      [{ type: "function", function: { name: "not a name" } }],
      [],
      null,
    ),
    stream_options: fc.constantFrom<unknown>({ include_usage: true }, { include_usage: false }, {}, null),
    usage: fc.constantFrom<unknown>({ include: true }, {}),
    reasoning_effort: fc.constantFrom<unknown>("low", "loud"),
    x_vendor: fc.jsonValue({ maxDepth: 2 }),
    x_answer: fc.constantFrom("error", "busy", "no usage", "tools", "good", "good"),
  },
  { requiredKeys: ["messages", "model"], noNullPrototype: true },
)

type Seen = { status: number; headers: [string, string][]; body: string; upstream: unknown; receipt: unknown }

const NAMES = /chatcmpl-[\w-]{36}|"(?:id|created)":(?:"gen-[^"]*"|\d+)|gen-[\w-]{36}|req-[\w-]{36}|call_\w{32}/g

async function seen(
  workspace: Workspace,
  sent: Json,
  isHot: boolean,
  provider: { upstreamCalls: UpstreamRequest[] },
): Promise<Seen> {
  provider.upstreamCalls.length = 0
  const text = JSON.stringify(sent)
  const response = isHot
    ? await workspace.as.post("/chat/completions", text)
    : await workspace.as.callRaw("POST", "/chat/completions", new Response(text).body as ReadableStream)
  const body = (await response.text()).replaceAll(NAMES, "")
  const headers = [...response.headers].filter(
    ([name]) => !["request-id", "x-request-id", "x-generation-id"].includes(name),
  )
  const upstream = provider.upstreamCalls.map(({ url, headers: all, body: upstreamCalls }) => [
    url,
    [...all],
    upstreamCalls,
  ])
  return { status: response.status, headers, body, upstream, receipt: await charge(workspace, response) }
}

async function charge(workspace: Workspace, response: Response): Promise<unknown> {
  if (!response.ok) return null
  const { total_cost, tokens_prompt, tokens_completion, tokens_from, finish_reason, ending } = await receiptOf(
    workspace,
    response,
  )
  return { total_cost, tokens_prompt, tokens_completion, tokens_from, finish_reason, ending }
}

test("generated requests have the same upstream request, response, headers and charge on both paths", async () => {
  const provider = mockProvider(answer)
  stop = provider.stop
  const workspace = await newWorkspace(10_000)
  // Caches the key in the isolate.
  await seen(workspace, { model: "played/m80", messages: [{ role: "user", content: "Hi" }] }, true, provider)
  for (const sent of fc.sample(request, runs(2))) {
    const hot = await seen(workspace, sent, true, provider)
    const routed = await seen(workspace, sent, false, provider)
    expect(hot, JSON.stringify(sent)).toEqual(routed)
  }
  expect(await openHolds(workspace)).toEqual([])
})

test.each([
  ["a body that is not JSON", "{not json"],
  ["a list", "[1]"],
  ["null", "null"],
])("%s: returns the same error on both paths", async (_, text) => {
  const workspace = await newWorkspace()
  const [hot, routed] = await Promise.all([
    workspace.as.post("/chat/completions", text),
    workspace.as.callRaw("POST", "/chat/completions", new Response(text).body as ReadableStream),
  ])
  expect([hot.status, await hot.text()]).toEqual([routed.status, await routed.text()])
})
