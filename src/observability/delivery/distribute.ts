import type { Env } from "../../config/env.ts"
import { logWarning } from "../../support/log.ts"
import { parseStored } from "../../support/text/json.ts"
import { derivedIdAt, timeOf } from "../../support/ids.ts"
import { matches, toHead } from "../coverage.ts"
import { toLists } from "../destination.ts"
import { type ExportEvent, factsOf, isTurn, newEvent, recordIdOf } from "../event.ts"
import { factsOfTurn, isTurnId, type NamedTurn, newTurnEvent } from "../turn.ts"
import { listTurns, recordDistributed } from "../turn-store.ts"
import { passes } from "../filter.ts"
import { findCallContent, saveCallContentBatch, deleteCallContent, type CallContent } from "../call-content.ts"
import { deliver, type Outcome } from "./deliver.ts"
import type { BroadcastMessage } from "../../config/messages.ts"
import { afterFailure, isRejection, MAX_RETRY_AFTER_MS, waitMs } from "./retry.ts"
import { wakeDelivery } from "./wake.ts"
import { confirmBroadcasts, unconfirmedBroadcasts } from "../../ledger/reporting/broadcasts.ts"
import {
  type ChargedCall,
  insertBatch,
  listCalled,
  listReceivers,
  recordFailure,
  recordSuccess,
  type ReceivingDestination,
} from "./store.ts"

/** Result of a queue message: done (null), or retried after these milliseconds. */
export type Verdict = { waitMs: number | null }
const DONE: Verdict = { waitMs: null }

/** Content is written shortly after the call is charged; until this age it may still arrive. */
const CONTENT_DELAY_MS = 30_000
const RECHECK_MS = 5_000
/** Interval of sorting while every destination of a workspace fails: one batch has the calls of all of this time. */
const OUTAGE_INTERVAL_MS = 5_000
/** Limit of content per delivery, in UTF-16 units: receivers accept a few megabytes. */
const MAX_CONTENT = 1_000_000

type Calls = Extract<BroadcastMessage, { kind: "calls" }>
export type ReceivedCall = ChargedCall & { content: CallContent | null }

/** Sorts calls to the destinations of their workspace and delivers them; failed deliveries are saved as batches. */
export async function distributeCalls(message: Calls, env: Env, now: number): Promise<Verdict> {
  const { organizationId, workspaceId, generationIds } = message
  const receivers = await listReceivers(env.DB, organizationId, workspaceId)
  const turnIds = generationIds.filter(isTurnId)
  const allCallIds = generationIds.filter((id) => !isTurnId(id))
  const unconfirmed = await unconfirmedBroadcasts(env, organizationId, allCallIds)
  // A queue delivers at least once: the content of calls that were sorted before is gone.
  const callIds = message.isKept ? allCallIds.filter((id) => unconfirmed.has(id)) : allCallIds
  if (callIds.length + turnIds.length === 0) return DONE
  const sorted = await distributeTo(receivers, { organizationId, turnIds, callIds, unconfirmed, env, now })
  if (!sorted) return { waitMs: RECHECK_MS }
  await recordDistributed(env.DB, organizationId, turnIds, now)
  const areAllFailing = receivers.length > 0 && receivers.every(({ failures }) => failures > 0)
  await confirmBroadcasts(env, organizationId, callIds, {
    workspaceId,
    pauseMs: areAllFailing ? OUTAGE_INTERVAL_MS : 0,
  })
  // Only now: calls that are published again are sorted with their content.
  await deleteCallContent(env.FILES, sorted.objects)
  return DONE
}

type Sorting = {
  organizationId: string
  turnIds: readonly string[]
  callIds: readonly string[]
  /** Calls that the ledger has published, with their content as far as the ledger has it. */
  unconfirmed: ReadonlyMap<string, string | null>
  env: Env
  now: number
}

