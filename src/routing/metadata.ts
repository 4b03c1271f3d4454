import type { Attempt } from "../formats/attempt.ts"
import type { GenerationDraft } from "../ledger/generation.ts"
import type { Target } from "./target.ts"
import type { PreparationReport, PipelineStage } from "../formats/pipeline-stage.ts"

/** What the metadata of a call is made of. */
export type RoutingFacts = {
  draft: Pick<GenerationDraft, "requestedModel">
  targets: readonly Target[]
  /** The target that answered; undefined where none did. */
  servingTarget: Target | undefined
  meta: { region: string | null; alias?: string }
  request: {
    preparation?: PreparationReport
    screening?: { stages: () => readonly PipelineStage[] }
    routing: { models?: readonly string[] | null | undefined }
  }
}

/** Routing metadata of a call, sent for `X-Service-Metadata: enabled` under both names that clients read. */
export function routingMetadata(call: RoutingFacts, attempts: readonly Attempt[]) {
  const { requestedModel } = call.draft
  const { servingTarget } = call
  const available = call.targets.map((target) => ({
    model: target.model.id,
    provider: target.provider.name,
    selected: target === servingTarget,
  }))
  const metadata = {
    attempt: attempts.length,
    requested: requestedModel,
    strategy: strategyOf(call),
    region: call.meta.region ?? "global",
    is_byok: servingTarget?.byok !== undefined,
    summary: servingTarget
      ? `${servingTarget.model.id} by ${servingTarget.provider.name}, attempt ${attempts.length} of ${available.length} possible`
      : `no provider answered in ${attempts.length} attempts`,
    endpoints: { total: available.length, available },
    attempts: attempts.map(({ model, provider, status }) => ({ model, provider, status: status ?? 0 })),
    pipeline: [...(call.request.preparation?.stages ?? []), ...(call.request.screening?.stages() ?? [])],
  }
  return { service_metadata: metadata, openrouter_metadata: metadata }
}

/** How the models to try were found; the names are the field's. */
function strategyOf({ draft, request, meta }: RoutingFacts): string {
  if (meta.alias !== undefined) return "alias"
  if (request.preparation?.strategy !== undefined) return request.preparation.strategy
  if (request.routing.models?.length) return "fallback"
  if (draft.requestedModel.startsWith("~")) return "latest"
  return draft.requestedModel.endsWith(":free") ? "free" : "direct"
}

/** The same, of a call that no endpoint could take. */
export function unroutable(
  requested: string,
  region: string | null,
  summary: string,
  pipeline: readonly PipelineStage[] = [],
) {
  const metadata = {
    attempt: 0,
    requested,
    strategy: "direct",
    region: region ?? "global",
    is_byok: false,
    summary,
    endpoints: { total: 0, available: [] },
    attempts: [],
    pipeline,
  }
  return { service_metadata: metadata, openrouter_metadata: metadata }
}
