import type { Env } from "../../src/config/env.ts"
import { callsOf, meter } from "../../src/interns/metering/metering.ts"
import type { TurnUsage } from "../../src/interns/run/acp/acp.ts"
import type { Run } from "../../src/interns/run/run.ts"
import { logError } from "../../src/support/log.ts"
import { wait } from "../../src/support/time/time.ts"
import type { RunStore } from "./run-store.ts"

/** Delays before reads: the last call of a turn may be charged shortly after the agent has ended the turn. */
const SETTLING_MS = [0, 150, 350]

/**
 * Cost of the turns of a daemon's agent, from the gateway's records. An embedded agent counts by itself, from the same
 * records. If turns of an intern overlap, a call belongs to the turn that ends first.
 */
export class Meter {
  readonly #env: Env
  readonly #sql: SqlStorage
  readonly #runs: RunStore

  constructor(sql: SqlStorage, env: Env, runs: RunStore) {
    this.#env = env
    this.#sql = sql
    this.#runs = runs
    this.reset()
  }

  /** Creates the table, for a new or emptied storage. */
  reset(): void {
    this.#sql.exec(
      "CREATE TABLE IF NOT EXISTS metered (id TEXT PRIMARY KEY, run TEXT NOT NULL, at INTEGER NOT NULL) STRICT",
    )
  }

  /** Undefined for a turn that needs no measurement. Resolves with the agent's report if nothing was recorded. */
  measure(run: Run): Promise<TurnUsage | null> | undefined {
    const identity = this.#runs.fact("identity")
    if (!identity || identity.host === "embedded" || run.startedAt === undefined) return undefined
    return this.#measure(run, run.startedAt).catch((cause: unknown) => {
      logError("usage of a turn was not read", { intern: identity.id }, cause)
      return run.usage
    })
  }

  async #measure(run: Run, since: number): Promise<TurnUsage | null> {
    const identity = this.#runs.fact("identity")
    if (!identity) return run.usage
    let usage: TurnUsage | null = null
    let former = -1
    for (const ms of SETTLING_MS) {
      await wait(ms)
      const calls = await callsOf(this.#env, identity, since)
      const fresh = calls.filter(({ id }) => !this.#isMetered(id, run.id))
      usage = meter(fresh)
      this.#claim(
        fresh.map(({ id }) => id),
        run.id,
        since,
      )
      const total = usage?.total_tokens ?? 0
      // Agents do not count calls for titles and summaries. If an agent reports nothing, waits until no more records
      // arrive.
      if (run.usage ? total >= run.usage.total_tokens : total === former) break
      former = total
    }
    return usage ?? run.usage
  }

  #isMetered(id: string, run: string): boolean {
    return this.#sql.exec("SELECT 1 FROM metered WHERE id = ? AND run <> ?", id, run).toArray().length > 0
  }

  /** `since`: the start of the run. A claim is kept while an older turn is open. */
  #claim(ids: readonly string[], run: string, since: number): void {
    const oldest = Math.min(since, ...this.#runs.open.map(({ startedAt }) => startedAt ?? since))
    this.#sql.exec("DELETE FROM metered WHERE at < ?", oldest)
    for (const id of ids) {
      this.#sql.exec("INSERT INTO metered (id, run, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", id, run, Date.now())
    }
  }
}
