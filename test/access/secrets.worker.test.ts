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

test("a BYOK key that a provider divides between events of a stream is not revealed", async () => {
  const workspace = await newWorkspace()
  const key = "workspace-credential-0123456789"
  await expectJson(201, workspace.manage.post("/byok", { provider: "played", key }))
  const { stop, upstreamCalls } = mockProvider(({ headers }) => {
    const pieces = `You sent: ${headers.get("authorization")}`.match(/.{1,5}/g) ?? []
    return sse([...pieces.map((content) => chunk({ content })), chunk({}, "stop", { usage: USAGE }), DONE])
  })
  const response = await workspace.as.chat("played/m92", "Hi", { stream: true })
  const text = joinedText(await response.text())
  expect(upstreamCalls[0]?.headers.get("authorization")).toBe(`Bearer ${key}`)
  expect(text).toContain("You sent: Bearer workspace-crede[redacted]")
  stop()
})
