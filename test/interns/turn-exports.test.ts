import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { questionsOf } from "../../durable-objects/intern/turns/turn-questions.ts"
import { RunStore } from "../../durable-objects/intern/run-store.ts"
import { SessionLog } from "../../durable-objects/intern/sessions/session-log.ts"
import { TurnExports, turnRecordOf } from "../../durable-objects/intern/turns/turn-exports.ts"
import type { Env } from "../../src/config/env.ts"
import type { BroadcastMessage } from "../../src/config/messages.ts"
import { newRun } from "../../src/interns/run/opening.ts"
import type { TranscriptEntry } from "../../src/interns/run/transcript.ts"
import { sqlStorage } from "../support/sql-storage.ts"

const IDENTITY = {
  id: "i",
  organizationId: "o",
  workspaceId: "w",
  host: "embedded" as const,
  apiBase: "https://gateway.test/api/v1",
}
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cost: 0.5 }

/** An object whose database fails while `isAway`. Rows are unique by id, as in D1. */
function newObject(sql = sqlStorage()) {
  const state = { isAway: false, now: 1_000, stored: new Map<string, string>(), queued: [] as BroadcastMessage[] }
  const run = (id: string, record: string) => async () => {
    if (state.isAway) throw new Error("D1 is away.")
    const changes = state.stored.has(id) ? 0 : 1
    if (changes === 1) state.stored.set(id, record)
    return { meta: { changes } }
  }
  const DB = { prepare: () => ({ bind: (id: string, record: string) => ({ run: run(id, record) }) }) }
  const BROADCAST = { send: async (message: BroadcastMessage) => void state.queued.push(message) }
  const working: Promise<unknown>[] = []
  const runs = new RunStore(sql)
  const log = new SessionLog(sql, () => state.now)
  const exports = new TurnExports({ DB, BROADCAST } as unknown as Env, {
    runs,
    now: () => state.now,
    waitUntil: (work) => void working.push(work),
    schedule: () => undefined,
  })
  const end = (session: string) => {
    log.prompt(session, "Go", "chat")
    const run = newRun({ id: crypto.randomUUID(), session, mode: "manual" }, state.now)
    log.end(session, { usage: USAGE }, USAGE)
    return exports.add(IDENTITY, turnRecordOf(run, null, log, state.now))
  }
  return { sql, state, exports, log, end, settled: () => Promise.all(working) }
}

beforeAll(() => void vi.spyOn(console, "error").mockImplementation(() => undefined))
afterAll(() => vi.restoreAllMocks())

describe("the export of turns", () => {
  test("stores and queues each turn once with its usage", async () => {
    const { state, exports, end, settled } = newObject()
    end("s")(USAGE)
    await settled()
    const [id = ""] = [...state.stored.keys()]
    expect(state.queued).toEqual([
      { kind: "calls", organizationId: "o", workspaceId: "w", generationIds: [id], since: 1_000 },
    ])
    expect(JSON.parse(state.stored.get(id) ?? "")).toMatchObject({
      session: "s",
      usage: { totalTokens: 3, costUsd: 0.5 },
    })
    expect(exports.dueAt).toBeNull()
  })

  test("keeps turns in the object while the database is unavailable", async () => {
    const { state, exports, end, settled } = newObject()
    state.isAway = true
    end("s")(USAGE)
    await settled()
    expect(exports.dueAt).toBe(31_000)
    await exports.deliverDue()
    state.isAway = false
    state.now = 31_000
    await exports.deliverDue()
    expect([state.stored.size, state.queued.length, exports.dueAt]).toEqual([1, 1, null])
    expect(JSON.parse([...state.stored.values()][0] ?? "")).toMatchObject({ usage: { costUsd: 0.5 } })
  })

  test("sends them after a restart, without usage that was not known yet", async () => {
    const first = newObject()
    first.end("s")
    const second = newObject(first.sql)
    second.exports.recover()
    await second.settled()
    expect(second.state.queued.length).toBe(1)
    expect(second.exports.dueAt).toBeNull()
  })

  test("keeps at most the latest twenty turns", async () => {
    const { state, exports, end, settled } = newObject()
    state.isAway = true
    for (let at = 0; at < 25; at++) end(`s${at}`)(null)
    await settled()
    state.isAway = false
    state.now = 60_000
    await exports.deliverDue()
    const sessions = [...state.stored.values()].map((record) => (JSON.parse(record) as { session: string }).session)
    expect(sessions).toEqual(Array.from({ length: 20 }, (_, at) => `s${at + 5}`))
  })
})

const CANARY = "filled-in-4711"
const anyQuestion = fc.record({
  kind: fc.constantFrom("permission", "elicitation"),
  answer: fc.constantFrom("none", "allow_once", "accept", "decline", "cancel"),
  length: fc.nat(40_000),
})

test("exported questions have the decision but never form values, and have a bounded size", () => {
  fc.assert(
    fc.property(
      fc.array(anyQuestion, { maxLength: 40 }),
      fc.constantFrom(null, "deadline" as const),
      (questions, ending) => {
        const entries = questions.flatMap(({ kind, answer, length }, at): TranscriptEntry[] => {
          const id = `q${at}`
          const text = "x".repeat(length)
          const question =
            kind === "permission"
              ? {
                  kind,
                  operation: "shell",
                  options: ["allow_once"],
                  command: text,
                  expires_at: new Date(5).toISOString(),
                }
              : { kind, message: text, fields: [], expires_at: new Date(5).toISOString() }
          const form = answer === "accept" ? JSON.stringify({ action: answer, content: { name: CANARY } }) : answer
          const content = kind === "permission" && answer === "accept" ? "allow_once" : form
          return [
            { kind: "question", id, question },
            ...(answer === "none" ? [] : [{ kind: "answer" as const, question_id: id, content }]),
          ]
        })
        const stored = entries.map((entry, at) => ({ n: at + 1, at: at + 1, body: JSON.stringify(entry) }))
        const exported = questionsOf(stored, { ending }, 1_000)
        expect(exported.map(({ id }) => id)).toEqual(questions.map((_, at) => `q${at}`))
        const text = JSON.stringify(exported)
        expect(text).not.toContain(CANARY)
        expect(text.length).toBeLessThan(64_000 + exported.length * 500)
        for (const [at, { answer }] of questions.entries()) {
          const { state, closedAt, openedAt, decision } = exported[at] ?? {}
          const unanswered = ending === "deadline" ? "expired" : "cancelled"
          expect(state).toBe(answer === "none" ? unanswered : "answered")
          expect(decision === null).toBe(
            answer === "none" || (exported[at]?.kind === "elicitation" && answer === "allow_once"),
          )
          expect(state === "expired" || Number(closedAt) >= Number(openedAt)).toBe(true)
        }
      },
    ),
  )
})
