import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { flush, listen, mockReceivers, newReceiver } from "../observability/receiver.ts"
import { eventually } from "../support/eventually.ts"
import { openSession } from "../support/realtime.ts"
import { begun, delta, runSteps } from "../support/realtime-steps.ts"
import { newWorkspace } from "../support/world.ts"

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

test("a response of a session is sent to destinations with its text and its calls of functions", async () => {
  const workspace = await newWorkspace()
  const receiver = newReceiver()
  await listen(workspace, receiver.url)
  const session = await openSession(workspace.key, "played/live")
  const call = { type: "function_call", call_id: "call_1", name: "look_up", arguments: '{"place":"Oslo"}' }
  const done = { id: "r1", status: "completed", output: [call, { type: "message", role: "assistant", content: [] }] }
  runSteps(session, [begun("r1"), delta("r1", "One moment."), { send: { type: "response.done", response: done } }])
  await session.next("response.done")
  session.close()
  await eventually(async () => {
    await flush(workspace)
    const sent = receiver.got.map(({ body }) => body).join("")
    expect(sent).toContain("One moment.")
    expect(sent).toContain("look_up")
    expect(sent).toContain("Oslo")
  })
})
