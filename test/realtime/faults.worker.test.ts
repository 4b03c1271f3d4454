import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { openSession, requestSession, type TestSession } from "../support/realtime.ts"
import { expectJson, newKey, newWorkspace, openHolds, type Workspace } from "../support/world.ts"

const spentBy = async (workspace: Workspace) => (await workspace.ledger.balance()).spentNano

async function settled(workspace: Workspace): Promise<void> {
  await eventually(async () => expect(await openHolds(workspace)).toEqual([]))
}

function startResponse(session: TestSession, text = "rivers"): void {
  const content = [{ type: "input_text", text }]
  session.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } })
  session.send({ type: "response.create", response: { output_modalities: ["text"] } })
}

test("when the provider disconnects during a response, the client gets an error and delivered content is charged", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "sim/realtime-drop")
  startResponse(session)
  expect(await session.whenClosed()).toEqual({ code: 1011, reason: "provider_failed" })
  expect(session.events.at(-1)).toMatchObject({ type: "error", error: { code: "provider_failed" } })
  await settled(workspace)
  expect(await spentBy(workspace)).toBeGreaterThan(0)
})

test("a provider that stalls during a response ends the session", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "sim/realtime-stall")
  startResponse(session)
  expect((await session.whenClosed()).code).toBe(1011)
  await settled(workspace)
  expect(await spentBy(workspace)).toBeGreaterThan(0)
})

test("a response without usage is charged by estimate", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "sim/realtime-no-usage")
  const done = await session.prompt("rivers")
  const { id } = done["response"] as { id: string }
  const { data } = await expectJson<{ data: { tokens_from: string; total_cost: number } }>(
    200,
    workspace.as.get(`/generation?id=${id}`),
  )
  expect(data.tokens_from).toBe("estimate")
  expect(data.total_cost).toBeGreaterThan(0)
  session.close()
})

test("the provider's key in an error is not sent to the client", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "sim/realtime-key-error")
  startResponse(session)
  const { error } = await session.next("error")
  expect(error).toMatchObject({ code: "provider_failed" })
  expect(JSON.stringify(session.events)).not.toMatch(/api key|sk-/i)
  session.close()
})

test("a client that disconnects during a response is charged for the delivered content", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "sim/realtime-endless")
  startResponse(session)
  await session.next("response.output_text.delta", 5)
  session.close()
  await settled(workspace)
  expect(await spentBy(workspace)).toBeGreaterThan(0)
})

test("a response that reaches the limit of its key is cancelled, and the session closes", async () => {
  const workspace = await newWorkspace()
  const limited = await newKey(workspace, { limit: 0.003 })
  const session = await openSession(limited.key, "sim/realtime-endless")
  startResponse(session)
  await session.next("response.done")
  expect(await session.whenClosed()).toMatchObject({ code: 4402, reason: "key_limit" })
  expect(session.events.filter(({ type }) => type === "error")).toMatchObject([
    { error: { code: "insufficient_credits" } },
    { error: { type: "insufficient_quota", code: "key_limit" } },
  ])
  await settled(workspace)
  expect(await spentBy(workspace)).toBeLessThanOrEqual(3_000_000)
})

test("input that makes the next response unaffordable closes the session", async () => {
  const workspace = await newWorkspace()
  const limited = await newKey(workspace, { limit: 0.003 })
  const session = await openSession(limited.key)
  session.send({ type: "session.update", session: { type: "realtime", instructions: "x".repeat(5_000) } })
  expect(await session.whenClosed()).toMatchObject({ code: 4402 })
  await settled(workspace)
  expect(await spentBy(workspace)).toBe(0)
})

test("disabling a key closes its session", async () => {
  const workspace = await newWorkspace()
  const child = await newKey(workspace)
  const session = await openSession(child.key)
  await session.next("session.created")
  await expectJson(200, workspace.manage.patch(`/keys/${child.hash}`, { disabled: true }))
  expect(await session.whenClosed()).toEqual({ code: 4401, reason: "invalid_api_key" })
})

