import { sha256Hex } from "../support/text/encoding.ts"
import { derivedId, derivedIdAt, uuidOf } from "../support/ids.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { Facts } from "./filter.ts"

/** A turn of an intern as it is exported, next to its calls. Instants are epoch milliseconds. Pure. */

export type TurnQuestion = {
  id: string
  /** `permission` or `elicitation`. */
  kind: string
  /** Operation of a permission, such as `shell`. */
  operation: string | null
  /** Kinds of options that a permission offers. */
  options: readonly string[]
  openedAt: number
  closedAt: number
  state: "answered" | "expired" | "cancelled"
  /** The kind of the chosen option, or the action on a form; null for none. Never the content of a form. */
  decision: string | null
  /** Content of the question, as in question events. */
  details: Readonly<Record<string, unknown>>
}

export type TurnUsageSum = { calls: number; totalTokens: number; costUsd: number | null }

export type TurnRecord = {
  /** `turn-` and an id that sorts by time. */
  id: string
  runId: string
  organizationId: string
  workspaceId: string
  internId: string
  session: string
  origin: string
  mode: string
  /** Model of its last message; null if the agent did not report it. */
  model: string | null
  startedAt: number
  endedAt: number
  /** Null for a turn that completed. */
  error: { reason: string; message: string } | null
  usage: TurnUsageSum | null
  questions: readonly TurnQuestion[]
}

/** A turn with fields of its intern at the time that it is stored. */
export type StoredTurn = TurnRecord & { keyHash: string; internName: string; host: string }

const PREFIX = "turn-"

export function turnIdOf(runId: string, endedAt: number): string {
  return `${PREFIX}${derivedIdAt(endedAt, "turn", runId)}`
}

/** Greater than the id of every turn that ended before `at`. */
export function turnIdBefore(at: number): string {
  return `${PREFIX}${derivedIdAt(at, "turn").slice(0, 13)}`
}

export function isTurnId(id: string): boolean {
  return id.startsWith(PREFIX)
}

const SPAN_HEX = 16

const spanIdOf = (text: string) => sha256Hex(text).slice(0, SPAN_HEX)

/** `trace` of the turn's calls, which links their spans to it. */
export function traceOfTurn({ id, session }: { id: string; session: string }) {
  return { sessionId: session, traceId: uuidOf(id), spanId: spanIdOf(`turn ${id}`) }
}

/** One turn as it is exported to a destination. `hasContent`: the text of questions may be sent. */
export type TurnEvent = { id: string; turn: StoredTurn; keyName: string | null; hasContent: boolean }

export function newTurnEvent(destinationId: string, turn: NamedTurn, hasContent: boolean): TurnEvent {
  return { id: derivedId("broadcast", destinationId, turn.turn.id), ...turn, hasContent }
}

/** A turn, and the name of the intern's key. */
export type NamedTurn = { turn: StoredTurn; keyName: string | null }

export function questionSpanId({ runId }: TurnRecord, { id }: TurnQuestion): string {
  return spanIdOf(`question ${runId} ${id}`)
}

export function outcomeOf({ error }: TurnRecord): string {
  return error?.reason ?? "completed"
}

/** Fields of a turn for the filter rules of a destination: those fields of calls that a turn has. */
export function factsOfTurn({ turn, keyName }: NamedTurn): Facts {
  const { usage } = turn
  return {
    model: turn.model,
    provider: null,
    session_id: turn.session,
    user_id: null,
    api_key_name: keyName,
    finish_reason: null,
    input: null,
    output: null,
    total_cost: usage?.costUsd ?? null,
    total_tokens: usage?.totalTokens ?? null,
    prompt_tokens: null,
    completion_tokens: null,
  }
}

type TurnFlags = { broadcast_generation_cost: number; broadcast_generation_identity: number }

/** Without tokens and cost: the rows of its calls have them, so that sums over a table count them once. */
export function toTurnRow({ id, turn, keyName, hasContent }: TurnEvent, flags: TurnFlags) {
  const { traceId, spanId } = traceOfTurn({ id: turn.runId, session: turn.session })
  const questions = turn.questions.map(({ details, openedAt, closedAt, ...question }) => ({
    ...question,
    opened_at: toTimestamp(openedAt),
    closed_at: toTimestamp(closedAt),
    ...(hasContent && { details }),
  }))
  const { calls, totalTokens, costUsd } = turn.usage ?? { calls: null, totalTokens: null, costUsd: null }
  return {
    event_id: id,
    generation_id: turn.id,
    request_id: turn.id,
    trace_id: traceId,
    span_id: spanId,
    parent_span_id: null,
    name: `invoke_agent ${turn.internName}`,
    started_at: toTimestamp(turn.startedAt),
    ended_at: toTimestamp(turn.endedAt),
    api_type: "agent",
    model: turn.model ?? "",
    requested_model: turn.model ?? "",
    region: "global",
    session_id: turn.session,
    streamed: false,
    status: turn.error === null ? 200 : 500,
    ending: outcomeOf(turn),
    error_type: turn.error?.reason ?? null,
    ...(flags.broadcast_generation_identity && {
      api_key_name: keyName,
      api_key_hash: turn.keyHash,
      workspace_id: turn.workspaceId,
      organization_id: turn.organizationId,
    }),
    metadata: JSON.stringify({
      intern_id: turn.internId,
      intern_name: turn.internName,
      host: turn.host,
      origin: turn.origin,
      approval_mode: turn.mode,
      calls,
      total_tokens: totalTokens,
      ...(flags.broadcast_generation_cost && { cost: costUsd }),
      questions,
    }),
  }
}
