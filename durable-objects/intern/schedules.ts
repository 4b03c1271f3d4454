import { GatewayError } from "../../src/errors/errors.ts"
import type { ChatCall } from "../../src/interns/hosts/rpc.ts"
import { nextRun, type Schedule } from "../../src/interns/schedule.ts"
import { windowStart } from "../../src/money/windows.ts"
import { parseStored } from "../../src/support/json.ts"
import { logError } from "../../src/support/log.ts"
import type { SessionLog } from "./session-log.ts"

type SchedulesDeps = {
  log: SessionLog
  now: () => number
  /** Starts a background turn. */
  start: (call: ChatCall) => Promise<Response>
}

/** The schedules of an intern. They run in self-drive: nobody is there to answer. */
export class Schedules {
  readonly #sql: SqlStorage
  readonly #deps: SchedulesDeps
  /** Of `nextAt`, which is read at every message of an agent; undefined after a change. */
  #next: number | null | undefined

  constructor(sql: SqlStorage, deps: SchedulesDeps) {
    this.#sql = sql
    this.#deps = deps
    this.reset()
  }

  /** For a storage that is new, or was emptied. */
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

  /** Returns whether it was there. */
  delete(id: string): boolean {
    this.#next = undefined
    return [...this.#sql.exec("DELETE FROM schedules WHERE id = ? RETURNING id", id)].length > 0
  }

  /** When the next one is due; null for none. */
  get nextAt(): number | null {
    if (this.#next !== undefined) return this.#next
    const due = this.list().flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt]))
    this.#next = due.length === 0 ? null : Math.min(...due)
    return this.#next
  }

  /** Runs that were missed while nothing could run are made up for once, not once each. */
  async runDue(): Promise<void> {
    const now = this.#deps.now()
    for (const schedule of this.list()) {
      if (schedule.nextAt === null || schedule.nextAt > now) continue
      // Stored before the run starts: a run that ends the isolate is not started again and again.
      await this.run(this.put(schedule))
    }
  }

  async run(schedule: Schedule): Promise<Schedule> {
    const { id, prompt: text, session: rule } = schedule
    const now = this.#deps.now()
    const session = rule === "same" ? `schedule-${id}` : `schedule-${id}-${new Date(now).toISOString()}`
    const error = this.#overBudget(schedule, now) ?? (await this.#start(id, session, text))
    const current = this.get(id)
    const after = { ...(current ?? schedule), lastAt: now, lastError: error ?? null }
    const stored = error === undefined ? { ...after, lastSession: session } : after
    if (current) this.#save(stored)
    return stored
  }

  #overBudget({ id, dailyLimitUsd }: Schedule, now: number): string | undefined {
    if (dailyLimitUsd === null) return undefined
    const spent = this.#deps.log.costSince(`schedule:${id}`, windowStart("daily", now))
    return spent < dailyLimitUsd ? undefined : `Its runs of this UTC day have cost ${spent} of ${dailyLimitUsd} USD.`
  }

  /** Why it did not start, or undefined. */
  async #start(id: string, session: string, text: string): Promise<string | undefined> {
    const origin = `schedule:${id}` as const
    try {
      await this.#deps.start({ is: "prompt", session, mode: "self-drive", text, isBackground: true, origin })
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
