import { DEFAULT_THRESHOLDS, type LimitAlert, reachedThreshold } from "../../src/ledger/reporting/alerts.ts"
import type { Generation } from "../../src/ledger/generation.ts"
import { ACCOUNT, type Counters, type Limit, type Verdict } from "../../src/ledger/limits.ts"
import type { HoldRequest, HoldVerdict } from "../../src/ledger/protocol.ts"
import { isNamedByRequests } from "../../src/ledger/scopes.ts"
import { logError } from "../../src/support/log.ts"
import { parseStored } from "../../src/support/text/json.ts"
import { derivedIdAt } from "../../src/support/ids.ts"
import { DAY_MS } from "../../src/support/time/time.ts"

/** A limit with the amount spent in its window. */
type Use = Pick<Limit, "scope" | "interval" | "limitNano"> & { windowStart: number; spentNano: number }
type RejectedVerdict = Extract<Verdict, { ok: false }>
type LedgerStores = { get: (scope: string) => Counters; creditedNano: () => number }

/** Threshold value that marks a rejection. */
const REJECTION = -1
/** Marks are removed this long after their window ended. */
const RETENTION_MS = 40 * DAY_MS
const MAX_KNOWN = 10_000
const BATCH = 50
const RETRY_MS = 30_000

/**
 * Alerts for limits: written in the transaction of the charge that crosses a threshold, once per window and limit, and
 * kept until they are recorded in D1. The row of an alert also prevents a second one. Limits that count each end user
 * raise none.
 */
