import type { Attempt } from "../formats/attempt.ts"
import type { GenerationDraft } from "../ledger/generation.ts"
import { hasVariant } from "./names.ts"
import type { Target } from "./target.ts"
import type { PreparationReport, PipelineStage } from "../formats/pipeline-stage.ts"

/** Input of the routing metadata of a call. */
export type RoutingFacts = {
  draft: Pick<GenerationDraft, "requestedModel">
  targets: readonly Target[]
  /** The target that served the call; undefined if none did. */
  servingTarget: Target | undefined
  meta: { region: string | null; alias?: string }
  stages: () => readonly PipelineStage[]
  request: {
    preparation?: PreparationReport
    routing: { models?: readonly string[] | null | undefined }
  }
}

/** Routing metadata of a call, sent for `X-Service-Metadata: enabled` under both names that clients read. */
export function routingMetadata(call: RoutingFacts, attempts: readonly Attempt[]) {
  const { requestedModel } = call.draft
  const { servingTarget } = call
  const metadata = {
    attempt: attempts.length,
    requested: requestedModel,
    strategy: strategyOf(call),
    region: call.meta.region ?? "global",
    is_byok: servingTarget?.byok !== undefined,
    summary: servingTarget
      ? `${servingTarget.model.id} by ${servingTarget.provider.name}, attempt ${attempts.length} of ${call.targets.length} possible`
      : `no provider responded in ${attempts.length} attempts`,
    endpoints: endpointsOf(call.targets, servingTarget),
    attempts: attempts.map(({ model, provider, status }) => ({ model, provider, status: status ?? 0 })),
    pipeline: call.stages(),
  }
  return { service_metadata: metadata, openrouter_metadata: metadata }
}

function endpointsOf(targets: readonly Target[], servingTarget: Target | undefined) {
  const available = targets.map((target) => ({
    model: target.model.id,
    provider: target.provider.name,
    selected: target === servingTarget,
  }))
  return { total: available.length, available }
}

/** How the models were selected, by the usual names. */
function strategyOf({ draft, request, meta }: RoutingFacts): string {
  if (meta.alias !== undefined) return "alias"
  if (request.preparation?.strategy !== undefined) return request.preparation.strategy
  if (request.routing.models?.length) return "fallback"
  if (draft.requestedModel.startsWith("~")) return "latest"
  return hasVariant(draft.requestedModel, "free") ? "free" : "direct"
}

type Rejection = {
  summary: string
  pipeline: readonly PipelineStage[]
  /** The endpoints that could have served the call. */
  targets?: readonly Target[]
}

/** Routing metadata of a call that was rejected before dispatch. */
export function unroutableFields(
  requested: string,
  region: string | null,
  { summary, pipeline, targets = [] }: Rejection,
) {
  const metadata = {
    attempt: 0,
    requested,
    strategy: "direct",
    region: region ?? "global",
    is_byok: false,
    summary,
    endpoints: endpointsOf(targets, undefined),
    attempts: [],
    pipeline,
  }
  return { service_metadata: metadata, openrouter_metadata: metadata }
}
