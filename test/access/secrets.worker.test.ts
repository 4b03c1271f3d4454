import { afterEach, describe, expect, test, vi } from "vitest"
import { chunk, mockProvider, sse } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace } from "../support/world.ts"

const encoder = new TextEncoder()

afterEach(() => vi.restoreAllMocks())

const PROVIDER_KEY = "played-provider-key-0123456789"

test("no failure puts a key into a log line, a response or a header", async () => {
  const lines: string[] = []
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => void lines.push(parts.map(String).join(" ")))
  }
  const workspace = await newWorkspace()
  const { key, as } = await newKey(workspace)
  const leak = (status: number) =>
    Response.json(
      { error: { message: `no: ${PROVIDER_KEY}`, param: PROVIDER_KEY } },
      { status, headers: { "x-goog-api-key": PROVIDER_KEY } },
    )
  const answers: Response[] = []
  for (const fault of [
    () => leak(400),
    () => leak(401),
    () => leak(500),
    () => Promise.reject(new Error(`connect failed with ${PROVIDER_KEY}`)),
    () => new Response(`<html>${PROVIDER_KEY}</html>`, { headers: { "content-type": "text/html" } }),
    () => Response.json({ error: `in words: ${PROVIDER_KEY}` }),
    () =>
      new Response(`data: {"error":{"message":"${PROVIDER_KEY}"}}\n\n`, {
        headers: { "content-type": "text/event-stream" },
      }),
    () => sse([chunk({ content: "1234" }), `data: {"error":{"message":"${PROVIDER_KEY}","code":400}}\n\n`]),
  ]) {
    const { stop } = mockProvider(fault)
    for (const stream of [true, false]) answers.push(await as.chat("played/m92", "Hi", { stream }))
    stop()
  }
  answers.push(
    await as.post("/keys", { name: "x" }),
    await as.get("/nowhere"),
    await as.call("POST", "/chat/completions", `{"k":"${key}`),
  )
  const reported = await Promise.all(
    answers.map(async (answer) => JSON.stringify([...answer.headers]) + (await answer.text())),
  )
  for (const secret of [key, workspace.key, workspace.managementKey, PROVIDER_KEY, "sk-gw-boot-of"]) {
    expect(lines.join("\n")).not.toContain(secret)
    expect(reported.join("\n")).not.toContain(secret)
  }
})

const ECHO = `You sent: Authorization: Bearer ${PROVIDER_KEY}`
const USAGE = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 }
const echoStream = [chunk({ content: ECHO }), chunk({ reasoning: ECHO }), chunk({}, "stop", { usage: USAGE })].join("")
const DONE = "data: [DONE]\n\n"
/** A stream with the text in pieces of this length, as the answer and as reasoning. */
const divided = (length: number) => () => {
  const pieces = ECHO.match(new RegExp(`.{1,${length}}`, "g")) ?? []
  const texts = [...pieces.map((reasoning) => ({ reasoning })), ...pieces.map((content) => ({ content }))]
  return sse([...texts.map((delta) => chunk(delta)), chunk({}, "stop", { usage: USAGE }), DONE])
}
const echoes = {
  "a JSON response": () =>
    Response.json({
      id: "up-1",
      object: "chat.completion",
      created: 1,
      model: PROVIDER_KEY,
      choices: [{ index: 0, message: { role: "assistant", content: ECHO }, finish_reason: "stop" }],
      usage: USAGE,
    }),
  "a stream": () => sse([echoStream, DONE]),
  "base64 in a stream": () => sse([chunk({ content: btoa(ECHO) }, "stop", { usage: USAGE }), DONE]),
  "a stream of single bytes": () => sse([...encoder.encode(echoStream + DONE)].map((byte) => Uint8Array.of(byte))),
  "a stream without an end": () => sse([echoStream.trimEnd()]),
  "two events of a stream": divided(Math.ceil(ECHO.length - PROVIDER_KEY.length / 2)),
  "many events of a stream": divided(4),
  "one event for each character": divided(1),
  "a comment of a stream": () => sse([`: ${ECHO}\n\n`, chunk({ content: "Hi" }, "stop", { usage: USAGE }), DONE]),
}

/** The texts of the events of a stream in any format. */
function joinedText(stream: string): string {
  const texts = stream.matchAll(/"(?:content|reasoning|delta|text|thinking)":"((?:[^"\\]|\\.)*)"/g)
  return [...texts].map(([, text]) => text).join("")
}