/** `objects`: ids of calls whose content was read from R2. Undefined while content of a call is not stored yet. */
async function distributeTo(
  receivers: readonly ReceivingDestination[],
  sorting: Sorting,
): Promise<{ objects: readonly string[] } | undefined> {
  const { organizationId, turnIds, callIds, unconfirmed, env, now } = sorting
  const [only] = receivers
  if (!only) return { objects: callIds.filter((id) => unconfirmed.get(id) === null) }
  if (receivers.length === 1 && only.failures > 0 && only.filter_rules === null) {
    await keepUnsorted(only, sorting)
    return { objects: [] }
  }
  const calls = await listCalled(env.DB, organizationId, callIds)
  const turns = await listTurns(env.DB, organizationId, turnIds)
  const missing = callIds.length + turnIds.length - calls.length - turns.length
  if (missing > 0) logWarning("calls are not in the database", { missing, organizationId })
  const settled = (id: string) => parseContent(unconfirmed.get(id))
  const received = await Promise.all(calls.map((call) => receive(call, settled(call.generation.id), env)))
  if (received.some((call) => mayStillArrive(call, now))) return undefined
  await Promise.all(receivers.map((receiver) => broadcast(receiver, { received, turns, env, now })))
  const stored = received.filter(({ generation: { id }, content }) => content !== null && settled(id) === undefined)
  return { objects: stored.map(({ generation }) => generation.id) }
}

function parseContent(content: string | null | undefined): CallContent | undefined {
  return typeof content === "string" ? parseStored<CallContent>(content) : undefined
}

/** `content`: known content of the call; otherwise it is read from R2. */
export async function receive(call: ChargedCall, content: CallContent | undefined, env: Env): Promise<ReceivedCall> {
  const { generation } = call
  if (!generation.broadcast?.hasContent) return { ...call, content: null }
  return { ...call, content: content ?? (await findCallContent(env.FILES, generation.id)) }
}

export function mayStillArrive({ generation, content }: ReceivedCall, now: number): boolean {
  const { broadcast, ending, settledAt } = generation
  return (
    content === null && broadcast?.hasContent === true && ending !== "unsettled" && now - settledAt < CONTENT_DELAY_MS
  )
}

type Sorted = { received: readonly ReceivedCall[]; turns: readonly NamedTurn[]; env: Env; now: number }

async function broadcast(receiver: ReceivingDestination, { received, turns, env, now }: Sorted): Promise<void> {
  const matching = [...eventsFor(receiver, received), ...turnEventsFor(receiver, turns)]
  // While a destination fails, only its Durable Object delivers to it.
  let isAway = receiver.failures > 0
  for (const events of splitIntoParts(matching)) {
    const id = idOf(receiver, events)
    const outcome = isAway ? undefined : await deliver(receiver, { id, events, env, now })
    if (outcome) await note(receiver, outcome, env, now)
    if (outcome?.isTaken) continue
    isAway ||= !isRejection(outcome?.status ?? null)
    await keep(receiver, { id, events, outcome, env, now })
  }
}

/** Events of these calls for a destination, with the content that may be exported to it. Pure. */
export function eventsFor(receiver: ReceivingDestination, received: readonly ReceivedCall[]): ExportEvent[] {
  const head = toHead(receiver)
  const { filter_rules: rules } = toLists(receiver)
  return received.flatMap(({ generation, keyName, content }) => {
    const call = { ...generation, region: generation.broadcast?.region ?? "global" }
    if (!matches(head, call) || !passes(rules, factsOf({ generation, keyName, content }))) return []
    return [newEvent(receiver.id, generation, keyName, receiver.privacy_mode === 1 ? null : content)]
  })
}

/** Turns for a destination. Ramp sums up spend and gets none: the calls of the turn have the cost. Pure. */
export function turnEventsFor(receiver: ReceivingDestination, turns: readonly NamedTurn[]): ExportEvent[] {
  if (receiver.type === "ramp") return []
  const head = toHead(receiver)
  const { filter_rules: rules } = toLists(receiver)
  return turns.flatMap((turnEvent) => {
    const { id, keyHash, session: sessionId } = turnEvent.turn
    if (!matches(head, { id, keyHash, sessionId, region: "global" }) || !passes(rules, factsOfTurn(turnEvent)))
      return []
    return [newTurnEvent(receiver.id, turnEvent, receiver.privacy_mode === 0)]
  })
}

