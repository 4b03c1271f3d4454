import type { GuardrailRule } from "../errors/errors.ts"
import type { PipelineStage } from "../formats/pipeline-stage.ts"
import { listOf } from "../support/text/json.ts"
import type { AppliedGuardrail, AppliedGuardrails } from "./applied.ts"
import { routeFilters } from "./route-filters.ts"
import { DONE, STRENGTH } from "./content/actions.ts"

/**
 * One stage for each guardrail that affects a call: its content filters, if they ran, and its rules about routes,
 * budgets and rates. `content`: the stages of content filters; `rejectedBy`: the rules that rejected the call.
 */
export function guardrailStages(
  guardrails: AppliedGuardrails | null,
  content: readonly PipelineStage[],
  rejectedBy: readonly GuardrailRule[] = [],
): PipelineStage[] {
  return (guardrails?.list ?? []).flatMap((guardrail) => {
    const filtered = content.find((stage) => stage.guardrail_id === guardrail.id)
    const engines = enginesOf(guardrail)
    if (engines.length === 0) return filtered ?? []
    const stage = filtered ?? emptyStage(guardrail)
    const fields = rejectedBy.flatMap(({ guardrailId, field }) => (guardrailId === guardrail.id ? [field] : []))
    const { data = {}, summary } = stage
    const both = { ...data, engines: [...listOf(data["engines"]), ...engines] }
    if (fields.length === 0) return { ...stage, data: both }
    const patterns = [...new Set([...listOf(data["patterns"]).map(String), ...fields])]
    const isFirst = data["detected"] !== true
    return {
      ...stage,
      summary: `${isFirst ? "" : `${summary}; `}blocked: ${fields.join(", ")}`,
      data: { ...both, action: "block", detected: true, patterns },
    }
  })
}

/** Adds findings of later screenings of the same call to the stages of content filters. */
export function withFindings(stages: readonly PipelineStage[], further: readonly PipelineStage[]): PipelineStage[] {
  const found = further.filter(({ data }) => data?.["detected"] === true)
  return stages.map((stage) =>
    found.filter((other) => other.guardrail_id === stage.guardrail_id).reduce(withFinding, stage),
  )
}

function withFinding(stage: PipelineStage, { data: found }: PipelineStage): PipelineStage {
  const { data } = stage
  const actions = [data?.["action"], found?.["action"]]
  const action = STRENGTH.find((one) => actions.includes(one)) ?? "none"
  const patterns = [...new Set([...listOf(data?.["patterns"]), ...listOf(found?.["patterns"])])]
  const summary = `${DONE[action]}: ${patterns.join(", ")}`
  return { ...stage, summary, data: { ...data, action, detected: true, patterns } }
}

/** The rules of a guardrail other than content filters. */
function enginesOf(guardrail: AppliedGuardrail): string[] {
  return [
    ...(routeFilters(guardrail).length > 0 ? ["route"] : []),
    ...(guardrail.limits.length > 0 ? ["budget"] : []),
    ...(guardrail.rates.length > 0 ? ["rate_limit"] : []),
  ]
}

function emptyStage({ id, name, scope }: AppliedGuardrail): PipelineStage {
  return {
    type: "guardrail",
    name,
    guardrail_id: id,
    guardrail_scope: scope,
    summary: "no rule refuses the call",
    data: { action: "none", detected: false, engines: [], patterns: [] },
  }
}
