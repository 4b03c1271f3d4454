import type { Env } from "../config/env.ts"
import { type AlertMessage, toDelay } from "../config/messages.ts"
import { RETRY_WINDOW_MS } from "../observability/delivery/retry.ts"
import { HOUR_MS } from "../support/time/time.ts"
import { logError } from "../support/log.ts"
import { findChannel, recordOutcome } from "./channel-store.ts"
import { deliver } from "./channel.ts"
import { findDelivery, saveDelivery } from "./store.ts"

const FIRST_WAIT_MS = 5_000
const MAX_WAIT_MS = HOUR_MS
const RETRY_AFTER_ERROR_MS = 30_000

/** Delivers alerts, each with a separate message, so that a failure does not block others. */
export async function consumeAlerts(messages: readonly Message<AlertMessage>[], env: Env): Promise<void> {
  await Promise.all(
    messages.map(async (message) => {
      try {
        const waitMs = await attempt(message.body, env, Date.now())
        if (waitMs === null) message.ack()
        else message.retry(toDelay(waitMs))
      } catch (cause) {
        logError("an alert could not be delivered", { alert: message.body.alertId, attempts: message.attempts }, cause)
        message.retry(toDelay(RETRY_AFTER_ERROR_MS))
      }
    }),
  )
}

/** Attempts one delivery. Returns the milliseconds until a retry; null to stop. */
export async function attempt(message: AlertMessage, env: Env, now: number): Promise<number | null> {
  const found = await findDelivery(env.DB, message)
  const channel = found && (await findChannel(env.DB, message.organizationId, message.channelId))
  if (!channel) return null
  const { alert, delivery } = found
  const outcome = await deliver(channel, alert, env, now)
  await recordOutcome(env.DB, channel, outcome, now)
  const attempts = delivery.attempts + 1
  if (outcome.isTaken) {
    await saveDelivery(env.DB, { ...delivery, attempts, state: "delivered", lastError: null })
    return null
  }
  const isOver = now - alert.createdAt >= RETRY_WINDOW_MS
  const waitMs = Math.min(MAX_WAIT_MS, Math.max(FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 20), outcome.retryAfterMs))
  const state = isOver ? ("failed" as const) : ("pending" as const)
  await saveDelivery(env.DB, { ...delivery, attempts, state, dueAt: now + waitMs, lastError: outcome.message })
  return isOver ? null : waitMs
}
