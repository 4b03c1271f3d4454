import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { app } from "../../src/app/app.ts"
import { LIMITS } from "../../src/interns/run/run.ts"
import { internChat, refused } from "../support/intern-chat.ts"
import { client, newWorkspace, expectJson } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"

async function newIntern() {
  const workspace = await newWorkspace()
  const input = { name: "ada", model: "sim/echo", provision: true }
  const { id } = await expectJson<{ id: string }>(201, workspace.as.post("/interns", input))
  await eventually(async () => {
    const { status } = await expectJson<{ status: string }>(200, workspace.as.get(`/interns/${id}`))
    expect(status).toBe("running")
  })
  return { workspace, id, chat: internChat(workspace.key, id) }
}

const user = (content: unknown) => ({ role: "user", content })

test("only the last message is read: earlier ones may have what an intern cannot take", async () => {
  const { chat } = await newIntern()
  const messages = [
    user([{ type: "image_url", image_url: { url: "https://example.com/a.png" } }, { type: "input_audio" }]),
    { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
    { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "f", input: "x" } }] },
    { role: "tool", tool_call_id: "c", content: [{ type: "image_url", image_url: { url: "https://example.com/b" } }] },
    user([
      { type: "text", text: "Good " },
      { type: "text", text: "morning" },
    ]),
  ]
  const accepted = await chat.call({ messages, stream: true })
  expect(accepted.response.status).toBe(200)
  await accepted.all()
  expect(accepted.text).toContain("Good morning")
})

describe("an invalid chat request", () => {
  test.each([
    [{ messages: [user("Hi")] }, "stream"],
    [{ messages: [user("Hi")], stream: false }, "stream"],
    [{ messages: [], stream: true }, "messages"],
    [{ messages: [user("")], stream: true }, "messages"],
    [{ messages: [user(null)], stream: true }, "messages"],
    [{ messages: [user("x".repeat(LIMITS.promptChars + 1))], stream: true }, "32000"],
    [{ messages: [user([{ type: "image_url", image_url: { url: "x" } }])], stream: true }, "messages"],
    [{ messages: [user([{ type: "text", text: "Hi" }, { type: "text" }])], stream: true }, "messages"],
    [{ messages: [{ role: "assistant", content: "Hi" }], stream: true }, "messages"],
    [{ messages: [{ role: "robot", content: "Hi" }], stream: true }, "role"],
    [{ messages: [user("Hi")], stream: true, approval_mode: "yolo" }, "approval_mode"],
    [{ messages: [user("Hi")], stream: true, session_id: "" }, "session_id"],
    [{ messages: [{ role: "tool", tool_call_id: "x", content: "allow_once" }], stream: true }, "session_id"],
  ])("%j returns 400 bad_request, and the error names %s", async (body, texts) => {
    const { chat } = await newIntern()
    const answer = await refused(chat.call(body))
    expect(answer).toMatchObject({ status: 400, reason: "bad_request", retryable: false })
    expect(answer.message).toContain(texts)
  })

  test("has a prompt above the limit, which counts a character outside the Basic Multilingual Plane once", async () => {
    const { chat } = await newIntern()
    const prompt = (length: number) => chat.call({ messages: [user("😀".repeat(length))], stream: true })
    const accepted = await prompt(LIMITS.promptChars)
    expect(accepted.response.status).toBe(200)
    await accepted.all()
    expect(await refused(prompt(LIMITS.promptChars + 1))).toMatchObject({ status: 400, reason: "bad_request" })
  })

  test("returns 413, 415, 400 or 404 for a body that is too large or not JSON and for an unknown intern", async () => {
    const { workspace, id } = await newIntern()
    const path = `/interns/${id}/chat/completions`
    type Refused = { error: { code: number; metadata: { reason: string; retryable: boolean } } }
    const large = await expectJson<Refused>(
      413,
      workspace.as.post(path, { stream: true, filler: "x".repeat(1_048_576) }),
    )
    expect(large.error.metadata).toEqual({ reason: "payload_too_large", retryable: false })
    const text = client(workspace.key).call("POST", path, "hello", { "content-type": "text/plain" })
    expect((await expectJson<Refused>(415, text)).error.metadata.reason).toBe("unsupported_media_type")
    const broken = await expectJson<Refused>(400, workspace.as.post(path, "{broken"))
    expect(broken.error.metadata).toEqual({ reason: "bad_request", retryable: false })
    const unknownIntern = `/interns/${crypto.randomUUID()}/chat/completions`
    const missing = await expectJson<Refused>(
      404,
      workspace.as.post(unknownIntern, { stream: true, messages: [user("Hi")] }),
    )
    expect(missing.error.metadata).toEqual({ reason: "not_found", retryable: false })
  })
})

test("text parts are joined to one prompt, and messages before the last one are ignored", async () => {
  const { chat } = await newIntern()
  const parts = [
    { type: "text", text: "Hello " },
    { type: "text", text: "there" },
  ]
  const messages = [
    { role: "system", content: "Shout" },
    user("Ignored"),
    { role: "developer", content: null },
    user(parts),
  ]
  const reading = await (await chat.call({ stream: true, model: "any/thing", temperature: 1, messages })).all()
  expect(reading.text).toBe("Hello there")
})

test("a slow lifecycle operation returns a retryable 408 timeout", async () => {
  const { as, key } = await newWorkspace()
  const request = new Request("http://gateway.test/api/v1/interns", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "ada" }),
  })
  // A database that responds only when the test lets it.
  const { promise: answers, resolve: answer } = Promise.withResolvers<undefined>()
  const batch: D1Database["batch"] = async (statements) => {
    await answers
    return env.DB.batch(statements)
  }
  const DB = { prepare: (sql: string) => env.DB.prepare(sql), batch } as D1Database
  await expectJson(200, as.get("/key"))
  const bindings = { ...env, DB, INTERN_LIFECYCLE_TIMEOUT_MS: "5" }
  const late = await app.fetch(request, bindings, createExecutionContext())
  type Refused = { error: { code: number; metadata: { reason: string; retryable: boolean } } }
  const { error } = await expectJson<Refused>(408, late)
  expect(error).toMatchObject({ code: 408, metadata: { reason: "timeout", retryable: true } })
  answer(undefined)
  await eventually(async () => {
    const again = await as.post("/interns", { name: "ada" })
    expect(again.status).toBe(200)
  })
})
