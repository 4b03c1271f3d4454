import type { HoldHeartbeat } from "./heartbeat.ts"

/**
 * Aborts an attempt that shows nothing in time. It starts the heartbeat of the hold as well, so that a short call has
 * one timer.
 */
export class AttemptTimer {
  readonly #abort: AbortController
  readonly #heartbeat: HoldHeartbeat
  readonly #startedAt = Date.now()
  #deadline: number
  #id: ReturnType<typeof setTimeout> | undefined
  hasFired = false

  constructor(abort: AbortController, heartbeat: HoldHeartbeat, limitMs: number) {
    this.#abort = abort
    this.#heartbeat = heartbeat
    this.#deadline = this.#startedAt + limitMs
    this.#arm()
  }

  /** Allows the attempt this long since it started. */
  extendTo(limitMs: number): void {
    this.#deadline = this.#startedAt + limitMs
  }

  stop(): void {
    clearTimeout(this.#id)
  }

  #arm(): void {
    const dueMs = this.#heartbeat.isRunning ? Number.POSITIVE_INFINITY : this.#heartbeat.dueMs
    this.#id = setTimeout(() => this.#onTimer(), Math.max(0, Math.min(dueMs, this.#deadline - Date.now())))
  }

  #onTimer(): void {
    if (this.#heartbeat.dueMs === 0) this.#heartbeat.start()
    if (Date.now() < this.#deadline) return this.#arm()
    this.hasFired = true
    this.#abort.abort()
  }
}