export class Alerts {
  readonly #sql: SqlStorage
  /** The highest threshold that has a mark, by limit and window. */
  readonly #marked = new Map<string, number>()
  #thresholds: readonly number[] | undefined
  /** Nano-USD at the last credit: total credits, spent amount, and balance. */
  #base: { creditedNano: number; spentNano: number; limitNano: number } | undefined
  #hasUnsent = true

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`
      CREATE TABLE IF NOT EXISTS alerts (
        mark TEXT NOT NULL, threshold INTEGER NOT NULL, window_start INTEGER NOT NULL, is_sent INTEGER NOT NULL,
        record TEXT NOT NULL, PRIMARY KEY (mark, threshold)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS alerts_unsent ON alerts (is_sent) WHERE is_sent = 0;
      CREATE TABLE IF NOT EXISTS alert_state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    `)
  }

  /** Reloads after a rolled back transaction. */
  reload(): void {
    this.#marked.clear()
    this.#base = undefined
  }

  /** Percent, ascending. */
  get thresholds(): readonly number[] {
    return (this.#thresholds ??= this.#read<number[]>("thresholds") ?? DEFAULT_THRESHOLDS)
  }

  setThresholds(thresholds: readonly number[]): void {
    this.#thresholds = thresholds
    this.#write("thresholds", thresholds)
    // A new threshold may be below reached ones.
    this.#marked.clear()
  }

  /** Thresholds of the balance count from the last credit. */
  credited(stores: LedgerStores): void {
    const creditedNano = stores.creditedNano()
    this.#base ??= this.#read("base")
    if (this.#base?.creditedNano === creditedNano) return
    const { spent } = stores.get(ACCOUNT).total
    this.#base = { creditedNano, spentNano: spent, limitNano: Math.max(0, creditedNano - spent) }
    this.#write("base", this.#base)
  }

  /** Called after a charge is counted, within its transaction. */
  charged(generation: Generation, stores: LedgerStores, now: number): void {
    const limits = generation.limits?.filter(({ scope }) => !isNamedByRequests(scope)) ?? []
    const uses = limits.map((limit) => useOf(limit, stores.get(limit.scope)))
    if (generation.costNano > 0) uses.push(this.#balance(stores))
    for (const use of uses) {
      const threshold = reachedThreshold(this.thresholds, use.spentNano, use.limitNano)
      if (threshold > 0 && threshold > this.#highest(use)) this.#add(use, threshold, { ...generation, at: now })
    }
  }

  /** Records limits that rejected a call or some of its candidates. True if one is the first in its window. */
  recordRejections(request: HoldRequest, verdict: HoldVerdict, stores: LedgerStores): boolean {
    const { providers = [] } = "free" in verdict || "rate" in verdict ? {} : verdict
    const rejections = [verdict, ...providers.map((one) => one.verdict)].filter((one) => "leastNano" in one)
    // No short circuit: each rejection must be written.
    return rejections.map((rejection) => this.#recordRejection(request, rejection, stores)).includes(true)
  }

  #recordRejection(
    request: HoldRequest,
    { scope, interval, leastNano }: RejectedVerdict,
    stores: LedgerStores,
  ): boolean {
    if (isNamedByRequests(scope)) return false
    const limits = [...request.limits, ...(request.providers?.limited.flatMap((one) => one.limits) ?? [])]
    const limit = limits.find((one) => one.scope === scope && one.interval === interval)
    const use = limit ? useOf(limit, stores.get(scope)) : this.#balance(stores)
    const mark = markOf(use)
    const known = this.#sql.exec("SELECT 1 FROM alerts WHERE mark = ? AND threshold = ?", mark, REJECTION).toArray()
    if (known.length > 0) return false
    this.#add(use, REJECTION, { ...request.draft, at: Date.now(), neededNano: leastNano })
    return true
  }

  /** Milliseconds until the next try if D1 is not available; null when done. */
  async record(save: (alerts: LimitAlert[]) => Promise<void>): Promise<number | null> {
    while (this.#hasUnsent) {
      const rows = this.#sql.exec<{ record: string }>("SELECT record FROM alerts WHERE is_sent = 0 LIMIT ?", BATCH)
      const alerts = rows.toArray().map(({ record }) => parseStored<LimitAlert>(record))
      if (alerts.length === 0) {
        this.#hasUnsent = false
        break
      }
      try {
        await save(alerts)
      } catch (cause) {
        logError("alerts were not recorded; the ledger retries", { waitMs: RETRY_MS }, cause)
        return RETRY_MS
      }
      this.#sent(alerts, Date.now())
    }
    return null
  }

  #sent(alerts: readonly LimitAlert[], now: number): void {
    for (const alert of alerts) {
      const threshold = alert.threshold ?? REJECTION
      this.#sql.exec("UPDATE alerts SET is_sent = 1 WHERE mark = ? AND threshold = ?", markOf(alert), threshold)
    }
    this.#sql.exec("DELETE FROM alerts WHERE is_sent = 1 AND window_start > 0 AND window_start < ?", now - RETENTION_MS)
  }

  /** Use of the balance after the last credit, or of all credits if there was none since alerts exist. */
  #balance(stores: LedgerStores): Use {
    this.#base ??= this.#read("base")
    this.#base ??= { creditedNano: stores.creditedNano(), spentNano: 0, limitNano: stores.creditedNano() }
    const { limitNano, spentNano } = this.#base
    const spent = stores.get(ACCOUNT).total.spent - spentNano
    return { scope: ACCOUNT, interval: null, windowStart: spentNano, limitNano, spentNano: Math.max(0, spent) }
  }

  #highest(use: Use): number {
    const mark = markOf(use)
    let highest = this.#marked.get(mark)
    if (highest === undefined) {
      const [row] = this.#sql
        .exec<{ highest: number | null }>(
          "SELECT max(threshold) AS highest FROM alerts WHERE mark = ? AND threshold <= 100",
          mark,
        )
        .toArray()
      highest = Math.max(0, row?.highest ?? 0)
      if (this.#marked.size >= MAX_KNOWN) this.#marked.clear()
      this.#marked.set(mark, highest)
    }
    return highest
  }

  #add(use: Use, threshold: number, context: AlertContext): void {
    const mark = markOf(use)
    const { scope, interval, windowStart, limitNano, spentNano } = use
    const { organizationId, workspaceId, at, neededNano } = context
    const alert: LimitAlert = {
      id: derivedIdAt(at, "limit alert", organizationId, mark, String(threshold)),
      organizationId,
      workspaceId,
      scope,
      interval,
      windowStart,
      threshold: threshold === REJECTION ? null : threshold,
      limitNano,
      spentNano,
      ...(neededNano !== undefined && { neededNano }),
      at,
    }
    this.#sql.exec(
      "INSERT INTO alerts (mark, threshold, window_start, is_sent, record) VALUES (?, ?, ?, 0, ?) ON CONFLICT DO NOTHING",
      mark,
      threshold,
      interval === null ? 0 : windowStart,
      JSON.stringify(alert),
    )
    if (threshold !== REJECTION) this.#marked.set(mark, threshold)
    this.#hasUnsent = true
  }

  #read<T>(name: string): Readonly<T> | undefined {
    const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM alert_state WHERE name = ?", name).toArray()
    return row && parseStored<T>(row.value)
  }

  #write(name: string, value: unknown): void {
    this.#sql.exec("INSERT OR REPLACE INTO alert_state (name, value) VALUES (?, ?)", name, JSON.stringify(value))
  }
}

type AlertContext = Pick<LimitAlert, "organizationId" | "workspaceId" | "at" | "neededNano">

function useOf({ scope, interval, limitNano, includeByok }: Limit, counters: Counters): Use {
  const window = interval === null ? counters.total : counters[interval]
  const spentNano = window.spent + (includeByok ? window.byok : 0)
  return { scope, interval, limitNano, spentNano, windowStart: interval === null ? 0 : counters[interval].start }
}

/** A changed limit has a new mark, and so has the balance after another credit. */
function markOf({ scope, interval, windowStart, limitNano }: Pick<Use, keyof Use & keyof LimitAlert>): string {
  return `${scope} ${interval ?? "lifetime"} ${windowStart} ${limitNano}`
}
