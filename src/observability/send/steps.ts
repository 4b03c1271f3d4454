import type { GuardrailFinding, ToolRun } from "../../ledger/generation.ts"
import { sha256Hex } from "../../support/text/encoding.ts"
import { type CallEvent, timesOf, traceOf } from "../event.ts"
import type { Attributes } from "./attributes.ts"
import { toProviderName } from "./conventions.ts"

/**
 * A part of a call, as a child span: an attempt at a provider, or a guardrail with a finding. Or a run of a server tool
 * before the call, as a sibling span.
 */
export type Step = {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  isUpstream: boolean
  startedAt: number
  endedAt: number
  attributes: Attributes
  error: string | null
}

const SPAN_HEX = 16

/** Attempts are exported only if there is more than one: otherwise the span of the call has all of it. */
export function stepsOf(event: CallEvent): Step[] {
  const { attempts, guardrails = [] } = event.generation
  const findings = guardrails.map((finding, at) => guardrailStep(event, finding, at))
  const runs = (event.generation.broadcast?.toolRuns ?? []).map((run, at) => toolStep(event, run, at))
  return [...runs, ...findings, ...(attempts.length > 1 ? attemptSteps(event) : [])]
}

function idsOf(event: CallEvent, step: string): Pick<Step, "traceId" | "spanId" | "parentSpanId"> {
  const { traceId, spanId } = traceOf(event)
  const stepId = sha256Hex(`${event.generation.id} ${step}`).slice(0, SPAN_HEX)
  return { traceId, spanId: stepId, parentSpanId: spanId }
}

/** One after the other from the start of the call. The last one lasts as long as the call. */
function attemptSteps(event: CallEvent): Step[] {
  const { startedAt, endedAt } = timesOf(event)
  const { attempts } = event.generation
  let at = startedAt
  return attempts.map(({ provider, model, status, latencyMs, isByok = false, keyNumber, error }, index) => {
    const start = Math.min(at, endedAt)
    at = index === attempts.length - 1 ? endedAt : Math.min(endedAt, start + latencyMs)
    const errorType = error?.code ?? (status === null ? "no_response" : status === 200 ? null : String(status))
    return {
      ...idsOf(event, `attempt ${index}`),
      name: `attempt ${provider}`,
      isUpstream: true,
      startedAt: start,
      endedAt: at,
      attributes: {
        "gen_ai.provider.name": toProviderName(provider),
        "gen_ai.request.model": model,
        "http.response.status_code": status,
        "error.type": errorType,
        "gateway.attempt.number": index + 1,
        "gateway.attempt.latency_ms": latencyMs,
        "gateway.attempt.is_byok": isByok,
        ...(keyNumber !== undefined && { "gateway.attempt.key_number": keyNumber }),
      },
      error: errorType === null ? null : (error?.message ?? errorType),
    }
  })
}

function toolStep(event: CallEvent, { name, startedAt, durationMs, isError }: ToolRun, at: number): Step {
  const ids = idsOf(event, `tool ${at}`)
  return {
    ...ids,
    parentSpanId: traceOf(event).parentSpanId ?? ids.parentSpanId,
    name: `execute_tool ${name}`,
    isUpstream: false,
    startedAt,
    endedAt: startedAt + durationMs,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.type": "extension",
      ...(isError && { "error.type": "tool_error" }),
    },
    error: isError ? "The tool returned an error." : null,
  }
}

function guardrailStep(event: CallEvent, finding: GuardrailFinding, at: number): Step {
  const { startedAt } = timesOf(event)
  const { id, name, scope, action, patterns } = finding
  return {
    ...idsOf(event, `guardrail ${at}`),
    name: `guardrail ${name}`,
    isUpstream: false,
    startedAt,
    endedAt: startedAt,
    attributes: {
      "gateway.guardrail.id": id,
      "gateway.guardrail.name": name,
      "gateway.guardrail.scope": scope,
      "gateway.guardrail.action": action,
      "gateway.guardrail.patterns": patterns,
    },
    error: null,
  }
}
