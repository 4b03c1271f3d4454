import type { Outcome } from "./deliver.ts"
import {
  afterFailure,
  afterSuccess,
  type Breaker,
  isDeadLetter,
  isHalfOpen,
  isRejection,
  RETRY_WINDOW_MS,
  waitMs,
} from "./retry.ts"
import type { BatchRow } from "../table.ts"

/** Delivers the backlog of one destination. Decisions only: reading, sending and writing are passed in. */

/** A batch that is kept: retried at `due_at`, or a dead letter. */
export type Retry = Pick<BatchRow, "id" | "state" | "attempts" | "rejections" | "due_at">

/** Result of a page of batches. It is written at once. */
export type PageResult = { done: BatchRow[]; retries: Retry[]; breaker: Breaker; takenAt: number; lastError: string }

export type BacklogPorts = {
  now: () => number
  /** Pending batches that are due, longest due first. */
  listDue: (now: number, limit: number) => Promise<BatchRow[]>
  nextDueAt: () => Promise<number | null>
  /** Undefined while the content of the batch is not stored yet. */
  attempt: (row: BatchRow) => Promise<Outcome | undefined>
  save: (page: PageResult) => Promise<void>
  /** Turns at most `limit` batches that have been pending since before `before` into dead letters. */
  expire: (before: number, limit: number) => Promise<void>
}

/** Concurrent deliveries; a Worker has six connections. */
const MAX_CONCURRENT = 6
/** Batches between two writes: the most that a crash can deliver twice. */
const PAGE = 24
const MAX_PAGES = 20
const MAX_EXPIRED = 500
const RECHECK_MS = 5_000
/** Interval of checks of a destination that is disabled. */
const DISABLED_INTERVAL_MS = 600_000

/** One wake-up: bounded work. Returns when the next is due; null if nothing is pending. */
export async function drain(start: Breaker, ports: BacklogPorts): Promise<number | null> {
  let breaker = start
  for (let page = 0; page < MAX_PAGES; page++) {
    if (breaker.pausedUntil > ports.now()) break
    const rows = await ports.listDue(ports.now(), isHalfOpen(breaker.failures) ? 1 : PAGE)
    if (rows.length === 0) break
    const result = await tryPage(rows, breaker, ports)
    await ports.save(result)
    breaker = result.breaker
  }
  if (isHalfOpen(breaker.failures)) await ports.expire(ports.now() - RETRY_WINDOW_MS, MAX_EXPIRED)
  const dueAt = await ports.nextDueAt()
  return dueAt === null ? null : Math.max(dueAt, breaker.pausedUntil)
}

/** For a disabled destination: nothing is sent, and pending batches expire after a day. */
export async function expireOnly(ports: Pick<BacklogPorts, "now" | "expire" | "nextDueAt">): Promise<number | null> {
  await ports.expire(ports.now() - RETRY_WINDOW_MS, MAX_EXPIRED)
  return (await ports.nextDueAt()) === null ? null : ports.now() + DISABLED_INTERVAL_MS
}

async function tryPage(rows: readonly BatchRow[], start: Breaker, ports: BacklogPorts): Promise<PageResult> {
  const result: PageResult = { done: [], retries: [], breaker: start, takenAt: 0, lastError: "" }
  const queue = [...rows]
  const worker = async () => {
    while (result.breaker.pausedUntil <= ports.now()) {
      const row = queue.shift()
      if (!row) return
      const outcome = await ports.attempt(row)
      apply(result, row, outcome, ports.now())
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker))
  return result
}

function apply(result: PageResult, row: BatchRow, outcome: Outcome | undefined, now: number): void {
  if (!outcome) {
    result.retries.push({ ...row, due_at: now + RECHECK_MS })
  } else if (outcome.isTaken) {
    result.done.push(row)
    result.takenAt = now
    // A late success of a delivery that began before the pause does not end the pause.
    if (result.breaker.pausedUntil <= now) result.breaker = afterSuccess(result.breaker)
  } else {
    const isRejected = isRejection(outcome.status)
    const attempts = row.attempts + 1
    const rejections = row.rejections + (isRejected ? 1 : 0)
    const isDead = isDeadLetter({ since: row.since, rejections }, now)
    const retry = isDead
      ? { state: "dead" as const, due_at: now }
      : { state: "pending" as const, due_at: now + waitMs(attempts) }
    result.retries.push({ id: row.id, attempts, rejections, ...retry })
    result.lastError = outcome.message
    // If several deliveries fail together, only the one that opens the breaker counts.
    if (!isRejected && result.breaker.pausedUntil <= now) {
      result.breaker = afterFailure(result.breaker, now, outcome.retryAfterMs)
    }
  }
}
