import { DurableObject } from "cloudflare:workers"
import type { BatchRpc } from "../../src/batches/open-batch.ts"
import type { Env } from "../../src/config/env.ts"
import { executionContextOf } from "../../src/app/execution-context.ts"
import { isShuttingDown } from "../../src/app/shutdown.ts"
import { logError } from "../../src/support/log.ts"
import { advanceBatch } from "./advance.ts"
import { LineStore } from "./lines.ts"
import { PartStore } from "./parts.ts"

const RETRY_AFTER_ERROR_MS = 30_000
const AFTER_SHUTDOWN_MS = 5_000

/**
 * One per batch: its alarm validates the input, runs the lines and writes the output. The row in D1 has the status; the
 * object has the lines and their results, and is empty when the batch has ended.
 */
export class Batch extends DurableObject<Env> implements Omit<BatchRpc, keyof Rpc.DurableObjectBranded> {
  #isWoken = false
  #isRunning = false

  async wake(id: string): Promise<void> {
    this.#isWoken = true
    await this.ctx.storage.put("id", id)
    await this.ctx.storage.setAlarm(Date.now())
  }

  /** Never throws: the platform stops repeating a failing alarm. It repeats an alarm whose isolate died. */
  override async alarm(): Promise<void> {
    const id = await this.ctx.storage.get<string>("id")
    // The running alarm continues by itself.
    if (id === undefined || this.#isRunning) return
    this.#isRunning = true
    try {
      await this.#advance(id)
    } finally {
      this.#isRunning = false
    }
  }

  async #advance(id: string): Promise<void> {
    if (isShuttingDown()) return this.ctx.storage.setAlarm(Date.now() + AFTER_SHUTDOWN_MS)
    const isUrgent = this.#isWoken
    this.#isWoken = false
    try {
      const next = await advanceBatch(id, {
        lines: new LineStore(this.ctx.storage, id),
        parts: () => new PartStore(this.ctx.storage),
        env: this.env,
        executionCtx: executionContextOf(this.ctx),
        isUrgent,
        // The alarm that follows waits for the next isolate.
        isWoken: () => this.#isWoken || isShuttingDown(),
      })
      if (next === null) await this.#clear()
      else await this.ctx.storage.setAlarm(this.#isWoken ? Date.now() : next)
    } catch (cause) {
      logError("batch could not be advanced; the alarm repeats", { batch: id }, cause)
      await this.ctx.storage.setAlarm(Date.now() + RETRY_AFTER_ERROR_MS)
    }
  }

  async #clear(): Promise<void> {
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
  }
}
