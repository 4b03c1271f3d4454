import { exports } from "cloudflare:workers"
import { afterEach, describe, expect, test } from "vitest"
import { chunk, DONE, mockProvider } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace, type Workspace } from "../support/world.ts"
import { useShortHeartbeats } from "../support/variable.ts"

/** A provider that keeps sending what does not reach the client yet: heartbeats must keep the connection open. */

useShortHeartbeats()

let stop = () => {}
afterEach(() => stop())

const args = (text: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })
const call = chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "" } }] })

/** Far more than a heartbeat needs: a stream without one ends here, so that its test fails. */
const MAX_PIECES = 200

/** Sends `more` until the client has received a heartbeat. */
function holdBack(first: string[], more: string, last: string[]) {
  let isSeen = false
  let sent = 0
  const queue = [...first]
  stop = mockProvider(() => {
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const piece = queue.shift()
        if (piece !== undefined) return controller.enqueue(encoder.encode(piece))
        if (!isSeen && sent++ < MAX_PIECES) {
          await scheduler.wait(20)
          return controller.enqueue(encoder.encode(more))
        }
        for (const one of last) controller.enqueue(encoder.encode(one))
        controller.close()
      },
    })
    return new Response(body, { headers: { "content-type": "text/event-stream" } })
  }).stop
  return () => {
    isSeen = true
  }
}

/** The text of a response. Calls `onHeartbeat` once it has a heartbeat. */
async function readWith(answer: Promise<Response>, heartbeat: RegExp, onHeartbeat: () => void): Promise<string> {
  const response = await answer
  let text = ""
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (heartbeat.test(text)) onHeartbeat()
  }
  expect(response.status, text).toBe(200)
  return text
}

/** A key whose responses are searched for e-mail addresses. */
async function guardedKey(workspace: Workspace) {
  const key = await newKey(workspace)
  const rules = { name: "Rail", content_filter_builtins: [{ slug: "email", action: "redact" }] }
  const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rules))
  const assigned = { key_hashes: [key.hash] }
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, assigned))
  return key
}

const MODEL = "played/m0"
const MESSAGES = [{ role: "user", content: "Hi" }]
const CHAT = { messages: MESSAGES }
const COMMENT = /: keepalive\n\n/
const TWICE_IN_PROGRESS = /"type":"response.in_progress"[^]*"type":"response.in_progress"/
const CALL_END = [args("}"), chunk({}, "tool_calls"), DONE]

describe("what a guardrail holds back", () => {
  test.each([
    ["text, on /chat/completions", "/chat/completions", CHAT, COMMENT],
    ["text, on /responses", "/responses", { input: "Hi" }, TWICE_IN_PROGRESS],
    ["text, on /messages", "/messages", { messages: MESSAGES, max_tokens: 99 }, /event: ping\n/],
  ])("is accompanied by heartbeats: %s", async (_, path, body, heartbeat) => {
    const { as } = await guardedKey(await newWorkspace())
    const text = (content: string) => chunk({ content })
    const onHeartbeat = holdBack([text("mail "), text("ada")], text("a"), [
      text("@example.com"),
      chunk({}, "stop"),
      DONE,
    ])
    const answer = await readWith(as.post(path, { model: MODEL, stream: true, ...body }), heartbeat, onHeartbeat)
    expect(answer).toMatch(heartbeat)
    expect(answer).toContain("[EMAIL]")
  })

  test.each([
    ["/responses", { input: "Hi" }, TWICE_IN_PROGRESS],
    ["/messages", { messages: MESSAGES, max_tokens: 99 }, /event: ping\n/],
  ])("is accompanied by heartbeats: arguments of a tool call, on %s", async (path, body, heartbeat) => {
    const { as } = await guardedKey(await newWorkspace())
    const onHeartbeat = holdBack([call, args('{"x":1')], args("1"), CALL_END)
    const answer = await readWith(as.post(path, { model: MODEL, stream: true, ...body }), heartbeat, onHeartbeat)
    expect(answer).toMatch(heartbeat)
    expect(answer).toMatch(/\{\\"x\\":[^]*1+\}/)
  })
})

test("a function call that is not complete is accompanied by heartbeats in the Gemini API", async () => {
  const { key } = await newWorkspace()
  const onHeartbeat = holdBack([call, args('{"x":1')], args("1"), CALL_END)
  const front = (exports as unknown as { default: Fetcher }).default
  const sent = front.fetch(`https://gateway.test/api/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`, {
    method: "POST",
    headers: { "x-goog-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      tools: [{ functionDeclarations: [{ name: "f" }] }],
    }),
  })
  const answer = await readWith(sent, /^\s*\n\n/, onHeartbeat)
  expect(answer).toMatch(/"functionCall":\{[^]*"x":1+\}/)
})

test("a response whose JSON is repaired at its end is accompanied by heartbeats", async () => {
  const { as } = await newWorkspace()
  const text = (content: string) => chunk({ content })
  const onHeartbeat = holdBack([text('{"x":1')], text("1"), [chunk({}, "stop"), DONE])
  const more = { stream: true, response_format: { type: "json_object" }, plugins: [{ id: "response-healing" }] }
  const answer = await readWith(as.chat(MODEL, "Hi", more), COMMENT, onHeartbeat)
  expect(answer).toMatch(COMMENT)
  expect(answer).toMatch(/\{\\"x\\":1+\}/)
})

test("events without data are accompanied by heartbeats", async () => {
  const { as } = await newWorkspace()
  const onHeartbeat = holdBack([chunk({ content: "Hi" })], "data:\n\n", [chunk({}, "stop"), DONE])
  expect(await readWith(as.chat(MODEL, "Hi", { stream: true }), COMMENT, onHeartbeat)).toMatch(COMMENT)
})