test("a session counts as a concurrent request", async () => {
  const workspace = await newWorkspace()
  const limited = await newKey(workspace, { concurrent_requests: 1 })
  const session = await openSession(limited.key)
  await session.next("session.created")
  await expectJson(429, requestSession(limited.key, "sim/realtime"))
  session.close()
  await settled(workspace)
  const again = await openSession(limited.key)
  again.close()
})

test("binary frames, invalid events and large events are rejected", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key)
  session.sendRaw("no json")
  expect(await session.next("error")).toMatchObject({ error: { code: "invalid_event" } })
  session.sendRaw("x".repeat(1024 * 1024 + 1))
  expect((await session.whenClosed()).code).toBe(1009)
  const other = await openSession(workspace.key)
  other.sendRaw(new ArrayBuffer(8))
  expect((await other.whenClosed()).code).toBe(1003)
})

test("an event that is nested too deeply is rejected, and the session goes on", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key)
  const nested = `${'{"a":'.repeat(8_000)}1${"}".repeat(8_000)}`
  const tool = `{"type":"function","name":"f","parameters":${nested}}`
  session.sendRaw(`{"type":"session.update","session":{"type":"realtime","tools":[${tool}]}}`)
  expect(await session.next("error")).toMatchObject({
    error: { code: "invalid_event", message: expect.stringContaining("nested too deeply") },
  })
  session.send({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } })
  await session.next("session.updated")
  session.close()
})

test("events that would bypass the key's rules are not forwarded", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key)
  const tools = [{ type: "mcp", server_label: "x", server_url: "https://example.com" }]
  const image = { type: "message", role: "user", content: [{ type: "input_image", image_url: "data:," }] }
  session.send({ type: "session.update", session: { type: "realtime", tools } })
  session.send({ type: "session.update", session: { type: "transcription" } })
  session.send({ type: "session.update", session: { prompt: { id: "pmpt_1" } } })
  session.send({ type: "response.create", response: { tools } })
  session.send({ type: "conversation.item.create", item: image, event_id: "mine" })
  session.send({ type: "transcription_session.update" })
  const last = await session.next("error", 6)
  expect(last).toMatchObject({ error: { code: "unknown_event" } })
  expect(session.events.map(({ type }) => type)).toEqual(["session.created", ...Array(6).fill("error")])
  expect(session.events.at(-2)).toMatchObject({ error: { code: "unsupported_content", event_id: "mine" } })
  session.send({
    type: "session.update",
    session: { model: "sim/other", audio: { input: { transcription: { model: "w" } } } },
  })
  const updated = await session.next("session.updated")
  expect(updated["session"]).toMatchObject({ model: "sim/realtime", audio: { input: { transcription: null } } })
  expect(session.events.at(-2)).toMatchObject({ error: { code: "transcription_unavailable" } })
  session.close()
})

test("a key with a content filter cannot open a session, because audio cannot be checked", async () => {
  const workspace = await newWorkspace()
  const { data } = await expectJson<{ data: { id: string } }>(
    201,
    workspace.manage.post("/guardrails", {
      name: "No cards",
      content_filter_builtins: [{ slug: "credit-card", action: "block" }],
    }),
  )
  const child = await newKey(workspace)
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [child.hash] }))
  const { error } = await expectJson<{ error: { message: string; metadata: { reason: string } } }>(
    403,
    requestSession(child.key, "sim/realtime"),
  )
  expect(error.metadata.reason).toBe("guardrail_unchecked")
})

test("a hold has an estimate above zero and within its amount during a response", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key, "sim/realtime-endless")
  startResponse(session)
  await session.next("response.output_text.delta", 3)
  const [hold] = await openHolds(workspace)
  expect(hold?.estimateNano).toBeGreaterThan(0)
  expect(hold?.estimateNano).toBeLessThanOrEqual(hold?.amountNano ?? 0)
  session.close()
})
