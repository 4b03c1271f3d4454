import { GatewayError } from "../../src/errors/errors.ts"
import type { ChatCall } from "../../src/interns/hosts/rpc.ts"
import { nextRun, type Schedule, type ScheduleChange } from "../../src/interns/schedule.ts"
import type { Run, StartedBy } from "../../src/interns/run/run.ts"
import { type Limit, UNLIMITED_NANO } from "../../src/ledger/limits.ts"
import { scheduleScope } from "../../src/ledger/scopes.ts"
import { usdToNano } from "../../src/money/money.ts"
import { windowStart } from "../../src/money/windows.ts"
import { parseStored } from "../../src/support/text/json.ts"
import { logError } from "../../src/support/log.ts"
import type { SessionLog } from "./sessions/session-log.ts"

const ORIGIN = "schedule:"

type SchedulesDeps = {
  log: SessionLog
  now: () => number
  /** USD spent today under a limit, from the ledger. */
  spentToday: (limit: Limit) => Promise<number>
  /** Starts a background turn. */
  start: (call: ChatCall) => Promise<Response>
}

/** The schedules of an intern. They run in self-drive mode, without a client for questions. */
export class Schedules {
  readonly #sql: SqlStorage
  readonly #deps: SchedulesDeps
  /** Cache of `nextAt`, which is read for every message of an agent; undefined after a change. */
  #next: number | null | undefined

  constructor(sql: SqlStorage, deps: SchedulesDeps) {
    this.#sql = sql
    this.#deps = deps
    this.reset()
  }

  /** Creates the table, for a new or emptied storage. */
  reset(): void {
    this.#next = undefined
    this.#sql.exec("CREATE TABLE IF NOT EXISTS schedules (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT")
  }

  list(): Schedule[] {
    const rows = this.#sql.exec<{ body: string }>("SELECT body FROM schedules ORDER BY id")
    return [...rows].map(({ body }) => parseStored<Schedule>(body))
  }

  get(id: string): Schedule | undefined {
    const [row] = this.#sql.exec<{ body: string }>("SELECT body FROM schedules WHERE id = ?", id)
    return row && parseStored<Schedule>(row.body)
  }

  /** Stores a schedule, with its next run. */
  put(schedule: Schedule): Schedule {
    const nextAt = schedule.enabled ? nextRun(schedule, this.#deps.now()) : null
    const stored = { ...schedule, nextAt }
    this.#save(stored)
    return stored
  }

  /** Changes the current fields of a schedule, so that concurrent changes are kept. Undefined if it does not exist. */
  change(id: string, change: ScheduleChange): Schedule | undefined {
    const schedule = this.get(id)
    return schedule && this.put({ ...schedule, ...change })
  }

  /** Returns whether the schedule existed. */
  delete(id: string): boolean {
    this.#next = undefined
    return [...this.#sql.exec("DELETE FROM schedules WHERE id = ? RETURNING id", id)].length > 0
  }

  /** Time of the next run; null for none. */
  get nextAt(): number | null {
    if (this.#next !== undefined) return this.#next
    const dueTimes = this.list().flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt]))
    this.#next = dueTimes.length === 0 ? null : Math.min(...dueTimes)
    return this.#next
  }

  /** Missed runs of a schedule are made up for by one run. */
  async runDue(): Promise<void> {
    const now = this.#deps.now()
    const isDue = ({ nextAt }: Schedule) => nextAt !== null && nextAt <= now
    for (const { id } of this.list().filter(isDue)) {
      // Read again: it may have been changed or deleted while another one started.
      const schedule = this.get(id)
      // Stored before the run starts, so that a run that crashes the isolate is not repeated.
      if (schedule && isDue(schedule)) await this.run(this.put(schedule))
    }
  }

  async run(schedule: Schedule): Promise<Schedule> {
    const { id, prompt: text, session: rule } = schedule
    const now = this.#deps.now()
    // Runs may start within one millisecond.
    const ofRun = [new Date(now).toISOString(), crypto.randomUUID().slice(0, 8)]
    const session = ["schedule", id, ...(rule === "same" ? [] : ofRun)].join("-")
    const error = await this.#start(schedule, session, text)
    const existing = this.get(id)
    const after = { ...(existing ?? schedule), lastAt: now, lastError: error ?? null }
    const stored = error === undefined ? { ...after, lastSession: session } : after
    if (existing) this.#save(stored)
    return stored
  }

  /**
   * Additional limits for the calls of a turn, if a schedule started it or its session. `run` is absent if the turn has
   * ended and the agent still works.
   */
  limitsOf(session: string, run: Run | undefined): Limit[] {
    const origin = this.#deps.log.get(session)?.origin ?? ""
    const ofSession = origin.startsWith(ORIGIN) ? { id: origin.slice(ORIGIN.length), dailyLimitUsd: null } : undefined
    const started = run?.schedule ?? ofSession
    if (!started) return []
    const { dailyLimitUsd } = this.get(started.id) ?? started
    return [limitOf(started.id, dailyLimitUsd)]
  }

  /** Also reads the session log, since turns of an earlier release today are only there. */
  async #overBudget({ id, dailyLimitUsd }: StartedBy): Promise<string | undefined> {
    if (dailyLimitUsd === null) return undefined
    const logged = this.#deps.log.costSince(`schedule:${id}`, windowStart("daily", this.#deps.now()))
    const spent = Math.max(logged, await this.#deps.spentToday(limitOf(id, dailyLimitUsd)))
    return spent < dailyLimitUsd ? undefined : `Its runs on this UTC day have cost ${spent} of ${dailyLimitUsd} USD.`
  }

  /** Returns why a run did not start; undefined if it did. */
  async #start({ id, dailyLimitUsd }: Schedule, session: string, text: string): Promise<string | undefined> {
    const turn = { mode: "self-drive", text, isBackground: true } as const
    const schedule = { id, dailyLimitUsd }
    try {
      const spent = await this.#overBudget(schedule)
      if (spent !== undefined) return spent
      await this.#deps.start({ is: "prompt", session, ...turn, origin: `schedule:${id}`, schedule })
      return undefined
    } catch (thrown) {
      if (thrown instanceof GatewayError) return thrown.message
      logError("a schedule of an intern did not start", { schedule: id }, thrown)
      return "The run did not start."
    }
  }

  #save(schedule: Schedule): void {
    this.#next = undefined
    this.#sql.exec(
      "INSERT INTO schedules (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
      schedule.id,
      JSON.stringify(schedule),
    )
  }
}

function limitOf(id: string, dailyLimitUsd: number | null): Limit {
  const limitNano = dailyLimitUsd === null ? UNLIMITED_NANO : usdToNano(dailyLimitUsd)
  return { scope: scheduleScope(id), limitNano, interval: "daily", includeByok: false }
}
