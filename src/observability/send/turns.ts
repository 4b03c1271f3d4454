import { traceOfTurn, outcomeOf, questionSpanId, type TurnEvent, type TurnQuestion } from "../turn.ts"
import type { Flags } from "../event.ts"
import type { Attributes } from "./attributes.ts"

/** A span that is not a call: a turn of an intern, or a question in it. */
export type TurnSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startedAt: number
  endedAt: number
  attributes: Attributes
  error: string | null
}

export const AGENT_PROVIDER = "edge-model-gateway"

/**
 * The turn by the conventions of agent spans, with its questions as children. Tokens and cost have gateway-specific
 * names: the spans of the calls use the standard names, and receivers would count them twice.
 */
export function turnSpansOf(event: TurnEvent, flags: Flags, more: Attributes = {}): TurnSpan[] {
  const { turn } = event
  const { traceId, spanId } = traceOfTurn({ id: turn.runId, session: turn.session })
  const { calls, totalTokens, costUsd } = turn.usage ?? { calls: null, totalTokens: null, costUsd: null }
  const turnSpan: TurnSpan = {
    traceId,
    spanId,
    name: `invoke_agent ${turn.internName}`,
    startedAt: turn.startedAt,
    endedAt: Math.max(turn.startedAt, turn.endedAt),
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": AGENT_PROVIDER,
      "gen_ai.agent.id": turn.internId,
      "gen_ai.agent.name": turn.internName,
      "gen_ai.conversation.id": turn.session,
      "gen_ai.request.model": turn.model,
      "session.id": turn.session,
      "error.type": turn.error?.reason ?? null,
      "gateway.event_id": event.id,
      "gateway.turn.id": turn.id,
      "gateway.turn.outcome": outcomeOf(turn),
      "gateway.turn.origin": turn.origin,
      "gateway.turn.approval_mode": turn.mode,
      "gateway.turn.host": turn.host,
      "gateway.turn.questions": turn.questions.length,
      "gateway.turn.calls": calls,
      "gateway.turn.total_tokens": totalTokens,
      ...(flags.broadcast_generation_cost && { "gateway.turn.cost": costUsd }),
      ...(flags.broadcast_generation_identity && {
        "gateway.identity.api_key_name": event.keyName,
        "gateway.identity.api_key_hash": turn.keyHash,
        "gateway.identity.workspace_id": turn.workspaceId,
        "gateway.identity.organization_id": turn.organizationId,
      }),
      ...more,
    },
    error: turn.error?.message ?? null,
  }
  return [turnSpan, ...turn.questions.map((question) => questionSpan(event, question, { traceId, spanId }))]
}

function questionSpan(
  { turn, hasContent }: TurnEvent,
  question: TurnQuestion,
  { traceId, spanId }: Pick<TurnSpan, "traceId" | "spanId">,
): TurnSpan {
  const { id, kind, operation, options, openedAt, closedAt, state, decision, details } = question
  return {
    traceId,
    spanId: questionSpanId(turn, question),
    parentSpanId: spanId,
    name: `question ${operation ?? kind}`,
    startedAt: openedAt,
    endedAt: Math.max(openedAt, closedAt),
    attributes: {
      "gen_ai.agent.id": turn.internId,
      "gen_ai.conversation.id": turn.session,
      "error.type": state === "expired" ? "question_expired" : null,
      "gateway.question.id": id,
      "gateway.question.kind": kind,
      "gateway.question.operation": operation,
      "gateway.question.options": options,
      "gateway.question.state": state,
      "gateway.question.decision": decision,
      ...(hasContent && { "gateway.question.details": JSON.stringify(details) }),
    },
    error: state === "expired" ? "No answer arrived in time." : null,
  }
}
