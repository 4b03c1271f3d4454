import type { Env } from "../../config/env.ts"
import { logError } from "../../support/log.ts"
import { type CallMessage, toDelay } from "../../config/messages.ts"
import { findBatch } from "./store.ts"
import { type Verdict, distributeCalls } from "./distribute.ts"
import { wakeDelivery } from "./wake.ts"

/** Names of dead-letter queues end in the same way in every environment. */
const DEAD = /-dead$/
const RETRY_AFTER_ERROR_MS = 30_000
const REQUEUE_AFTER_MS = 3_600_000
/** Calls that could not be sorted for this long are dropped. */
const DISTRIBUTION_WINDOW_MS = 4 * 24 * 3_600_000

type CallBatch = { queue: string; messages: readonly Message<CallMessage>[] }
type Batch = Extract<CallMessage, { kind: "batch" }>

/** Handles the messages of the broadcast queue one by one, so that a failure does not block others. */
export async function consumeBroadcasts(batch: CallBatch, env: Env): Promise<void> {
  const handle = DEAD.test(batch.queue) ? saveDeadLetter : take
  await Promise.all(
    batch.messages.map(async (message) => {
      try {
        const { waitMs } = await handle(message.body, env, Date.now())
        if (waitMs === null) message.ack()
        else message.retry(toDelay(waitMs))
      } catch (cause) {
        logError("a broadcast failed", { kind: message.body.kind, attempts: message.attempts }, cause)
        message.retry(toDelay(RETRY_AFTER_ERROR_MS))
      }
    }),
  )
}

function take(message: CallMessage, env: Env, now: number): Promise<Verdict> {
  return message.kind === "calls" ? distributeCalls(message, env, now) : wakeBatch(message, env, now)
}

/** For messages of earlier releases, which published one for each batch. */
async function wakeBatch({ organizationId, batchId }: Batch, env: Env, now: number): Promise<Verdict> {
  const row = await findBatch(env.DB, organizationId, batchId)
  if (row?.state === "pending") await wakeDelivery(env, { organizationId, destinationId: row.destination_id }, now)
  return { waitMs: null }
}

/** For a message that failed 100 times. A batch has its own wake-up; calls are sorted again, slowly. */
async function saveDeadLetter(message: CallMessage, env: Env, now: number): Promise<Verdict> {
  logError("a broadcast was given up by the queue", { kind: message.kind })
  if (message.kind === "batch") return wakeBatch(message, env, now)
  if (now - message.since < DISTRIBUTION_WINDOW_MS) await env.BROADCAST.send(message, toDelay(REQUEUE_AFTER_MS))
  return { waitMs: null }
}
