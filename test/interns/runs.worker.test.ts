import { env, exports } from "cloudflare:workers"
import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, onTestFinished, test } from "vitest"
import { Intern } from "../../durable-objects/intern/intern.ts"
import { internObject, parseConfigAgain } from "../support/intern-object.ts"
import { LIMITS } from "../../src/interns/run/run.ts"
import { newConnectedIntern, newDaemonIntern, paramsOf, MockDaemon } from "../support/daemon.ts"
import { internChat, refused } from "../support/intern-chat.ts"
import { newWorkspace, expectJson } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"

/** A run that is paused on a question. */
async function pausedRun(setup: Awaited<ReturnType<typeof newConnectedIntern>>, text = "Run it") {
  const nth = setup.daemon.received.filter(({ method }) => method === "session/prompt").length
  const requests = await setup.chat.send(text)
  const prompt = await setup.daemon.receives("session/prompt", nth)
  const acp = paramsOf(prompt).sessionId
  setup.daemon.requestPermission(acp, `q-${crypto.randomUUID()}`)
  await requests.all()
  return { acp, prompt, pending: requests, session: requests.session, question: requests.question.id }
}

/** Advances the clock of all interns by `ms` and runs the alarm of this one. */
async function pass(object: ReturnType<typeof internObject>, ms: number) {
  const { clock } = Intern
  Intern.clock = () => clock() + ms
  await runDurableObjectAlarm(object)
}

const { clock, timer } = Intern
afterEach(() => {
  Intern.clock = clock
  Intern.timer = timer
})

describe("a turn", () => {
  test("streams text and reasoning of the agent, and ends with its usage", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const reading = await chat.send("Hello")
    const prompt = await daemon.receives("session/prompt")
    expect(paramsOf(prompt).prompt).toEqual([{ type: "text", text: "Hello" }])
    const acp = paramsOf(prompt).sessionId
    daemon.send({
      method: "session/update",
      params: {
        sessionId: acp,
        update: { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } },
      },
    })
    daemon.text(acp, "Hi ")
    daemon.text(acp, "there")
    daemon.end(prompt, "end_turn", { inputTokens: 200, cachedReadTokens: 1000, outputTokens: 34, totalTokens: 1234 })
    await reading.all()
    expect(reading.text).toBe("Hi there")
    expect(reading.chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", reasoning: "hm" })
    expect(reading.finish).toBe("stop")
    expect(reading.usage).toEqual({
      prompt_tokens: 1200,
      completion_tokens: 34,
      total_tokens: 1234,
      prompt_tokens_details: { cached_tokens: 1000 },
    })
  })

  test("continues the agent's session when the request names its session", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const first = await chat.send("One")
    const prompt = await daemon.receives("session/prompt")
    daemon.end(prompt)
    await first.all()
    const second = await chat.send("Two", { session_id: first.session })
    const next = await daemon.receives("session/prompt", 1)
    expect(paramsOf(next).sessionId).toBe(paramsOf(prompt).sessionId)
    daemon.end(next)
    expect((await second.all()).session).toBe(first.session)
  })

  test("with an unknown session id begins a session with that id", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const reading = await chat.send("Hello", { session_id: "my-own" })
    daemon.end(await daemon.receives("session/prompt"))
    expect((await reading.all()).session).toBe("my-own")
  })

  test("reports an agent's failure as turn_failed, retryable unless the model rejected the call", async () => {
    const { chat, daemon } = await newConnectedIntern()
    for (const [message, retryable] of [
      ["402 no credits", false],
      ["socket hang up", true],
    ] as const) {
      const nth = daemon.received.filter(({ method }) => method === "session/prompt").length
      const reading = await chat.send("Hello")
      const prompt = await daemon.receives("session/prompt", nth)
      daemon.send({ id: prompt.id ?? 0, error: { code: -32_603, message } })
      await reading.all()
      expect(reading.finish).toBe("error")
      expect(reading.error?.metadata).toEqual({ reason: "turn_failed", retryable })
    }
  })

  test("reports an agent's failure with a valid HTTP status, or with 502", async () => {
    const { chat, daemon } = await newConnectedIntern()
    for (const [status, reported] of [
      [402, 402],
      [429.5, 502],
      [200, 502],
      [-1, 502],
      [9_000, 502],
    ] as const) {
      const nth = daemon.received.filter(({ method }) => method === "session/prompt").length
      const reading = await chat.send("Hello")
      const prompt = await daemon.receives("session/prompt", nth)
      daemon.send({ id: prompt.id ?? 0, error: { code: -32_603, message: "It failed.", data: { status } } })
      await reading.all()
      expect(reading.error?.code).toBe(reported)
    }
  })
})

