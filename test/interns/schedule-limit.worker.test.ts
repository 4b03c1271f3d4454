import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { Intern } from "../../durable-objects/intern/intern.ts"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import { UNLIMITED_NANO } from "../../src/ledger/limits.ts"
import { scheduleScope } from "../../src/ledger/scopes.ts"
import { newSetup, result, text, messageOf, wellBehaved } from "../mcp/server.ts"
import { mockReceivers } from "../observability/receiver.ts"
import { newConnectedIntern } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { internChat } from "../support/intern-chat.ts"
import { chunk, DONE, good, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { client, expectJson, newWorkspace, operatorClient, type TestClient, type Workspace } from "../support/world.ts"

/** The cost of a call of played/flat in nano-USD. */
const CENT = 10_000_000
const DAY_MS = 24 * 3_600_000
const REFUSED = "The turn failed: This request needs up to"

type Schedule = { id: string; last_session_id: string; last_error: string | null }
type Session = {
  status: string
  last_error: { reason: string; message: string } | null
  usage: { cost?: number } | null
}

const { clock } = Intern
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2031, 0, 6, 12) })
  Intern.clock = () => Date.now()
})
afterEach(() => {
  Intern.clock = clock
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A model that calls a tool as often as the last prompt states: `3 rounds` makes three calls of the model. */
function respondWithRounds() {
  mockProvider(({ body }) => {
    const messages = body["messages"] as { role: string; content: unknown }[]
    const last = messages.findLastIndex(({ role }) => role === "user")
    const rounds = Number.parseInt(JSON.stringify(messages[last]?.content).replaceAll(/\D/g, ""), 10)
    const done = messages.slice(last).filter(({ role }) => role === "assistant").length
    if (done + 1 >= rounds) return sse(good("Done"))
    const call = { index: 0, id: `call_${done}`, type: "function", function: { name: "nothing", arguments: "{}" } }
    return sse([chunk({ role: "assistant", tool_calls: [call] }), chunk({}, "tool_calls"), usageChunk(10, 1), DONE])
  })
}

async function embeddedIntern(workspace: Workspace) {
  const input = { name: "ada", model: "played/flat", provision: true }
  const { id } = await expectJson<{ id: string }>(201, workspace.as.post("/interns", input))
  return { workspace, id, chat: internChat(workspace.key, id), ...schedulesOf(workspace, id) }
}

function schedulesOf({ as, ledger }: Workspace, id: string) {
  const path = `/interns/${id}/schedules`
  return {
    add: (prompt: string, limit: number | null, more: Record<string, unknown> = {}) =>
      expectJson<Schedule>(201, as.post(path, { cron: "0 8 * * *", prompt, daily_limit_usd: limit, ...more })),
    change: (schedule: string, change: Record<string, unknown>) =>
      expectJson<Schedule>(200, as.patch(`${path}/${schedule}`, change)),
    remove: (schedule: string) => expectJson(200, as.delete(`${path}/${schedule}`)),
    start: (schedule: string) => expectJson<Schedule>(202, as.post(`${path}/${schedule}/run`, undefined)),
    ended: (session: string) =>
      eventually(async () => {
        const url = `/interns/${id}/sessions/${encodeURIComponent(session)}`
        const read = await expectJson<{ session: Session }>(200, as.get(url))
        expect(read.session.status).toBe("idle")
        return read.session
      }),
    /** Nano-USD spent today according to the ledger. */
    spent: async (schedule: string) => {
      const limit = {
        scope: scheduleScope(schedule),
        limitNano: UNLIMITED_NANO,
        interval: "daily",
        includeByok: false,
      } as const
      return (await ledger.limitStatuses([limit])).at(-1)?.spentNano
    },
  }
}

async function drifts({ organizationId }: Workspace) {
  const body = { organization_id: organizationId }
  const { data } = await expectJson<{ data: { drifts: unknown[] }[] }>(
    200,
    operatorClient.post("/reconciliations", body),
  )
  return data[0]?.drifts
}

describe("the daily limit of a schedule", () => {
  test("ends an open run with an error that names it, and prevents the next run until the reset", async () => {
    respondWithRounds()
    const { add, start, ended, spent, chat } = await embeddedIntern(await newWorkspace())
    const { id } = await add("9 rounds", 0.03)
    const { last_session_id: session } = await start(id)
    const { last_error: error, usage } = await ended(session)
    expect(usage?.cost).toBeCloseTo(0.03, 9)
    expect(error).toMatchObject({ reason: "turn_failed" })
    expect(error?.message).toContain(REFUSED)
    expect(error?.message).toContain(`under the daily limit of 0.03 USD of the schedule ${id}`)
    expect(error?.message).toContain("wait for its reset at 2031-01-07T00:00:00.000Z")
    expect(await spent(id)).toBe(3 * CENT)
    expect((await start(id)).last_error).toBe("Its runs on this UTC day have cost 0.03 of 0.03 USD.")
    // The limit applies to the schedule, not to its intern.
    expect((await (await chat.send("2 rounds")).all()).finish).toBe("stop")
    expect(await spent(id)).toBe(3 * CENT)
    vi.setSystemTime(Date.now() + DAY_MS)
    expect((await start(id)).last_error).toBeNull()
  })

  test("is rejected when it rounds to zero nano-dollars or is too large", async () => {
    const { workspace, id, add } = await embeddedIntern(await newWorkspace())
    const path = `/interns/${id}/schedules`
    const rule = "daily_limit_usd: must be from 0.000000001 to 1000000 USD, or null for no limit."
    const { id: known } = await add("1 rounds", 0.000_000_001)
    for (const limit of [0, -1, 4e-10, 1_000_001, 1e21]) {
      const input = { cron: "0 8 * * *", prompt: "1 rounds", daily_limit_usd: limit }
      const answers = [
        workspace.as.post(path, input),
        workspace.as.patch(`${path}/${known}`, { daily_limit_usd: limit }),
      ]
      for (const answer of answers) {
        const { error } = await expectJson<{ error: { message: string } }>(400, answer)
        expect([limit, error.message]).toEqual([limit, rule])
      }
    }
  })

  test("counts what runs cost before it was set, lowered or raised", async () => {
    respondWithRounds()
    const { add, change, start, ended, spent } = await embeddedIntern(await newWorkspace())
    const { id } = await add("4 rounds", null)
    expect((await ended((await start(id)).last_session_id)).last_error).toBeNull()
    await change(id, { daily_limit_usd: 0.06 })
    vi.setSystemTime(Date.now() + 1)
    expect((await ended((await start(id)).last_session_id)).last_error?.message).toContain("limit of 0.06 USD")
    expect(await spent(id)).toBe(6 * CENT)
    await change(id, { daily_limit_usd: 0.1 })
    vi.setSystemTime(Date.now() + 1)
    expect((await ended((await start(id)).last_session_id)).last_error).toBeNull()
    expect(await spent(id)).toBe(10 * CENT)
  })

  test("covers MCP tools", async () => {
    const server = await newSetup(
      (received) => {
        if (received.body === "") return wellBehaved(received)
        const { id, method } = messageOf(received)
        const inputSchema = { type: "object", properties: { q: { type: "string" } } }
        if (method === "tools/list") return Response.json(result(id, { tools: [{ name: "query", inputSchema }] }))
        return method === "tools/call" ? Response.json(result(id, text("OK"))) : wellBehaved(received)
      },
      { price_per_call_usd: 0.5 },
    )
    mockReceivers()
    const input = { name: "ada", model: "embedded/guide", provision: true, mcp_tools: ["search/*"] }
    const { id: intern } = await expectJson<{ id: string }>(201, server.as.post("/interns", input))
    const { add, start, ended, spent } = schedulesOf({ ...server.workspace, as: server.as }, intern)
    const { id } = await add("search__query for rivers", 0.4)
    await ended((await start(id)).last_session_id)
    const calls = server.receiver.got.filter(({ body }) => body !== "" && body.includes("tools/call"))
    expect(calls).toEqual([])
    expect(await spent(id)).toBeLessThan(0.4 * 1e9)
  })

  describe("with a daemon's agent", () => {
    async function machineIntern() {
      const { workspace, intern, daemon, chat } = await newConnectedIntern()
      const internClient = client((await openInternKey(env, workspace, intern.id)).key)
      const spend = (as: TestClient = internClient) => as.chat("played/flat", "Hi", { play: good("Hello there") })
      const refusal = async () =>
        (await expectJson<{ error: { message: string; metadata: { reason: string } } }>(402, spend())).error
      return { workspace, daemon, chat, own: internClient, spend, refusal, ...schedulesOf(workspace, intern.id) }
    }

    test("rejects calls of the intern's key during a run, and no others", async () => {
      const { workspace, daemon, add, start, ended, spend, refusal, spent } = await machineIntern()
      const { id } = await add("Go", 0.025)
      expect((await spend()).status).toBe(200)
      const { last_session_id: session } = await start(id)
      const prompt = await daemon.receives("session/prompt")
      for (let call = 0; call < 2; call++) expect((await spend()).status).toBe(200)
      const { message, metadata } = await refusal()
      expect(metadata.reason).toBe("schedule_limit")
      expect(message).toContain(`0.005 USD are left under the daily limit of 0.025 USD of the schedule ${id}`)
      expect((await spend(workspace.as)).status).toBe(200)
      daemon.end(prompt)
      await ended(session)
      expect((await spend()).status).toBe(200)
      expect(await spent(id)).toBe(2 * CENT)
      expect(await drifts(workspace)).toEqual([])
    })

    test("still applies to a run whose schedule is deleted, and a raised limit lets the run continue", async () => {
      const { daemon, add, change, remove, start, spend, refusal, spent } = await machineIntern()
      const { id } = await add("Go", 0.01)
      await start(id)
      await daemon.receives("session/prompt")
      expect((await spend()).status).toBe(200)
      await refusal()
      await change(id, { daily_limit_usd: 0.02 })
      expect((await spend()).status).toBe(200)
      await refusal()
      await remove(id)
      expect((await refusal()).message).toContain(`the schedule ${id}`)
      expect(await spent(id)).toBe(2 * CENT)
    })
  })

  type Step =
    | { is: "run"; of: 0 | 1; rounds: number }
    | { is: "chat"; rounds: number }
    | { is: "all at once"; rounds: [number, number, number] }
    | { is: "limit"; of: 0 | 1; cents: number | null }
    | { is: "tomorrow" }
  const of = fc.constantFrom(0 as const, 1 as const)
  const rounds = fc.integer({ min: 1, max: 5 })
  const cents = fc.option(fc.integer({ min: 1, max: 9 }), { nil: null })
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ is: fc.constant("run" as const), of, rounds }) },
    { weight: 1, arbitrary: fc.record({ is: fc.constant("chat" as const), rounds }) },
    {
      weight: 2,
      arbitrary: fc.record({ is: fc.constant("all at once" as const), rounds: fc.tuple(rounds, rounds, rounds) }),
    },
    { weight: 2, arbitrary: fc.record({ is: fc.constant("limit" as const), of, cents }) },
    { weight: 1, arbitrary: fc.constant({ is: "tomorrow" as const }) },
  )

  test("is exact and never exceeded in any order of runs of two schedules, chats, changes and days", async () => {
    respondWithRounds()
    await fc.assert(
      fc.asyncProperty(cents, fc.array(step, { minLength: 1, maxLength: 10 }), async (limit, steps) => {
        const usd = (amount: number | null) => (amount === null ? null : amount / 100)
        const workspace = await newWorkspace()
        const { add, change, start, ended, spent, chat } = await embeddedIntern(workspace)
        type Counted = { id: string; limit: number | null; spent: number }
        const model: [Counted, Counted] = [
          { id: (await add("1 round", usd(limit), { session: "same" })).id, limit, spent: 0 },
          { id: (await add("1 round", null)).id, limit: null, spent: 0 },
        ]
        let total = 0
        const run = async (schedule: Counted, wanted: number) => {
          await change(schedule.id, { prompt: `${wanted} rounds` })
          const { last_session_id: session, last_error: reason } = await start(schedule.id)
          const room = schedule.limit === null ? Infinity : Math.max(0, schedule.limit - schedule.spent)
          const served = Math.min(wanted, room)
          schedule.spent += served
          total += served
          expect(reason === null).toBe(room > 0)
          if (room === 0) return
          const { last_error: error } = await ended(session)
          if (wanted > room) expect(error?.message).toContain(REFUSED)
          else expect(error).toBeNull()
        }
        const talk = async (wanted: number) => {
          total += wanted
          expect((await (await chat.send(`${wanted} rounds`)).all()).finish).toBe("stop")
        }
        for (const one of steps) {
          vi.setSystemTime(Date.now() + 60_000)
          if (one.is === "run") await run(model[one.of], one.rounds)
          else if (one.is === "chat") await talk(one.rounds)
          else if (one.is === "all at once") {
            const [first, second, third] = one.rounds
            await Promise.all([run(model[0], first), run(model[1], second), talk(third)])
          } else if (one.is === "limit") {
            await change(model[one.of].id, { daily_limit_usd: usd(one.cents) })
            model[one.of].limit = one.cents
          } else {
            vi.setSystemTime(Date.now() + DAY_MS)
            for (const schedule of model) schedule.spent = 0
          }
          for (const schedule of model) expect(await spent(schedule.id)).toBe(schedule.spent * CENT)
        }
        expect((await workspace.ledger.balance()).spentNano).toBe(total * CENT)
        expect(await drifts(workspace)).toEqual([])
      }),
      { numRuns: runs(0.4) },
    )
  })
})
