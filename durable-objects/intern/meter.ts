import type { Env } from "../../src/config/env.ts"
import { callsOf, meter } from "../../src/interns/metering.ts"
import type { TurnUsage } from "../../src/interns/run/acp.ts"
import type { Run } from "../../src/interns/run/run.ts"
import { logError } from "../../src/support/log.ts"
import { wait } from "../../src/support/time.ts"
import type { RunStore } from "./run-store.ts"

/** The last call of a turn may be charged a moment after the agent has ended the turn. */
const SETTLING_MS = [0, 150, 350]

/**
 * What the turns of an agent on a machine cost, from the gateway's own records. An embedded agent counts for itself,
 * from the same records. Where turns of one intern overlap, a call belongs to the turn that ends first.
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

  /** For a storage that is new, or was emptied. */
  reset(): void {
    this.#sql.exec(
      "CREATE TABLE IF NOT EXISTS metered (id TEXT PRIMARY KEY, run TEXT NOT NULL, at INTEGER NOT NULL) STRICT",
    )
  }

  /** Undefined for a turn that needs none. Resolves with what the agent reported where nothing was recorded. */
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
      // Agents do not count what they spend on titles and summaries. One that reports nothing is waited for until
      // nothing more comes.
      if (run.usage ? total >= run.usage.total_tokens : total === former) break
      former = total
    }
    return usage ?? run.usage
  }

  #isMetered(id: string, run: string): boolean {
    return this.#sql.exec("SELECT 1 FROM metered WHERE id = ? AND run <> ?", id, run).toArray().length > 0
  }

  /** `since`: the start of the run. A claim is kept while a turn is open that was there before it. */
  #claim(ids: readonly string[], run: string, since: number): void {
    const oldest = Math.min(since, ...this.#runs.open.map(({ startedAt }) => startedAt ?? since))
    this.#sql.exec("DELETE FROM metered WHERE at < ?", oldest)
    for (const id of ids) {
      this.#sql.exec("INSERT INTO metered (id, run, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", id, run, Date.now())
    }
  }
}
