import type { Attempt } from "../formats/attempt.ts"
import type { GenerationDraft } from "../ledger/generation.ts"
import type { Target } from "./target.ts"
import type { Preparation, Stage } from "../formats/pipeline-stage.ts"

/** What the metadata of a call is made of. */
export type RoutingFacts = {
  draft: Pick<GenerationDraft, "requestedModel">
  targets: readonly Target[]
  /** The target that answered; undefined where none did. */
  answering: Target | undefined
  arrival: { region: string | null }
  intake: {
    preparation?: Preparation
    screening?: { stages: () => readonly Stage[] }
    routing: { models?: readonly string[] | null | undefined }
  }
}

/** How a call was routed, as `X-Service-Metadata: enabled` asks for it; under both names that clients read. */
export function routingMetadata(call: RoutingFacts, attempts: readonly Attempt[]) {
  const { requestedModel } = call.draft
  const { answering } = call
  const available = call.targets.map((target) => ({
    model: target.model.id,
    provider: target.provider.name,
    selected: target === answering,
  }))
  const metadata = {
    attempt: attempts.length,
    requested: requestedModel,
    strategy: strategyOf(call),
    region: call.arrival.region ?? "global",
    is_byok: answering?.own !== undefined,
    summary: answering
      ? `${answering.model.id} by ${answering.provider.name}, attempt ${attempts.length} of ${available.length} possible`
      : `no provider answered in ${attempts.length} attempts`,
    endpoints: { total: available.length, available },
    attempts: attempts.map(({ model, provider, status }) => ({ model, provider, status: status ?? 0 })),
    pipeline: [...(call.intake.preparation?.stages ?? []), ...(call.intake.screening?.stages() ?? [])],
  }
  return { service_metadata: metadata, openrouter_metadata: metadata }
}

/** How the models to try were found; the names are the field's. */
function strategyOf({ draft, intake }: RoutingFacts): string {
  if (intake.preparation?.strategy !== undefined) return intake.preparation.strategy
  if (intake.routing.models?.length) return "fallback"
  if (draft.requestedModel.startsWith("~")) return "latest"
  return draft.requestedModel.endsWith(":free") ? "free" : "direct"
}

/** The same, of a call that no endpoint could take. */
export function unroutable(requested: string, region: string | null, summary: string, pipeline: readonly Stage[] = []) {
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