describe("a question", () => {
  test("pauses the run, and the answer resumes it", async () => {
    const setup = await newConnectedIntern()
    const reading = await setup.chat.send("Run it")
    const prompt = await setup.daemon.receives("session/prompt")
    const acp = paramsOf(prompt).sessionId
    setup.daemon.text(acp, "I will. ")
    setup.daemon.requestPermission(acp, "perm-1", ["allow_always", "allow_always", "allow_once", "reject_once"])
    await reading.all()
    expect(reading.finish).toBe("tool_calls")
    expect(reading.question).toMatchObject({
      name: "service.provide_input",
      kind: "permission",
      operation: "shell",
      options: ["allow_always", "allow_once", "reject_once"],
    })
    // Output without a client is sent first.
    setup.daemon.text(acp, "Meanwhile. ")
    await setup.daemon.settled()
    const going = await setup.chat.answer(reading.session, reading.question.id, "allow_always")
    expect(await setup.daemon.answerTo("perm-1")).toEqual({
      // The gateway remembers the answer for the session; the agent gets "once".
      outcome: { outcome: "selected", optionId: "allow_once-2" },
    })
    setup.daemon.text(acp, "Done.")
    setup.daemon.end(prompt)
    await going.all()
    expect(going.text).toBe("Meanwhile. Done.")
    expect(going.finish).toBe("stop")
  })

  test("that arrives while another is open is shown after that one is answered", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const reading = await chat.send("Run both")
    const prompt = await daemon.receives("session/prompt")
    const acp = paramsOf(prompt).sessionId
    daemon.requestPermission(acp, "one")
    daemon.requestPermission(acp, "two")
    await reading.all()
    const second = await chat.answer(reading.session, reading.question.id, "allow_once")
    await second.all()
    expect(second.finish).toBe("tool_calls")
    expect(second.question.id).not.toBe(reading.question.id)
    const third = await chat.answer(reading.session, second.question.id, "reject_once")
    expect(await daemon.answerTo("two")).toEqual({ outcome: { outcome: "selected", optionId: "reject_once-2" } })
    daemon.end(prompt)
    expect((await third.all()).finish).toBe("stop")
    expect(daemon.answersTo("one")).toHaveLength(1)
  })

  test("with a form accepts only JSON that matches its schema", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const reading = await chat.send("Ask me", { approval_mode: "self-drive" })
    const prompt = await daemon.receives("session/prompt")
    const { sessionId } = paramsOf(prompt)
    const requestedSchema = {
      type: "object",
      properties: { city: { type: "string", title: "City" }, size: { type: "string", enum: ["s", "l"] } },
      required: ["city"],
    }
    daemon.send({
      id: "form",
      method: "elicitation/create",
      params: { sessionId, mode: "form", message: "Where?", requestedSchema },
    })
    await reading.all()
    expect(reading.question).toMatchObject({
      kind: "elicitation",
      message: "Where?",
      fields: [
        { name: "city", type: "string", title: "City", required: true },
        { name: "size", type: "string", required: false, options: ["s", "l"] },
      ],
    })
    const { id } = reading.question
    const accept = (content: unknown) => JSON.stringify({ action: "accept", content })
    for (const wrong of [
      "Berlin",
      accept({}),
      accept({ city: 7 }),
      accept({ city: "Berlin", size: "xl" }),
      accept({ city: "Berlin", street: "Invalidenstraße" }),
    ]) {
      expect(await refused(chat.answer(reading.session, id, wrong))).toMatchObject({
        status: 400,
        reason: "bad_request",
      })
    }
    const going = await chat.answer(reading.session, id, '{"action":"accept","content":{"city":"Berlin"}}')
    expect(await daemon.answerTo("form")).toEqual({ action: "accept", content: { city: "Berlin" } })
    daemon.end(prompt)
    await going.all()
  })

  test("is answered in self-drive with the narrowest permission available", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const reading = await chat.send("Run it", { approval_mode: null })
    const prompt = await daemon.receives("session/prompt")
    const acp = paramsOf(prompt).sessionId
    daemon.requestPermission(acp, "one")
    daemon.requestPermission(acp, "two", ["allow_always", "reject_once"])
    daemon.requestPermission(acp, "three", ["reject_once"])
    expect(await daemon.answerTo("one")).toEqual({ outcome: { outcome: "selected", optionId: "allow_once-0" } })
    expect(await daemon.answerTo("two")).toEqual({ outcome: { outcome: "selected", optionId: "allow_always-0" } })
    expect(await daemon.answerTo("three")).toEqual({ outcome: { outcome: "cancelled" } })
    daemon.end(prompt)
    expect((await reading.all()).finish).toBe("stop")
  })

  test.for(["decline", " cancel\n", '{"action":"decline"}'])(
    "with a form accepts a bare action: %j",
    async (content) => {
      const { chat, daemon } = await newConnectedIntern()
      const reading = await chat.send("Ask me")
      const prompt = await daemon.receives("session/prompt")
      const { sessionId } = paramsOf(prompt)
      const requestedSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
      const params = { sessionId, mode: "form", message: "Where?", requestedSchema }
      daemon.send({ id: "form", method: "elicitation/create", params })
      await reading.all()
      const rest = await chat.answer(reading.session, reading.question.id, content)
      expect(await daemon.answerTo("form")).toEqual({ action: /decline|cancel/.exec(content)?.[0] })
      daemon.end(prompt)
      expect((await rest.all()).finish).toBe("stop")
    },
  )

  test("answered with `cancel` ends the run with run_ended", async () => {
    const setup = await newConnectedIntern()
    const { session, question, prompt } = await pausedRun(setup)
    const going = await setup.chat.answer(session, question, "cancel")
    await setup.daemon.receives("session/cancel")
    setup.daemon.end(prompt, "cancelled")
    await going.all()
    expect(going.error).toMatchObject({ code: 410, metadata: { reason: "run_ended", retryable: false } })
  })

  test("uses the names of the configured client dialect", async () => {
    const previous = env.CLIENT_DIALECT
    try {
      env.CLIENT_DIALECT = "openrouter"
      const setup = await newConnectedIntern()
      await parseConfigAgain(setup.intern.id)
      onTestFinished(() => parseConfigAgain(setup.intern.id))
      const { pending: requests } = await pausedRun(setup)
      expect(requests.question.name).toBe("openrouter.provide_input")
      expect(requests.chunks[0]?.model).toBe("openrouter/intern")
    } finally {
      if (previous === undefined) delete env.CLIENT_DIALECT
      else env.CLIENT_DIALECT = previous
    }
  })
})

