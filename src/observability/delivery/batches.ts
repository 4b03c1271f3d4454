import type { Env } from "../../config/env.ts"
import { logWarning } from "../../support/log.ts"
import { DAY_MS } from "../../support/time.ts"
import { newEvent } from "../event.ts"
import { findCallContentBatch, deleteCallContent } from "../call-content.ts"
import { deliver, type Outcome } from "./deliver.ts"
import { type BroadcastMessage, toDelay } from "../../config/messages.ts"
import { isDeadLetter, isRejection, DEAD_LETTER_DAYS, waitMs } from "./retry.ts"
import { note, type Verdict } from "./sort.ts"
import {
  type BatchRow,
  claimBatch,
  deleteBatch,
  findBatch,
  findReceiver,
  listCalled,
  listOverdue,
  pruneBatches,
  type Receiver,
  updateBatch,
} from "./store.ts"
import { parseStored } from "../../support/json.ts"

const DONE: Verdict = { waitMs: null }
/** Delay of a batch while its destination is disabled. */
const ASLEEP_MS = 3_600_000

/** A queue may round a delay. */
const EARLY_MS = 1_500
/** Lease of a batch: how long one consumer may try it. */
const IN_HAND_MS = 60_000

type Batch = Extract<BroadcastMessage, { kind: "batch" }>

/** Tries a batch again that waits for its destination, until it is taken or given up. */
export async function retryBatch({ organizationId, batchId }: Batch, env: Env, now: number): Promise<Verdict> {
  const row = await findBatch(env.DB, organizationId, batchId)
  if (row?.state !== "pending") return DONE
  const receiver = await findReceiver(env.DB, organizationId, row.destination_id)
  if (!receiver) return forget(row, env)
  if (receiver.isActive !== 1 && isDeadLetter(row, now)) return wait(row, row, { ms: 0, env, now })
  const restMs = receiver.isActive === 1 ? receiver.paused_until - now : ASLEEP_MS
  const rests = restMs > 0 && !isDeadLetter(row, now)
  const nextMs = rests ? restMs : IN_HAND_MS
  // A revived batch has two messages. The batch of this one is leased by the other, or will be retried by it.
  const isOurs = await claimBatch(env.DB, row, now + EARLY_MS, now + nextMs)
  if (rests || !isOurs) return { waitMs: isOurs ? nextMs : Math.max(row.due_at - now, IN_HAND_MS) }
  const outcome = await tryBatch(row, receiver, env, now)
  await note(receiver, outcome, env, now)
  if (outcome.isTaken) return forget(row, env)
  const rejections = row.rejections + (isRejection(outcome.status) ? 1 : 0)
  return wait(
    row,
    { attempts: row.attempts + 1, rejections },
    { ms: waitMs(receiver.failures + 1 + rejections, outcome.retryAfterMs), env, now },
  )
}

async function tryBatch(row: BatchRow, receiver: Receiver, env: Env, now: number): Promise<Outcome> {
  const called = await listCalled(env.DB, row.organization_id, parseStored(row.generation_ids))
  const text = await findCallContentBatch(env.FILES, row.id)
  const events = called.map(({ generation, keyName }) => {
    // If privacy mode was enabled later, content kept earlier is not sent.
    const result = receiver.privacy_mode === 1 ? null : (text[generation.id] ?? null)
    return newEvent(receiver.id, generation, keyName, result)
  })
  // The generations are past their retention: nothing is left to deliver.
  if (events.length === 0) return { isTaken: true, status: null, message: "", excerpt: "", retryAfterMs: 0 }
  return deliver(receiver, { id: row.id, events, env, now })
}

type Delay = {
  ms: number
  env: Env
  now: number
}

async function wait(
  row: BatchRow,
  { attempts, rejections }: Pick<BatchRow, "attempts" | "rejections">,
  { ms, env, now }: Delay,
): Promise<Verdict> {
  const isDead = isDeadLetter({ since: row.since, rejections }, now)
  const state = isDead ? "dead" : "pending"
  if (isDead) logWarning("calls were given up", { destination: row.destination_id, calls: row.calls, attempts })
  await updateBatch(env.DB, row, { state, attempts, rejections, due_at: isDead ? now : now + ms })
  return isDead ? DONE : { waitMs: ms }
}

async function forget(row: BatchRow, env: Env): Promise<Verdict> {
  await deleteBatch(env.DB, row)
  await deleteCallContent(env.FILES, [row.id])
  return DONE
}

/** A batch that is overdue by this much has lost its queue message. */
const LOST_AFTER_MS = 2 * 3_600_000
const MOST_A_RUN = 500

/** Queues batches without a message again, and deletes expired dead letters. */
export async function sweepBatches(env: Env, now: number): Promise<void> {
  for (const row of await listOverdue(env.DB, now - LOST_AFTER_MS, MOST_A_RUN)) {
    await env.BROADCAST.send({ kind: "batch", organizationId: row.organization_id, batchId: row.id }, toDelay(0))
  }
  await pruneBatches(env.DB, now - DEAD_LETTER_DAYS * DAY_MS)
}
