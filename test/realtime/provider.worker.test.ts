import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { openSession, requestSession } from "../support/realtime.ts"
import { begun, delta, ended, nanoOf, runSteps, usageOf } from "../support/realtime-steps.ts"
import { expectJson, newKey, newWorkspace, openHolds, type Workspace } from "../support/world.ts"

const KEY = "played-provider-key-0123456789"

async function settled(workspace: Workspace): Promise<number> {
  await eventually(async () => expect(await openHolds(workspace)).toEqual([]))
  return (await workspace.ledger.balance()).spentNano
}

test("the provider gets its key and model name, and nothing of the client", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "played/live", { cookie: "a=b", "x-title": "App" })
  runSteps(session, [{ headers: true }])
  const event = await session.next("headers")
  expect(event["url"]).toBe("/v1/realtime?model=live")
  expect(event["headers"]).toMatchObject({ authorization: "Bearer [redacted]" })
  const text = JSON.stringify(event)
  expect(text).not.toContain(workspace.key)
  expect(text).not.toContain(KEY)
  expect(text).not.toMatch(/cookie|x-title|x-realtime/)
  session.close()
})

test("a response is charged text, audio and cached tokens at their prices, to the nano-dollar", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "played/live")
  const usage = { text: 1_203, audio: 641, cachedText: 320, cachedAudio: 129, outText: 77, outAudio: 411 }
  runSteps(session, [begun("r1"), delta("r1", "hello"), ended("r1", usageOf(usage))])
  await session.next("response.done")
  session.close()
  expect(await settled(workspace)).toBe(nanoOf(usage))
})

test("concurrent responses are charged separately", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "played/live")
  const usage = { text: 100, audio: 0, cachedText: 0, cachedAudio: 0, outText: 10, outAudio: 0 }
  runSteps(session, [begun("r1"), begun("r2"), ended("r2", usageOf(usage)), ended("r1", usageOf(usage))])
  await session.next("response.done", 2)
  session.close()
  expect(await settled(workspace)).toBe(2 * nanoOf(usage))
})

test("a response that the provider completes twice is charged once", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "played/live")
  const usage = { text: 100, audio: 0, cachedText: 0, cachedAudio: 0, outText: 10, outAudio: 0 }
  runSteps(session, [begun("r1"), begun("r1"), ended("r1", usageOf(usage)), ended("r1", usageOf(usage))])
  await session.next("response.done", 2)
  session.close()
  expect(await settled(workspace)).toBe(nanoOf(usage))
})

test("a response counted above its hold is charged the hold", async () => {
  const workspace = await newWorkspace()
  const limited = await newKey(workspace, { limit: 0.05 })
  const session = await openSession(limited.key, "played/live")
  const usage = { text: 20_000, audio: 0, cachedText: 0, cachedAudio: 0, outText: 10, outAudio: 0 }
  runSteps(session, [begun("r1"), ended("r1", usageOf(usage))])
  expect(await session.whenClosed()).toMatchObject({ code: 4402 })
  expect(await settled(workspace)).toBe(50_000_000)
})

test("a failed response without content costs nothing", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "played/live")
  runSteps(session, [begun("r1"), ended("r1", null, "failed")])
  await session.next("response.done")
  session.close()
  expect(await settled(workspace)).toBe(0)
})

test("the provider's key is redacted from events", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "played/live")
  const error = { type: "invalid_request_error", code: "invalid_value", message: `sent ${KEY} to 127.0.0.1` }
  runSteps(session, [{ send: { type: "anything", text: `key ${KEY}` } }, { send: { type: "error", error } }])
  expect(await session.next("anything")).toMatchObject({ text: "key [redacted]" })
  await session.next("error")
  expect(JSON.stringify(session.events)).not.toContain(KEY)
  const deltas = ["key ", ...(KEY.match(/.{1,4}/g) ?? [])].map((delta) => ({ type: "anything.delta", delta }))
  runSteps(
    session,
    [...deltas, { type: "anything.done" }].map((send) => ({ send })),
  )
  await session.next("anything.done")
  const texts = session.events.filter(({ type }) => type === "anything.delta").map(({ delta }) => delta)
  expect(texts.join("")).toBe(`key ${KEY.slice(0, Math.min(16, Math.floor(KEY.length / 2)))}[redacted]`)
  session.close()
})