describe("a rejected answer", () => {
  test("with an unknown id, of another session, invalid or repeated returns its reason and moves no deadline", async () => {
    const setup = await newConnectedIntern()
    const { session, question, prompt } = await pausedRun(setup)
    const unknown = { status: 404, reason: "interaction_unknown", retryable: false }
    expect(await refused(setup.chat.answer(session, "call_nothing", "allow_once"))).toMatchObject(unknown)
    expect(await refused(setup.chat.answer("another", question, "allow_once"))).toMatchObject(unknown)
    const wrong = await refused(setup.chat.answer(session, question, "maybe"))
    expect(wrong).toMatchObject({ status: 400, reason: "bad_request", retryable: false })
    expect(wrong.message).toContain("allow_once, allow_always, reject_once, cancel")
    const going = await setup.chat.answer(session, question, "allow_once")
    expect(await refused(setup.chat.answer(session, question, "allow_once"))).toMatchObject(unknown)
    setup.daemon.end(prompt)
    await going.all()
    const over = { status: 409, reason: "interaction_not_pending", retryable: false }
    expect(await refused(setup.chat.answer(session, question, "allow_once"))).toMatchObject(over)
  })

  test("after the deadline returns 409, and an invalid answer does not move the deadline", async () => {
    const setup = await newConnectedIntern()
    const { session, question, prompt, acp } = await pausedRun(setup)
    await pass(setup.object, LIMITS.questionTimeoutMs - 1_000)
    expect(setup.daemon.received.some(({ method }) => method === "session/cancel")).toBe(false)
    await refused(setup.chat.answer(session, question, "maybe"))
    await pass(setup.object, 1_000)
    expect(paramsOf(await setup.daemon.receives("session/cancel")).sessionId).toBe(acp)
    const late = await refused(setup.chat.answer(session, question, "allow_once"))
    expect(late).toMatchObject({ status: 409, reason: "interaction_not_pending" })
    setup.daemon.end(prompt, "cancelled")
    await setup.daemon.settled()
    const again = await setup.chat.send("Again", { session_id: session })
    setup.daemon.end(await setup.daemon.receives("session/prompt", 1))
    expect((await again.all()).finish).toBe("stop")
  })

  test("after the deadline but before the alarm returns 409", async () => {
    const setup = await newConnectedIntern()
    const { session, question } = await pausedRun(setup)
    const at = Date.now() + LIMITS.questionTimeoutMs
    Intern.clock = () => at
    const late = await refused(setup.chat.answer(session, question, "allow_once"))
    expect(late).toMatchObject({ status: 409, reason: "interaction_not_pending" })
    await setup.daemon.receives("session/cancel")
  })

  test("returns 410 attachment_failed when output exceeds the buffer, and a cancel frees the session", async () => {
    const setup = await newConnectedIntern()
    const { session, question, acp } = await pausedRun(setup)
    for (let at = 0; at < 5; at++) setup.daemon.text(acp, "x".repeat(60_000))
    await setup.daemon.settled()
    const lost = await refused(setup.chat.answer(session, question, "allow_once"))
    expect(lost).toMatchObject({ status: 410, reason: "attachment_failed", retryable: false })
    const cancelled = await setup.chat.answer(session, question, "cancel")
    setup.daemon.end(await setup.daemon.receives("session/prompt"), "cancelled")
    expect((await cancelled.all()).error?.metadata.reason).toBe("run_ended")
    const again = await setup.chat.send("Again", { session_id: session })
    setup.daemon.end(await setup.daemon.receives("session/prompt", 1))
    expect((await again.all()).finish).toBe("stop")
  })
})

