import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { afterEach, expect, test } from "vitest"
import { Intern } from "../../durable-objects/intern/intern.ts"
import { internObject } from "../support/intern-object.ts"
import { LIMITS } from "../../src/interns/run/run.ts"
import { internChat, refused } from "../support/intern-chat.ts"
import { runs } from "../support/runs.ts"
import { newWorkspace, expectJson, type Workspace } from "../support/world.ts"

const { clock } = Intern
afterEach(() => {
  Intern.clock = clock
})

const INTERNS = Math.min(1_000, runs(4))
const AT_ONCE = 20

async function internWithQuestion(workspace: Workspace, name: string) {
  const input = { name, model: "sim/tool-call", provision: true }
  const { id } = await expectJson<{ id: string }>(201, workspace.as.post("/interns", input))
  const chat = internChat(workspace.key, id)
  let requests = await chat.send("echo hello")
  // The intern is still booting.
  while (requests.response.status === 409) {
    await requests.response.body?.cancel()
    requests = await chat.send("echo hello")
  }
  await requests.all()
  expect(requests.finish).toBe("tool_calls")
  return { id, chat, session: requests.session, question: requests.question.id }
}

test("for many interns with a question each, every deadline ends the run once and leaves no open records", async () => {
  const workspace = await newWorkspace()
  const all: Awaited<ReturnType<typeof internWithQuestion>>[] = []
  for (let at = 0; at < INTERNS; at += AT_ONCE) {
    const names = Array.from({ length: AT_ONCE }, (_, index) => `i${at + index}`)
    all.push(...(await Promise.all(names.map((name) => internWithQuestion(workspace, name)))))
  }
  const later = Date.now() + LIMITS.questionTimeoutMs
  Intern.clock = () => later
  for (const { id, chat, session, question } of all) {
    const object = internObject(id)
    // Twice, because the runtime may repeat an alarm.
    await runDurableObjectAlarm(object)
    await runDurableObjectAlarm(object)
    await runInDurableObject(object, async (_, { storage }) => {
      const count = (from: string) => storage.sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${from}`).one().n
      expect(count("runs WHERE is_open = 1")).toBe(0)
      expect(count("runs")).toBe(1)
      expect(count("questions WHERE is_pending = 1")).toBe(0)
      expect(count("kept")).toBe(0)
      expect(count("agent_sessions WHERE turn IS NOT NULL")).toBe(0)
      // The tool call behind the question got exactly one result.
      expect(count(`agent_messages WHERE json_extract(body, '$.role') = 'tool'`)).toBe(1)
      expect(await storage.getAlarm()).toBeNull()
    })
    if (id !== all[0]?.id) continue
    expect(await refused(chat.answer(session, question, "allow_once"))).toMatchObject({ status: 409 })
  }
})
