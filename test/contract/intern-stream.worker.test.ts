import { afterEach, describe, expect, test } from "vitest"
import { runDurableObjectAlarm } from "cloudflare:test"
import { Intern } from "../../durable-objects/intern/intern.ts"
import { LIMITS } from "../../src/interns/run/run.ts"
import { MockDaemon, newConnectedIntern, newDaemonIntern, paramsOf } from "../support/daemon.ts"
import { internChat, type InternReader } from "../support/intern-chat.ts"
import { internObject } from "../support/intern-object.ts"
import { newWorkspace } from "../support/world.ts"

const { clock } = Intern
afterEach(() => {
  Intern.clock = clock
})

async function newRun() {
  const { daemon, chat, object } = await newConnectedIntern()
  const reading = await chat.send("Go")
  const prompt = await daemon.receives("session/prompt")
  return { daemon, chat, reading, prompt, acp: paramsOf(prompt).sessionId, object }
}

/** The last chunk before `[DONE]`: no choices, the session and the usage. */
function expectFinalChunk(reading: InternReader, usage: unknown) {
  expect(reading.chunks.at(-1)).toMatchObject({
    object: "chat.completion.chunk",
    choices: [],
    session_id: expect.stringMatching(/./),
    usage,
  })
  expect(reading.raw.trimEnd().endsWith("data: [DONE]")).toBe(true)
}

describe("the stream of an intern", () => {
  test("is chunks with a delta and a finish reason, then the final chunk with the usage of the intern", async () => {
    const { daemon, reading, prompt, acp } = await newRun()
    daemon.text(acp, "Hi")
    daemon.end(prompt, "end_turn", { inputTokens: 3, outputTokens: 2, totalTokens: 5 })
    await reading.all()
    expect(reading.response.headers.get("content-type")).toContain("text/event-stream")
    expect(reading.chunks.every(({ object }) => object === "chat.completion.chunk")).toBe(true)
    for (const { choices } of reading.chunks.slice(0, -1)) {
      expect(choices).toMatchObject([{ index: 0, delta: expect.any(Object) }])
      expect(choices[0]).toHaveProperty("finish_reason")
    }
    expect(reading.finish).toBe("stop")
    expectFinalChunk(reading, { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 })
  })

  test("has null as its usage if the intern reported none", async () => {
    const { daemon, reading, prompt } = await newRun()
    daemon.end(prompt)
    await reading.all()
    expectFinalChunk(reading, null)
  })

  test("sends a permission question as one tool call with every option, then tool_calls and the final chunk", async () => {
    const { daemon, reading, acp } = await newRun()
    daemon.requestPermission(acp, "q", ["allow_once", "allow_always", "reject_once", "reject_always"])
    await reading.all()
    const calls = reading.chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(calls).toEqual([
      {
        index: 0,
        id: expect.stringMatching(/./) as string,
        type: "function",
        function: { name: "service.provide_input", arguments: expect.any(String) as string },
      },
    ])
    expect(JSON.parse(calls[0]?.function.arguments ?? "")).toMatchObject({
      kind: "permission",
      operation: "shell",
      options: ["allow_once", "allow_always", "reject_once", "reject_always"],
    })
    expect(reading.finish).toBe("tool_calls")
    expectFinalChunk(reading, null)
  })

  test("of a cancelled run ends with 410 run_ended in an error chunk, then the final chunk", async () => {
    const { daemon, reading, prompt, acp, chat } = await newRun()
    daemon.requestPermission(acp, "q")
    await reading.all()
    const going = await chat.answer(reading.session, reading.question.id, "cancel")
    await daemon.receives("session/cancel")
    daemon.end(prompt, "cancelled")
    await going.all()
    expect(going.finish).toBe("error")
    expect(going.error).toMatchObject({ code: 410, metadata: { reason: "run_ended" } })
    expectFinalChunk(going, null)
  })

  test("of a failed agent has the final chunk after the error chunk", async () => {
    const { daemon, reading, prompt } = await newRun()
    daemon.send({ id: prompt.id ?? 0, error: { code: -32_603, message: "It failed." } })
    await reading.all()
    expect(reading.finish).toBe("error")
    expectFinalChunk(reading, null)
  })
})

test("ends with a retryable 504 timeout if the agent does not open a session in time", async () => {
  const workspace = await newWorkspace()
  const intern = await newDaemonIntern(workspace)
  const daemon = new MockDaemon(intern)
  daemon.opensSessions = false
  await daemon.dial()
  const object = internObject(intern.id)
  const reading = await internChat(workspace.key, intern.id).send("Go")
  await daemon.receives("session/new")
  Intern.clock = () => clock() + LIMITS.openingMs
  await runDurableObjectAlarm(object)
  await reading.all()
  expect(reading.error).toMatchObject({ code: 504, metadata: { reason: "timeout", retryable: true } })
})