describe("a busy session", () => {
  describe("whose turn ends while a message that steers it is on its way", () => {
    /** A turn that the agent ends; the message that steered it has not been answered. */
    async function crossing() {
      const setup = await newConnectedIntern()
      const { chat, daemon } = setup
      daemon.takesSteers = false
      const reading = await chat.send("Hello", { session_id: "s" })
      const prompt = await daemon.receives("session/prompt")
      expect((await chat.send("And then?", { session_id: "s" })).response.status).toBe(202)
      const steer = await daemon.receives("_intern/steer")
      const end = () => daemon.end(prompt, "end_turn", { inputTokens: 10, outputTokens: 1, totalTokens: 11 })
      const refuse = () => daemon.send({ id: steer.id ?? "", error: { code: -32_001, message: "No prompt runs." } })
      const take = (outcome: string) => daemon.send({ id: steer.id ?? "", result: { outcome } })
      return { ...setup, reading, acp: paramsOf(prompt).sessionId, end, refuse, take }
    }

    test.each([
      ["after", "its end"],
      ["before", "its end"],
    ])("continues with the message, if the agent rejects it %s %s", async (order) => {
      const { daemon, reading, acp, end, refuse } = await crossing()
      for (const send of order === "after" ? [end, refuse] : [refuse, end]) send()
      const next = await daemon.receives("session/prompt", 1)
      expect(paramsOf(next)).toMatchObject({ sessionId: acp, prompt: [{ type: "text", text: "And then?" }] })
      daemon.text(acp, "That")
      daemon.end(next, "end_turn", { inputTokens: 20, outputTokens: 2, totalTokens: 22 })
      await reading.all()
      expect(reading).toMatchObject({ text: "That", finish: "stop" })
      expect(reading.usage).toMatchObject({ prompt_tokens: 30, completion_tokens: 3, total_tokens: 33 })
    })

    test.each(["injected", "queued"])("ends, if the agent took the message: %s", async (outcome) => {
      const { daemon, reading, end, take } = await crossing()
      end()
      take(outcome)
      await reading.all()
      expect(reading).toMatchObject({ text: "", finish: "stop" })
      expect(daemon.received.filter(({ method }) => method === "session/prompt")).toHaveLength(1)
    })

    test("ends after 10 seconds, if the agent does not answer", async () => {
      const { daemon, object, reading, end } = await crossing()
      end()
      await daemon.settled()
      await pass(object, LIMITS.graceMs)
      await reading.all()
      expect(reading).toMatchObject({ finish: "stop", usage: { total_tokens: 11 } })
    })

    test("is cancelled at once, since the agent has no turn to cancel", async () => {
      const { daemon, intern, reading, end } = await crossing()
      end()
      await daemon.settled()
      expect((await intern.as.post(`/interns/${intern.id}/sessions/s/cancel`, undefined)).status).toBe(202)
      await reading.all()
      expect(reading).toMatchObject({ finish: "error" })
    })
  })

  test("with a streaming turn is steered by a prompt and returns 202", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const reading = await chat.send("Go", { session_id: "s" })
    const prompt = await daemon.receives("session/prompt")
    const steered = await chat.send("But softly", { session_id: "s" })
    expect(steered.response.status).toBe(202)
    expect(await steered.response.json()).toEqual({ session_id: "s", status: "steered" })
    expect(paramsOf(await daemon.receives("_intern/steer")).prompt).toEqual([{ type: "text", text: "But softly" }])
    daemon.text(paramsOf(prompt).sessionId, "softly")
    daemon.end(prompt)
    expect((await reading.all()).text).toBe("softly")
  })

  test("without a turn returns 409 for a cancellation, and 404 if it does not exist", async () => {
    const { chat, daemon, intern } = await newConnectedIntern()
    const reading = await chat.send("Go", { session_id: "s" })
    daemon.end(await daemon.receives("session/prompt"))
    await reading.all()
    const cancel = (session: string) => intern.as.post(`/interns/${intern.id}/sessions/${session}/cancel`, undefined)
    expect((await cancel("s")).status).toBe(409)
    expect((await cancel("another")).status).toBe(404)
  })

  test("with an open question returns 409 busy with Retry-After for a prompt", async () => {
    const setup = await newConnectedIntern()
    const { session } = await pausedRun(setup)
    const busy = await refused(setup.chat.send("Hello?", { session_id: session }))
    expect(busy).toMatchObject({ status: 409, reason: "busy", retryable: true })
    expect(Number(busy.retryAfter)).toBeGreaterThan(200)
  })

  test("returns 503 busy when the intern has the maximum of open runs", async () => {
    const setup = await newConnectedIntern()
    for (let at = 0; at < LIMITS.openRuns; at++) await pausedRun(setup)
    const full = await refused(setup.chat.send("One more"))
    expect(full).toMatchObject({ status: 503, reason: "busy", retryable: true })
    expect(full.retryAfter).not.toBeNull()
  })

  test("returns 429 rate_limited over the limit of turns per minute", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const reading = await chat.send("Go", { session_id: "s" })
    await daemon.receives("session/prompt")
    for (let at = 1; at < LIMITS.turnsPerMinute; at++) await chat.send("more", { session_id: "s" })
    const refusal = await chat.send("more", { session_id: "s" })
    const header = (name: string) => Number(refusal.response.headers.get(name))
    expect([header("x-ratelimit-limit"), header("x-ratelimit-remaining")]).toEqual([LIMITS.turnsPerMinute, 0])
    expect(header("x-ratelimit-reset")).toBeGreaterThan(Date.now())
    const limited = await refused(refusal)
    expect(limited).toMatchObject({ status: 429, reason: "rate_limited", retryable: true })
    expect(Number(limited.retryAfter)).toBeGreaterThan(0)
    reading.leave()
  })
})

