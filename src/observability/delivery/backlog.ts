import type { Env } from "../../config/env.ts"
import { logWarning } from "../../support/log.ts"
import { parseStored } from "../../support/text/json.ts"
import { DAY_MS } from "../../support/time/time.ts"
import { confirmBroadcasts } from "../../ledger/reporting/broadcasts.ts"
import { CALL_CONTENT_DAYS, deleteCallContent, findCallContentBatch } from "../call-content.ts"
import { newEvent } from "../event.ts"
import { isTurnId, newTurnEvent, turnIdBefore } from "../turn.ts"
import { listTurns, listUnsorted, pruneTurns, toMessage } from "../turn-store.ts"
import { deliver, type Outcome } from "./deliver.ts"
import { type BacklogPorts, drain, expireOnly } from "./drain.ts"
import { DEAD_LETTER_DAYS } from "./retry.ts"
import { eventsFor, idOf, splitIntoParts, mayStillArrive, receive, turnEventsFor } from "./distribute.ts"
import {
  expireBatches,
  findNextDueAt,
  findReceiver,
  listCalled,
  listDue,
  listOverdue,
  pruneBatches,
  type ReceivingDestination,
  savePage,
  takeBatches,
} from "./store.ts"
import type { BatchRow } from "../table.ts"
import { type DeliveryIdentity, wakeDelivery } from "./wake.ts"

const TAKEN: Outcome = { isTaken: true, status: null, message: "", excerpt: "", retryAfterMs: 0 }
const MAX_REMOVED = 500

/** One wake-up of a destination. Returns when the next is due; null if nothing is pending. */
export async function drainDestination(
  destination: DeliveryIdentity,
  env: Env,
  now: () => number = Date.now,
): Promise<number | null> {
  const receiver = await findReceiver(env.DB, destination.organizationId, destination.destinationId)
  if (!receiver) return removeBacklog(destination, env, now())
  const ports = portsOf(destination, receiver, env, now)
  if (receiver.isActive !== 1) return expireOnly(ports)
  return drain({ failures: receiver.failures, pausedUntil: receiver.paused_until }, ports)
}

function portsOf(
  destination: DeliveryIdentity,
  receiver: ReceivingDestination,
  env: Env,
  now: () => number,
): BacklogPorts {
  return {
    now,
    listDue: (at, limit) => listDue(env.DB, destination, at, limit),
    nextDueAt: () => findNextDueAt(env.DB, destination),
    attempt: (row) => attempt(row, receiver, env, now()),
    save: async (page) => {
      await savePage(env.DB, destination, page, now())
      logDeadLetters(destination, page.retries.filter(({ state }) => state === "dead").length)
      // Before their long content is deleted: calls whose sorting was interrupted are sorted again until they are
      // confirmed.
      const unsorted = page.done.filter((row) => row.is_sorted === 0)
      await confirmBroadcasts(env, destination.organizationId, unsorted.flatMap(callIdsOf))
      await deleteCallContent(env.FILES, page.done.flatMap(contentIdsOf))
    },
    expire: async (before, limit) =>
      logDeadLetters(destination, await expireBatches(env.DB, destination, { before, limit, now: now() })),
  }
}

function logDeadLetters({ destinationId }: DeliveryIdentity, batches: number): void {
  if (batches > 0) logWarning("batches of calls became dead letters", { destination: destinationId, batches })
}

const callIdsOf = (row: BatchRow) => parseStored<string[]>(row.generation_ids)

/** Content of a batch is stored under its id; long content of unsorted calls under their ids. */
export function contentIdsOf(row: BatchRow): string[] {
  return row.is_sorted === 1 ? [row.id] : [row.id, ...callIdsOf(row)]
}

async function attempt(
  row: BatchRow,
  receiver: ReceivingDestination,
  env: Env,
  now: number,
): Promise<Outcome | undefined> {
  const ids = callIdsOf(row)
  const exported = await listCalled(env.DB, row.organization_id, ids)
  const turns = await listTurns(env.DB, row.organization_id, ids.filter(isTurnId))
  const isRead = row.is_sorted === 0 || receiver.privacy_mode === 0
  const content = isRead ? await findCallContentBatch(env.FILES, row.id) : {}
  if (row.is_sorted === 1) {
    const calls = exported.map(({ generation, keyName }) =>
      newEvent(receiver.id, generation, keyName, content[generation.id] ?? null),
    )
    const events = [...calls, ...turns.map((turn) => newTurnEvent(receiver.id, turn, receiver.privacy_mode === 0))]
    // The records are past their retention: there is nothing to deliver.
    return events.length === 0 ? TAKEN : deliver(receiver, { id: row.id, events, env, now })
  }
  const received = await Promise.all(exported.map((call) => receive(call, content[call.generation.id], env)))
  if (received.some((call) => mayStillArrive(call, now))) return undefined
  const parts = splitIntoParts([...eventsFor(receiver, received), ...turnEventsFor(receiver, turns)])
  for (const events of parts) {
    const outcome = await deliver(receiver, { id: idOf(receiver, events), events, env, now })
    if (!outcome.isTaken) return outcome
  }
  return TAKEN
}

/** For a deleted destination. */
async function removeBacklog(destination: DeliveryIdentity, env: Env, now: number): Promise<number | null> {
  const rows = await takeBatches(env.DB, destination, MAX_REMOVED)
  for (const row of rows) await deleteCallContent(env.FILES, contentIdsOf(row))
  return rows.length < MAX_REMOVED ? null : now
}

/** A batch that is overdue by this much has lost its wake-up. */
const LOST_AFTER_MS = 2 * 3_600_000
const MAX_PER_RUN = 500

/** An unsorted turn that is older than this has lost its queue message. */
const UNDISTRIBUTED_AFTER_MS = 15 * 60_000

/** Wakes destinations whose backlog is overdue, publishes lost turns again, and deletes what is past its retention. */
export async function sweepBatches(env: Env, now: number): Promise<void> {
  for (const destination of await listOverdue(env.DB, now - LOST_AFTER_MS, MAX_PER_RUN)) {
    await wakeDelivery(env, destination, now)
  }
  for (const { id, ...workspace } of await listUnsorted(
    env.DB,
    turnIdBefore(now - UNDISTRIBUTED_AFTER_MS),
    MAX_PER_RUN,
  )) {
    await env.BROADCAST.send(toMessage(workspace, id, now))
  }
  await pruneBatches(env.DB, now - DEAD_LETTER_DAYS * DAY_MS)
  await pruneTurns(env.DB, turnIdBefore(now - CALL_CONTENT_DAYS * DAY_MS))
}