/** Deterministic, in case the same calls are sorted twice. */
export function idOf({ id }: ReceivingDestination, events: readonly ExportEvent[]): string {
  const ids = events.map(recordIdOf)
  return derivedIdAt(timeOf(ids[0] ?? ""), "delivery", id, ...ids)
}

export function splitIntoParts(events: readonly ExportEvent[]): ExportEvent[][] {
  const parts: ExportEvent[][] = []
  let text = 0
  for (const event of events) {
    const content = isTurn(event) ? event.turn.questions : event.content
    const size = content ? JSON.stringify(content).length : 0
    const part = parts.at(-1)
    if (!part || text + size > MAX_CONTENT) {
      parts.push([event])
      text = size
    } else {
      part.push(event)
      text += size
    }
  }
  return parts
}

/** A success is recorded at this interval, not for every delivery. */
const RECENT_SUCCESS_MS = 5_000

/** Records the result of a delivery for users, and the first failure for the breaker. */
async function note(receiver: ReceivingDestination, outcome: Outcome, env: Env, now: number): Promise<void> {
  if (outcome.isTaken) {
    const isKnown = now - (receiver.last_success_at ?? 0) < RECENT_SUCCESS_MS
    return isKnown ? undefined : recordSuccess(env.DB, receiver, now)
  }
  const closed = { failures: 0, pausedUntil: 0 }
  const breaker = isRejection(outcome.status) ? closed : afterFailure(closed, now, outcome.retryAfterMs)
  await recordFailure(env.DB, receiver, { message: outcome.message, breaker, now })
}

type KeptBatch = {
  id: string
  events: readonly ExportEvent[]
  outcome: Outcome | undefined
  env: Env
  now: number
}

/** Saves a batch that was not accepted. The content is saved first, so that no batch is without it. */
async function keep(receiver: ReceivingDestination, { id, events, outcome, env, now }: KeptBatch): Promise<void> {
  const contents = events.flatMap((event) =>
    !isTurn(event) && event.content ? [[event.generation.id, JSON.stringify(event.content)] as const] : [],
  )
  await saveCallContentBatch(env.FILES, id, new Map(contents))
  const ids = events.map(recordIdOf)
  await addToBacklog(receiver, { id, ids, outcome, isSorted: true }, env, now)
}

/** For the only destination of a workspace: calls are read when they are delivered, not while they are pending. */
async function keepUnsorted(
  receiver: ReceivingDestination,
  { callIds, turnIds, unconfirmed, env, now }: Sorting,
): Promise<void> {
  const ids = [...callIds, ...turnIds]
  const id = derivedIdAt(timeOf(ids[0] ?? ""), "unsorted", receiver.id, ...ids)
  const unconfirmedContents = callIds.flatMap((one) => {
    const content = unconfirmed.get(one)
    return content ? [[one, content] as const] : []
  })
  await saveCallContentBatch(env.FILES, id, new Map(unconfirmedContents))
  await addToBacklog(receiver, { id, ids, outcome: undefined, isSorted: false }, env, now)
}

type Waiting = { id: string; ids: readonly string[]; outcome: Outcome | undefined; isSorted: boolean }

async function addToBacklog(
  receiver: ReceivingDestination,
  { id, ids, outcome, isSorted }: Waiting,
  env: Env,
  now: number,
): Promise<void> {
  const { organization_id: organizationId, workspace_id: workspaceId } = receiver
  const dueAt = outcome ? now + Math.max(waitMs(1), Math.min(outcome.retryAfterMs, MAX_RETRY_AFTER_MS)) : now
  await insertBatch(env.DB, {
    id,
    organization_id: organizationId,
    workspace_id: workspaceId,
    destination_id: receiver.id,
    generation_ids: JSON.stringify(ids),
    calls: ids.length,
    state: "pending",
    attempts: outcome ? 1 : 0,
    rejections: outcome && isRejection(outcome.status) ? 1 : 0,
    since: now,
    due_at: dueAt,
    is_sorted: isSorted ? 1 : 0,
  })
  await wakeDelivery(env, { organizationId, destinationId: receiver.id }, Math.max(dueAt, receiver.paused_until))
}
