import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { runDurableObjectAlarm } from "cloudflare:test"
import { newReceiver, mockReceivers } from "../observability/receiver.ts"
import { internObject } from "../support/intern-object.ts"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import { MockDaemon, newDaemonIntern, paramsOf } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { internChat } from "../support/intern-chat.ts"
import { runs } from "../support/runs.ts"
import { client, expectJson, newWorkspace } from "../support/world.ts"

type ModelUsage = { model: string; calls: number; prompt_tokens: number; completion_tokens: number; cost: number }
type Usage = { cost?: number; total_tokens: number; by_model?: ModelUsage[] }
type Session = { usage: Usage | null }

async function newTurns() {
  const workspace = await newWorkspace()
  const intern = await newDaemonIntern(workspace)
  const daemon = await new MockDaemon(intern).dial()
  const internClient = client((await openInternKey(env, workspace, intern.id)).key)
  const chat = internChat(workspace.key, intern.id)
  const sessions = async (id: string) =>
    (await expectJson<{ session: Session }>(200, workspace.as.get(`/interns/${intern.id}/sessions/${id}`))).session
  let prompts = 0
  const begin = async (session: string) => {
    const response = chat.send("Go", { session_id: session })
    const prompt = await daemon.receives("session/prompt", prompts++)
    return { prompt, response, acp: paramsOf(prompt).sessionId }
  }
  const call = async (model: string) => (await internClient.chat(model, "Hello there")).text()
  const spent = async () => {
    const { usage } = await expectJson<{ usage: number }>(200, workspace.as.get(`/interns/${intern.id}`))
    return usage
  }
  return { workspace, intern, daemon, begin, call, sessions, spent }
}

const counted = (usage: Usage | null | undefined) => (usage?.by_model ?? []).map(({ model, calls }) => [model, calls])

describe("the usage of a turn", () => {
  test("of a daemon's agent is what the gateway charged its key by model, not what the agent reports", async () => {
    const { daemon, begin, call, sessions, spent } = await newTurns()
    const { prompt, response } = await begin("s")
    await call("sim/echo")
    await call("sim/echo")
    await call("sim/agent")
    daemon.end(prompt, "end_turn", { inputTokens: 1, outputTokens: 1, totalTokens: 2 })
    const { usage } = await (await response).all()
    expect(counted(usage)).toEqual([
      ["sim/echo", 2],
      ["sim/agent", 1],
    ])
    expect(usage?.cost).toBeCloseTo(await spent(), 9)
    await eventually(async () => expect((await sessions("s")).usage).toEqual(usage))
  })

  test("is the same in the webhook, the transcript and the last chunk", async () => {
    mockReceivers()
    onTestFinished(() => void vi.restoreAllMocks())
    const { workspace, intern, daemon, begin, call } = await newTurns()
    const receiver = newReceiver()
    await expectJson(200, workspace.as.put(`/interns/${intern.id}/webhook`, { url: receiver.url }))
    const { prompt, response } = await begin("s")
    await call("sim/echo")
    daemon.end(prompt, "end_turn", { inputTokens: 900, outputTokens: 1, totalTokens: 901 })
    const { usage } = await (await response).all()
    expect(counted(usage)).toEqual([["sim/echo", 1]])
    const path = `/interns/${intern.id}/sessions/s`
    type Entry = { kind: string; usage?: Usage }
    await eventually(async () => {
      const { data: entries } = await expectJson<{ data: Entry[] }>(200, workspace.as.get(path))
      expect(entries.find(({ kind }) => kind === "end")?.usage).toEqual(usage)
      await runDurableObjectAlarm(internObject(intern.id))
      const [event] = receiver.got.map(({ body }) => JSON.parse(body) as { type: string; data: { usage: Usage } })
      expect(event).toMatchObject({ type: "turn.ended", data: { usage } })
    })
    expect(receiver.got.length).toBe(1)
  })

  test("of an agent without calls is what it reports", async () => {
    const { daemon, begin } = await newTurns()
    const { prompt, response } = await begin("s")
    daemon.end(prompt, "end_turn", { inputTokens: 3, outputTokens: 2, totalTokens: 5 })
    expect((await (await response).all()).usage).toEqual({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 })
  })

  test("of the embedded agent has each model call", async () => {
    const workspace = await newWorkspace()
    const input = { name: "ada", model: "sim/tool-call", provision: true }
    const { id } = await expectJson<{ id: string }>(201, workspace.as.post("/interns", input))
    const chat = internChat(workspace.key, id)
    const { usage, session } = await (await chat.send("echo hello", { approval_mode: "self-drive" })).all()
    expect(counted(usage)).toEqual([["sim/tool-call", 2]])
    const first: Usage | null | undefined = usage
    expect(first?.by_model?.[0]?.cost).toBeCloseTo(usage?.cost ?? 0, 12)
    await (await chat.send("echo again", { approval_mode: "self-drive", session_id: session })).all()
    const read = await expectJson<{ session: Session }>(200, workspace.as.get(`/interns/${id}/sessions/${session}`))
    expect(counted(read.session.usage)).toEqual([["sim/tool-call", 4]])
  })

  const step = fc.record({
    session: fc.constantFrom("a", "b"),
    does: fc.constantFrom("sim/echo", "sim/agent", "sim/tool-call", "end"),
  })

  test("counts each call once, in any order of calls and of overlapping turns", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
        const { daemon, begin, call, sessions, spent } = await newTurns()
        const open = new Map<string, Awaited<ReturnType<typeof begin>>>()
        const used = new Set<string>()
        let calls = 0
        const end = async (session: string) => {
          const turn = open.get(session)
          open.delete(session)
          if (!turn) return
          daemon.end(turn.prompt)
          await (await turn.response).all()
        }
        for (const { session, does } of steps) {
          if (!open.has(session)) open.set(session, await begin(session))
          used.add(session)
          if (does === "end") await end(session)
          else {
            await call(does)
            calls += 1
          }
        }
        for (const session of open.keys()) await end(session)
        await eventually(async () => {
          const usages = await Promise.all([...used].map(async (session) => (await sessions(session)).usage))
          const models = usages.flatMap((usage) => usage?.by_model ?? [])
          expect(models.reduce((sum, one) => sum + one.calls, 0)).toBe(calls)
          expect(models.reduce((sum, { cost }) => sum + cost, 0)).toBeCloseTo(await spent(), 9)
        })
      }),
      { numRuns: runs(0.6) },
    )
  })
})
