import type { Env } from "../../src/config/env.ts"
import type { InternIdentity } from "../../src/interns/hosts/rpc.ts"
import { type InternWebhook, openSigningSecret, type WebhookEvent } from "../../src/interns/webhook.ts"
import { sendOutbound } from "../../src/outbound/send.ts"
import { outboundDeps } from "../../src/outbound/settings.ts"
import { webhookHeaders } from "../../src/outbound/standard-webhook.ts"
import { newId } from "../../src/support/ids.ts"
import { parseStored } from "../../src/support/text/json.ts"
import { logError } from "../../src/support/log.ts"
import { toTimestamp } from "../../src/support/time/time.ts"

const MAX_BACKLOG = 1_000
const MAX_AGE_MS = 24 * 3_600_000
const INITIAL_DELAY_MS = 2_000
const MAX_DELAY_MS = 3_600_000
/** Deliveries per alarm. */
const BATCH = 20
/** Maximum time that a delivery waits for incomplete content. */
const MAX_HELD_MS = 3_000

type Target = Pick<InternWebhook, "url" | "sealedSecret">
type State = {
  target: Target | null
  /** Consecutive failed deliveries, and the time of the next one. */
  failures: number
  dueAt: number
} & Pick<InternWebhook, "lastError" | "lastErrorAt" | "lastSuccessAt">
type Row = { n: number; id: string; at: number; body: string }

const NONE: State = { target: null, failures: 0, dueAt: 0, lastError: null, lastErrorAt: null, lastSuccessAt: null }

/**
 * Deliveries to the webhook of an intern: stored until the receiver has accepted them, in order, at least once, for 24
 * hours. Uses one alarm for any backlog.
 */
export class WebhookQueue {
  readonly #sql: SqlStorage
  readonly #env: Env
  readonly #now: () => number
  #isDelivering = false
  /** Deliveries with incomplete content, with the time when they are sent anyway. Only in memory. */
  readonly #held = new Map<number, number>()
  /** Whether there may be deliveries. Cached, because it is read for every message of an agent. */
  #mayHaveWork = true

  constructor(sql: SqlStorage, env: Env, now: () => number) {
    this.#sql = sql
    this.#env = env
    this.#now = now
    this.reset()
  }

  /** Creates the tables, for a new or emptied storage. */
  reset(): void {
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS webhook (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS notices (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, at INTEGER NOT NULL,
        body TEXT NOT NULL) STRICT;
    `)
  }

  get #state(): State {
    const [row] = this.#sql.exec<{ body: string }>("SELECT body FROM webhook WHERE id = 1")
    return row ? parseStored<State>(row.body) : NONE
  }

  #set(change: Partial<State>): void {
    const body = JSON.stringify({ ...this.#state, ...change })
    this.#sql.exec("INSERT INTO webhook VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body", body)
  }

  get webhook(): InternWebhook | undefined {
    const { target, lastError, lastErrorAt, lastSuccessAt } = this.#state
    return target ? { ...target, backlog: this.#backlog, lastError, lastErrorAt, lastSuccessAt } : undefined
  }

  get #backlog(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM notices").one().n
  }

  /** Time of the next delivery; null for none. */
  get dueAt(): number | null {
    if (this.#isDelivering || !this.#mayHaveWork) return null
    this.#mayHaveWork = this.#backlog > 0
    if (!this.#mayHaveWork) return null
    const [first] = this.#sql.exec<{ n: number }>("SELECT n FROM notices ORDER BY n LIMIT 1")
    return Math.max(this.#state.dueAt, this.#held.get(first?.n ?? 0) ?? 0)
  }

  /** Null removes the webhook with its pending deliveries. */
  setTarget(target: Target | null): void {
    if (target === null) this.#sql.exec("DELETE FROM notices")
    this.#set({ ...NONE, target })
  }

  /** Returns the number of the delivery. `isHeld`: the delivery waits for `release`. */
  add(type: WebhookEvent, data: Record<string, unknown>, { isHeld = false } = {}): number | undefined {
    if (this.#state.target === null || this.#backlog >= MAX_BACKLOG) return undefined
    this.#mayHaveWork = true
    const [id, at] = [`evt-${newId()}`, this.#now()]
    const body = JSON.stringify({ type, timestamp: toTimestamp(at), data })
    const { n } = this.#sql
      .exec<{ n: number }>("INSERT INTO notices (id, at, body) VALUES (?, ?, ?) RETURNING n", id, at, body)
      .one()
    if (isHeld) this.#held.set(n, at + MAX_HELD_MS)
    return n
  }

  /** Replaces the content and delivers, unless it was delivered already. */
  release(n: number, data: Record<string, unknown>): void {
    this.#held.delete(n)
    this.#sql.exec("UPDATE notices SET body = json_set(body, '$.data', json(?)) WHERE n = ?", JSON.stringify(data), n)
  }

  async deliverDue(identity: InternIdentity | undefined): Promise<void> {
    const { dueAt } = this
    if (!identity || dueAt === null || dueAt > this.#now()) return
    this.#isDelivering = true
    try {
      await this.#deliver(identity)
    } catch (cause) {
      logError("webhook of an intern was not delivered", { intern: identity.id }, cause)
      this.#failed("The delivery failed.")
    } finally {
      this.#isDelivering = false
    }
  }

  async #deliver(identity: InternIdentity): Promise<void> {
    this.#sql.exec("DELETE FROM notices WHERE at < ?", this.#now() - MAX_AGE_MS)
    const rows = this.#sql.exec<Row>("SELECT * FROM notices ORDER BY n LIMIT ?", BATCH).toArray()
    for (const row of rows) {
      const { target } = this.#state
      if (!target || (this.#held.get(row.n) ?? 0) > this.#now()) return
      this.#held.delete(row.n)
      const fault = await this.#send(identity, target, row)
      if (fault !== undefined) return this.#failed(fault)
      this.#sql.exec("DELETE FROM notices WHERE n = ?", row.n)
      this.#set({ failures: 0, dueAt: 0, lastSuccessAt: this.#now() })
    }
  }

  /** Returns why a delivery was not accepted; undefined if it was. */
  async #send(identity: InternIdentity, target: Target, { id, body }: Row): Promise<string | undefined> {
    const secret = await openSigningSecret(this.#env, identity, target.sealedSecret)
    if (secret === undefined) return "The signing secret cannot be decrypted."
    const signed = await webhookHeaders(secret, { id, body, now: this.#now() })
    const headers = { ...signed, "content-type": "application/json" }
    const sent = await sendOutbound({ url: target.url, method: "POST", headers, body }, outboundDeps(this.#env))
    if (sent.status === null) return `Not sent: ${sent.reason}.`
    return sent.status >= 200 && sent.status < 300 ? undefined : `The receiver returned status ${sent.status}.`
  }

  #failed(lastError: string): void {
    const failures = this.#state.failures + 1
    const dueAt = this.#now() + Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** (failures - 1))
    this.#set({ failures, dueAt, lastError, lastErrorAt: this.#now() })
  }
}
