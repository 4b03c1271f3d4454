import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { openSession, requestSession } from "../support/realtime.ts"
import { client, expectJson, newKey, newWorkspace, openHolds, type Workspace } from "../support/world.ts"

type Call = { id: string; cost: number; ending: string; session_id: string; api_type: string }

async function callsOf(workspace: Workspace, sessionId: string, count: number): Promise<Call[]> {
  let calls: Call[] = []
  await eventually(async () => {
    await workspace.ledger.balance()
    const { data } = await expectJson<{ data: Call[] }>(200, workspace.manage.get(`/calls?session_id=${sessionId}`))
    calls = data
    expect(calls.length).toBe(count)
  })
  return calls
}

test("a session answers text, and each response is charged and recorded as a generation", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key)
  const created = await session.next("session.created")
  expect(created["session"]).toMatchObject({ model: "sim/realtime" })
  const first = await session.prompt("rivers")
  expect(first["response"]).toMatchObject({ status: "completed" })
  await session.prompt("mountains")
  session.close()
  await session.whenClosed()
  const calls = await callsOf(workspace, session.sessionId, 2)
  expect(calls.map(({ api_type: type }) => type)).toEqual(["realtime", "realtime"])
  const { id } = first["response"] as { id: string }
  const { data } = await expectJson<{ data: { tokens_from: string } }>(200, workspace.as.get(`/generation?id=${id}`))
  expect(data.tokens_from).toBe("upstream")
  await eventually(async () => expect(await openHolds(workspace)).toEqual([]))
  const { spentNano } = await workspace.ledger.balance()
  expect(spentNano).toBeGreaterThan(0)
  expect(Math.round(calls.reduce((sum, { cost }) => sum + cost, 0) * 1e9)).toBe(spentNano)
})

test("an item keeps the id of the client, and a response its metadata and its item: LiveKit waits for them", async () => {
  const session = await openSession((await newWorkspace()).key)
  const create = (id: string, previous?: string) => {
    const item = { id, type: "message", role: "user", content: [{ type: "input_text", text: "rivers" }] }
    session.send({
      type: "conversation.item.create",
      item,
      ...(previous !== undefined && { previous_item_id: previous }),
    })
  }
  create("item_first", "root")
  create("item_second")
  const second = await session.next("conversation.item.added", 2)
  expect(second).toMatchObject({ item: { id: "item_second" }, previous_item_id: "item_first" })
  expect(await session.next("conversation.item.added")).toMatchObject({
    item: { id: "item_first" },
    previous_item_id: null,
  })
  const metadata = { client_event_id: "response_create_1" }
  session.send({ type: "response.create", response: { output_modalities: ["text"], metadata } })
  const done = await session.next("response.done")
  expect(done).toMatchObject({ response: { metadata, output: [{ role: "assistant" }] } })
  expect(await session.next("response.created")).toMatchObject({ response: { metadata } })
  const { output } = done["response"] as { output: [{ id: string }] }
  const [{ id }] = output
  for (const type of ["response.output_item.added", "response.output_item.done"]) {
    expect(await session.next(type)).toMatchObject({ item: { id } })
  }
  expect(await session.next("conversation.item.added", 3)).toMatchObject({
    item: { id },
    previous_item_id: "item_second",
  })
  session.send({ type: "conversation.item.delete", item_id: "item_first" })
  expect(await session.next("conversation.item.deleted")).toMatchObject({ item_id: "item_first" })
  session.close()
  await session.whenClosed()
})

test("a request without an upgrade returns 426 with a hint", async () => {
  const workspace = await newWorkspace()
  const { error } = await expectJson<{ error: { code: number; message: string } }>(
    426,
    workspace.as.get("/realtime?model=sim/realtime"),
  )
  expect(error.message).toContain("WebSocket")
})

test("a rejected session returns the error envelope before the upgrade", async () => {
  const workspace = await newWorkspace()
  await expectJson(401, requestSession(undefined, "sim/realtime"))
  await expectJson(401, requestSession("sk-gw-unknown", "sim/realtime"))
  await expectJson(404, requestSession(workspace.key, "sim/unknown"))
  await expectJson(404, requestSession(workspace.key, "sim/echo"))
  await expectJson(429, requestSession(workspace.key, "sim/realtime-refuse"))
  const tiny = await newKey(workspace, { limit: 0.000001 })
  const { error } = await expectJson<{ error: { metadata: { reason: string } } }>(
    402,
    requestSession(tiny.key, "sim/realtime"),
  )
  expect(error.metadata.reason).toBe("key_limit")
  expect(await openHolds(workspace)).toEqual([])
})

test("a page sends its key as a subprotocol", async () => {
  const workspace = await newWorkspace()
  const protocols = `realtime, openai-insecure-api-key.${workspace.key}, openai-beta.realtime-v1`
  const response = await requestSession(undefined, "sim/realtime", { "sec-websocket-protocol": protocols })
  expect(response.status).toBe(101)
  expect(response.headers.get("sec-websocket-protocol")).toBe("realtime")
  response.webSocket?.accept()
  response.webSocket?.close()
  await expectJson(401, client("sk-gw-none").get("/realtime?model=sim/realtime"))
})

test("speech is transcribed by a model of the same provider, charged and recorded separately", async () => {
  const workspace = await newWorkspace()
  const session = await openSession(workspace.key)
  const input = { transcription: { model: "sim/transcribe" } }
  session.send({ type: "session.update", session: { type: "realtime", audio: { input } } })
  const updated = await session.next("session.updated")
  expect(updated["session"]).toMatchObject({ audio: { input: { transcription: { model: "transcribe" } } } })
  const audio = btoa("\0".repeat(48_000))
  for (let part = 0; part < 3; part++) session.send({ type: "input_audio_buffer.append", audio })
  session.send({ type: "input_audio_buffer.commit" })
  await session.next("conversation.item.input_audio_transcription.completed")
  session.close()
  const [call] = await callsOf(workspace, session.sessionId, 1)
  expect(call).toMatchObject({ api_type: "stt", cost: 0.0003 })
  await eventually(async () => expect(await openHolds(workspace)).toEqual([]))
  expect((await workspace.ledger.balance()).spentNano).toBe(300_000)
})

test("with content logging, the text of a session is stored with each response", async () => {
  const workspace = await newWorkspace()
  const settings = { is_observability_io_logging_enabled: true }
  await expectJson(200, workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, settings))
  const session = await openSession(workspace.key)
  session.send({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } })
  const done = await session.prompt("rivers", { output_modalities: ["audio"] })
  session.close()
  const { id } = done["response"] as { id: string }
  const { data } = await expectJson<{ data: { id: string } }>(200, workspace.as.get(`/generation?id=${id}`))
  await eventually(async () => {
    const content = await workspace.as.get(`/generation/content?id=${data.id}`)
    const text = await content.text()
    expect(content.status, text).toBe(200)
    expect(text).toContain("Be brief.")
    expect(text).toContain("You said: rivers")
  })
})
