import { DurableObject } from "cloudflare:workers"
import type { Env } from "../../src/config/env.ts"
import { drainDestination } from "../../src/observability/delivery/backlog.ts"
import type { DeliveryIdentity, DeliveryRpc } from "../../src/observability/delivery/wake.ts"
import { logError } from "../../src/support/log.ts"

const RETRY_AFTER_ERROR_MS = 30_000

/**
 * One per destination with a backlog. Its alarm delivers the batches, which are rows in D1, so any backlog needs only
 * one alarm. Alarms do not overlap, so no batch is sent twice concurrently.
 */
export class Delivery extends DurableObject<Env> implements Omit<DeliveryRpc, keyof Rpc.DurableObjectBranded> {
  async wake(destination: DeliveryIdentity, at: number): Promise<void> {
    const stored = await this.ctx.storage.get<DeliveryIdentity>("destination")
    if (!stored) await this.ctx.storage.put("destination", destination)
    await this.#wakeBy(at)
  }

  /** Never throws: the platform stops repeating a failing alarm. */
  override async alarm(): Promise<void> {
    const destination = await this.ctx.storage.get<DeliveryIdentity>("destination")
    if (!destination) return
    try {
      const next = await drainDestination(destination, this.env)
      if (next !== null) await this.#wakeBy(next)
    } catch (cause) {
      logError("a backlog could not be delivered; the alarm repeats", { ...destination }, cause)
      await this.#wakeBy(Date.now() + RETRY_AFTER_ERROR_MS)
    }
  }

  async #wakeBy(at: number): Promise<void> {
    const planned = await this.ctx.storage.getAlarm()
    if (planned === null || planned > at) await this.ctx.storage.setAlarm(at)
  }
}