describe("a client that disconnects", () => {
  test("cancels a streaming run", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const reading = await chat.send("Go", { session_id: "s" })
    const prompt = await daemon.receives("session/prompt")
    daemon.text(paramsOf(prompt).sessionId, "going")
    await reading.until("going")
    reading.leave()
    expect(paramsOf(await daemon.receives("session/cancel")).sessionId).toBe(paramsOf(prompt).sessionId)
    expect(await refused(chat.send("Hello?", { session_id: "s" }))).toMatchObject({ status: 409, reason: "busy" })
    daemon.end(prompt, "cancelled")
    await daemon.settled()
    const again = await chat.send("Hello?", { session_id: "s" })
    daemon.end(await daemon.receives("session/prompt", 1))
    await again.all()
  })

  test("leaves a paused run open", async () => {
    const setup = await newConnectedIntern()
    const { session, question, prompt, pending: requests } = await pausedRun(setup)
    requests.leave()
    const going = await setup.chat.answer(session, question, "allow_once")
    setup.daemon.end(prompt)
    expect((await going.all()).finish).toBe("stop")
    expect(setup.daemon.received.some(({ method }) => method === "session/cancel")).toBe(false)
  })
})

describe("an interrupted turn", () => {
  test("is cancelled at its time limit and ends with 408 timeout", async () => {
    const { chat, daemon, object } = await newConnectedIntern()
    const reading = await chat.send("Go")
    const prompt = await daemon.receives("session/prompt")
    await pass(object, LIMITS.turnMs)
    await daemon.receives("session/cancel")
    daemon.end(prompt, "cancelled")
    await reading.all()
    expect(reading.error).toMatchObject({ code: 408, metadata: { reason: "timeout", retryable: true } })
  })

  test("ends with stream_severed when the agent does not confirm the cancellation in time", async () => {
    const { chat, daemon, object } = await newConnectedIntern()
    const reading = await chat.send("Go")
    await daemon.receives("session/prompt")
    await pass(object, LIMITS.turnMs)
    await pass(object, LIMITS.graceMs)
    await reading.all()
    expect(reading.error).toMatchObject({ code: 502, metadata: { reason: "stream_severed", retryable: true } })
  })

  test("continues without lost or repeated output when the daemon reconnects in time", async () => {
    const { chat, daemon } = await newConnectedIntern()
    const reading = await chat.send("Go")
    const prompt = await daemon.receives("session/prompt")
    const acp = paramsOf(prompt).sessionId
    daemon.text(acp, "one ")
    await reading.until("one ")
    daemon.cut()
    daemon.text(acp, "two ")
    await daemon.connect()
    daemon.resend()
    daemon.text(acp, "three")
    daemon.end(prompt)
    expect((await reading.all()).text).toBe("one two three")
  })

  test("ends with stream_severed when the daemon stays away, and paused runs stay", async () => {
    const setup = await newConnectedIntern()
    const paused = await pausedRun(setup)
    const reading = await setup.chat.send("Go")
    await setup.daemon.receives("session/prompt", 1)
    setup.daemon.cut()
    await eventually(async () => {
      await pass(setup.object, LIMITS.graceMs + 1)
      expect((await setup.object.peek()).open).toHaveLength(1)
    })
    await reading.all()
    expect(reading.error?.metadata.reason).toBe("stream_severed")
    await setup.daemon.connect()
    const going = await setup.chat.answer(paused.session, paused.question, "allow_once")
    setup.daemon.end(paused.prompt)
    expect((await going.all()).finish).toBe("stop")
  })

  test("ends when the daemon restarts, and the next prompt loads the session", async () => {
    const setup = await newConnectedIntern()
    const { session, question, acp } = await pausedRun(setup)
    setup.daemon.cut()
    setup.daemon.restart()
    await setup.daemon.dial()
    const over = await refused(setup.chat.answer(session, question, "allow_once"))
    expect(over).toMatchObject({ status: 409, reason: "interaction_not_pending" })
    const again = await setup.chat.send("Go on", { session_id: session })
    expect(paramsOf(await setup.daemon.receives("session/load")).sessionId).toBe(acp)
    setup.daemon.text(acp, "replayed history is not said again")
    const prompt = await setup.daemon.receives("session/prompt", 1)
    setup.daemon.text(acp, "fresh")
    setup.daemon.end(prompt)
    expect((await again.all()).text).toContain("fresh")
  })

  test("continues with the answer after the object was evicted during a question", async () => {
    const setup = await newConnectedIntern()
    const { session, question, prompt, acp } = await pausedRun(setup)
    setup.daemon.text(acp, "kept ")
    await setup.daemon.settled()
    await evictDurableObject(setup.object)
    const going = await setup.chat.answer(session, question, "allow_once")
    setup.daemon.text(acp, "and more")
    setup.daemon.end(prompt)
    expect((await going.all()).text).toBe("kept and more")
  })

  test("is cancelled when the object crashes while it streams, and kept while it is paused", async () => {
    const setup = await newConnectedIntern()
    const paused = await pausedRun(setup)
    const reading = await setup.chat.send("Go")
    const prompt = await setup.daemon.receives("session/prompt", 1)
    await abortAllDurableObjects()
    await reading.read().catch(() => undefined)
    await setup.daemon.connect()
    expect(paramsOf(await setup.daemon.receives("session/cancel")).sessionId).toBe(paramsOf(prompt).sessionId)
    setup.daemon.end(prompt, "cancelled")
    const going = await setup.chat.answer(paused.session, paused.question, "allow_once")
    setup.daemon.end(paused.prompt)
    expect((await going.all()).finish).toBe("stop")
  })
})

