import type { Env } from "../../config/env.ts"
import { logError } from "../../support/log.ts"
import { type BroadcastMessage, toDelay } from "../../config/messages.ts"
import { findBatch, updateBatch } from "./store.ts"
import { type Verdict, sortCalls } from "./sort.ts"
import { retryBatch } from "./batches.ts"

/** Dead-letter queues: their names end alike in every environment. */
const DEAD = /-dead$/
const AFTER_A_BUG_MS = 30_000
const AFTER_DEATH_MS = 3_600_000
/** What could not even be sorted for so long is let go of. */
const SORTED_FOR_MS = 4 * 24 * 3_600_000

/** Handles messages of the broadcast queue one by one, so that a failure does not block others. */
export async function consumeBroadcasts(batch: MessageBatch<BroadcastMessage>, env: Env): Promise<void> {
  const handle = DEAD.test(batch.queue) ? bury : take
  await Promise.all(
    batch.messages.map(async (message) => {
      try {
        const { waitMs } = await handle(message.body, env, Date.now())
        if (waitMs === null) message.ack()
        else message.retry(toDelay(waitMs))
      } catch (cause) {
        logError("a broadcast failed", { kind: message.body.kind, attempts: message.attempts }, cause)
        message.retry(toDelay(AFTER_A_BUG_MS))
      }
    }),
  )
}

function take(message: BroadcastMessage, env: Env, now: number): Promise<Verdict> {
  return message.kind === "calls" ? sortCalls(message, env, now) : retryBatch(message, env, now)
}

/** What failed a hundred times for a reason of our own: batches are given up, calls are tried again, slowly. */
async function bury(message: BroadcastMessage, env: Env, now: number): Promise<Verdict> {
  logError("a broadcast was given up by the queue", { kind: message.kind })
  if (message.kind === "batch") {
    const row = await findBatch(env.DB, message.organizationId, message.batchId)
    if (row) await updateBatch(env.DB, row, { ...row, state: "dead", due_at: now })
  } else if (now - message.since < SORTED_FOR_MS) {
    await env.BROADCAST.send(message, toDelay(AFTER_DEATH_MS))
  }
  return { waitMs: null }
}