describe.each(Object.entries(echoes))("a provider that echoes the gateway's key in %s", (_, provider) => {
  test.each([
    ["/chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
    ["/messages", { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }],
    ["/responses", { input: "Hi" }],
  ])("does not reveal it on %s", async (path, body) => {
    const workspace = await newWorkspace()
    const { stop } = mockProvider(provider)
    for (const stream of [true, false]) {
      const response = await workspace.as.post(path, { model: "played/m92", stream, ...body })
      const text = await response.text()
      expect(response.status, text).toBe(200)
      expect(text).not.toContain(PROVIDER_KEY)
      expect(joinedText(text)).not.toContain(PROVIDER_KEY)
      expect(text).not.toContain(btoa(ECHO))
    }
    stop()
  })
})

test.each([
  ["", {}],
  [
    "under a guardrail that reads responses ",
    { content_filters: [{ pattern: "canary", action: "redact", label: "x" }] },
  ],
])("a BYOK key that a provider divides between events of a stream %sis not revealed", async (_, rules) => {
  const workspace = await newWorkspace()
  const { as, hash } = await newKey(workspace)
  const made = workspace.manage.post("/guardrails", { name: "Rail", ...rules })
  const { data } = await expectJson<{ data: { id: string } }>(201, made)
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
  const key = "workspace-credential-0123456789"
  await expectJson(201, workspace.manage.post("/byok", { provider: "played", key }))
  const { stop, upstreamCalls } = mockProvider(({ headers }) => {
    const pieces = `You sent: ${headers.get("authorization")}`.match(/.{1,5}/g) ?? []
    return sse([...pieces.map((content) => chunk({ content })), chunk({}, "stop", { usage: USAGE }), DONE])
  })
  const response = await as.chat("played/m92", "Hi", { stream: true })
  const text = joinedText(await response.text())
  expect(upstreamCalls[0]?.headers.get("authorization")).toBe(`Bearer ${key}`)
  expect(text).toContain("You sent: Bearer workspace-crede[redacted]")
  stop()
})

const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

/** Streams of providers in the format of the client, with the header of the key in pieces. */
const native = {
  Responses: {
    path: "/responses",
    body: { model: "batching/b0", input: "Hi" },
    key: "batching-provider-key-0123456789",
    events: (pieces: readonly string[]) => {
      const response = {
        id: "resp-1",
        object: "response",
        created_at: 1,
        status: "in_progress",
        model: "m",
        output: [],
      }
      const text = { item_id: "msg-1", output_index: 0, content_index: 0 }
      const item = { id: "msg-1", type: "message", role: "assistant", status: "in_progress", content: [] }
      const usage = { input_tokens: 2, output_tokens: 3, total_tokens: 5 }
      return [
        event("response.created", { sequence_number: 0, response }),
        event("response.output_item.added", { sequence_number: 1, output_index: 0, item }),
        ...pieces.map((delta, at) => event("response.output_text.delta", { sequence_number: 2 + at, ...text, delta })),
        event("response.completed", { sequence_number: 99, response: { ...response, status: "completed", usage } }),
      ]
    },
  },
  Messages: {
    path: "/messages",
    body: { model: "acme/opus-1", max_tokens: 99, messages: [{ role: "user", content: "Hi" }] },
    key: "claudish-provider-key-0123456789",
    events: (pieces: readonly string[]) => {
      const usage = { input_tokens: 2, output_tokens: 1 }
      const message = {
        id: "msg-1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage,
      }
      return [
        event("message_start", { message }),
        event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
        ...pieces.map((text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })),
        event("content_block_stop", { index: 0 }),
        event("message_delta", {
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: { output_tokens: 3 },
        }),
        event("message_stop", {}),
      ]
    },
  },
}

test.each(Object.entries(native))(
  "a key that a provider divides between events of a native %s stream is not revealed",
  async (_, { path, body, key, events }) => {
    const workspace = await newWorkspace()
    for (const length of [1, 5, 20]) {
      const pieces = `You sent: ${key} and no more`.match(new RegExp(`.{1,${length}}`, "g")) ?? []
      const { stop } = mockProvider(() => sse(events(pieces)))
      const response = await workspace.as.post(path, { ...body, stream: true })
      const text = joinedText(await response.text())
      expect([response.status, text]).toEqual([
        200,
        expect.stringContaining(`You sent: ${key.slice(0, 16)}[redacted] and no more`),
      ])
      expect(text).not.toContain(key)
      stop()
    }
  },
)