describe("a daemon connection", () => {
  test("is closed with 4000 by a newer one", async () => {
    const { intern, daemon, chat } = await newConnectedIntern()
    const newer = await new MockDaemon(intern).dial()
    await eventually(() => expect(daemon.closedWith).toBe(4000))
    const reading = await chat.send("Hello")
    newer.end(await newer.receives("session/prompt"))
    await reading.all()
  })

  test("is closed with 4003 by a new join token, and the old token returns 401", async () => {
    const { intern, daemon, workspace } = await newConnectedIntern()
    await expectJson(201, workspace.as.post(`/interns/${intern.id}/daemon/token`, { replace: true }))
    await eventually(() => expect(daemon.closedWith).toBe(4003))
    await expect(daemon.connect()).rejects.toThrow("expected 401 to be 101")
  })

  test("without an installed agent fails the intern with the install command, and a later ready restores it", async () => {
    const workspace = await newWorkspace()
    const intern = await newDaemonIntern(workspace)
    const daemon = new MockDaemon(intern)
    await daemon.connect()
    const message = "opencode is not installed where the daemon runs. npm install -g opencode-ai"
    daemon.send({ method: "_intern/agent_exited", params: { code: null, message } })
    const read = () =>
      expectJson<{ status: string; last_failure_message: string | null }>(
        200,
        workspace.as.get(`/interns/${intern.id}`),
      )
    await eventually(async () =>
      expect(await read()).toMatchObject({ status: "failed", last_failure_message: message }),
    )
    const chat = internChat(workspace.key, intern.id)
    const refusal = { status: 409, reason: "intern_not_ready", message: `This intern is not running: ${message}` }
    expect(await refused(chat.send("Hello"))).toMatchObject(refusal)
    daemon.send({ method: "_intern/ready", params: { loadSession: true, steering: true } })
    await eventually(async () => expect(await read()).toMatchObject({ status: "running", last_failure_message: null }))
  })

  test("that is never opened fails the intern with the command to run, and can be opened later", async () => {
    const workspace = await newWorkspace()
    const intern = await newDaemonIntern(workspace)
    const read = () =>
      expectJson<{ status: string; last_failure_message: string | null; progress: unknown }>(
        200,
        workspace.as.get(`/interns/${intern.id}`),
      )
    await eventually(async () =>
      expect((await read()).progress).toMatchObject({ step_label: "Waiting for the daemon to dial in" }),
    )
    await pass(internObject(intern.id), 120_000)
    const failed = await read()
    expect(failed.status).toBe("failed")
    expect(failed.last_failure_message).toContain("npm run daemon -- --url")
    await new MockDaemon(intern).dial()
    await eventually(async () => expect((await read()).status).toBe("running"))
  })

  test("is closed with 4001 by a gap in its sequence numbers", async () => {
    const { daemon } = await newConnectedIntern()
    daemon.skip()
    daemon.text("acp-0", "lost before this")
    await eventually(() => expect(daemon.closedWith).toBe(4001))
  })

  test("receives its configuration", async () => {
    const { daemon, intern } = await newConnectedIntern()
    expect(daemon.welcome?.config).toMatchObject({
      intern_id: intern.id,
      model: "sim/agent",
      instructions: null,
      api_base: "http://gateway.test/api/v1",
      secrets_url: `http://gateway.test/api/v1/interns/${intern.id}/daemon/secrets`,
    })
    expect(String(daemon.welcome?.config["api_key"])).toMatch(/^sk-gw-v1-/)
  })

  test("receives the URL of its own request, not the host that a later request of a client names", async () => {
    const workspace = await newWorkspace()
    const intern = await newDaemonIntern(workspace)
    const daemon = new MockDaemon(intern)
    await daemon.connect(intern.token, async () => {
      const other = `http://attacker.test/api/v1/interns/${intern.id}/schedules`
      const headers = { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" }
      const body = JSON.stringify({ cron: "0 8 * * *", prompt: "Hello" })
      const response = await (exports as unknown as { default: Fetcher }).default.fetch(other, {
        method: "POST",
        headers,
        body,
      })
      expect(response.status).toBe(201)
    })
    expect(daemon.welcome?.config).toMatchObject({
      api_base: "http://gateway.test/api/v1",
      secrets_url: `http://gateway.test/api/v1/interns/${intern.id}/daemon/secrets`,
    })
  })

  test("that is lost returns 502 intern_unreachable after the wait", async () => {
    const { daemon, chat } = await newConnectedIntern()
    daemon.cut()
    Intern.timer = { ...timer, within: () => Promise.resolve(undefined) }
    const away = await eventually(async () => {
      const answer = await refused(chat.send("Hello"))
      expect(answer.status).toBe(502)
      return answer
    })
    expect(away).toMatchObject({ reason: "intern_unreachable", retryable: true })
  })
})

test("an expired question leaves no open records", async () => {
  const setup = await newConnectedIntern()
  const { session, question, prompt } = await pausedRun(setup)
  await pass(setup.object, LIMITS.questionTimeoutMs)
  setup.daemon.end(prompt, "cancelled")
  await setup.daemon.settled()
  await runInDurableObject(setup.object, async (_, state) => {
    expect([...state.storage.sql.exec("SELECT 1 FROM runs WHERE is_open = 1")]).toEqual([])
    expect([...state.storage.sql.exec("SELECT 1 FROM questions WHERE is_pending = 1")]).toEqual([])
    expect([...state.storage.sql.exec("SELECT 1 FROM kept")]).toEqual([])
    expect(await state.storage.getAlarm()).toBeNull()
  })
  expect(await refused(setup.chat.answer(session, question, "allow_once"))).toMatchObject({ status: 409 })
})