test("invalid frames of the provider end the session", async () => {
  const workspace = await newWorkspace()
  for (const step of [{ raw: "no json" }, { raw: "[]" }, { bytes: 10 }, { destroy: true as const }, { close: 1008 }]) {
    const session = await openSession(workspace.key, "played/live")
    runSteps(session, [step])
    expect(await session.whenClosed(), JSON.stringify(step)).toEqual({ code: 1011, reason: "provider_failed" })
  }
  expect(await settled(workspace)).toBe(0)
})

test("a normal close of the provider closes the session with the same code", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "played/live")
  runSteps(session, [{ close: 1000 }])
  expect((await session.whenClosed()).code).toBe(1000)
})

test("a response without response.created is charged", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "played/live")
  const usage = { text: 100, audio: 0, cachedText: 0, cachedAudio: 0, outText: 10, outAudio: 0 }
  runSteps(session, [
    ended("r1", usageOf(usage)),
    { send: { type: "response.done", response: { usage: usageOf(usage) } } },
  ])
  await session.next("response.done", 2)
  session.close()
  expect(await settled(workspace)).toBe(2 * nanoOf(usage))
})

test("a second response that cannot be held is rejected, and the first continues", async () => {
  const workspace = await newWorkspace()
  const limited = await newKey(workspace, { concurrent_requests: 1 })
  const session = await openSession(limited.key, "played/live")
  runSteps(session, [begun("r1")])
  await session.next("response.created")
  session.send({ type: "response.create", event_id: "second" })
  expect(await session.next("error")).toMatchObject({ error: { code: "key_rate_limit", event_id: "second" } })
  runSteps(session, [ended("r1", null)])
  await session.next("response.done")
  session.send({ type: "response.create" })
  await session.next("received")
  session.close()
})

test("a second response that cannot be held before the first has begun is rejected, and the first continues", async () => {
  const workspace = await newWorkspace()
  const limited = await newKey(workspace, { concurrent_requests: 1 })
  const session = await openSession(limited.key, "played/live")
  session.send({ type: "response.create" })
  session.send({ type: "response.create", event_id: "second" })
  expect(await session.next("error")).toMatchObject({ error: { code: "key_rate_limit", event_id: "second" } })
  runSteps(session, [begun("r1"), ended("r1", null)])
  await session.next("response.done")
  session.send({ type: "response.create" })
  await session.next("received", 2)
  session.close()
})

test("a session with a BYOK credential costs the account nothing, and records the upstream cost", async () => {
  const workspace = await newWorkspace()
  const credential = "sk-own-credential-0123456789"
  await expectJson(201, workspace.manage.post("/byok", { provider: "played", key: credential, name: "Own" }))
  const session = await openSession(workspace.key, "played/live")
  runSteps(session, [{ headers: true }])
  expect(await session.next("headers")).toMatchObject({ headers: { authorization: "Bearer [redacted]" } })
  expect(JSON.stringify(session.events)).not.toContain(credential)
  const usage = { text: 100, audio: 50, cachedText: 0, cachedAudio: 0, outText: 10, outAudio: 20 }
  runSteps(session, [begun("r1"), ended("r1", usageOf(usage))])
  await session.next("response.done")
  session.close()
  expect(await settled(workspace)).toBe(0)
  const { data } = await expectJson<{ data: { is_byok: boolean; upstream_inference_cost: number } }>(
    200,
    workspace.as.get("/generation?id=r1"),
  )
  expect(data.is_byok).toBe(true)
  expect(Math.round(data.upstream_inference_cost * 1e9)).toBe(nanoOf(usage))
})

test("a model denied by a guardrail cannot be opened, and a later denial closes the session", async () => {
  const workspace = await newWorkspace()
  const child = await newKey(workspace)
  const session = await openSession(child.key, "played/live")
  const { data } = await expectJson<{ data: { id: string } }>(
    201,
    workspace.manage.post("/guardrails", { name: "Others only", allowed_models: ["sim/echo"] }),
  )
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [child.hash] }))
  await eventually(async () => expectJson(403, requestSession(child.key, "played/live")))
  expect(await session.whenClosed()).toEqual({ code: 4403, reason: "guardrail" })
})
