import type { CallState } from "./call.ts"
import type { Answering } from "./dialect.ts"

/** How a call was routed, as `X-Service-Metadata: enabled` asks for it; under both names that clients read. */
export function routingMetadata(call: CallState, { target: selected, attempts }: Answering) {
  const { requestedModel } = call.draft
  const available = call.targets.map((target) => ({
    model: target.model.id,
    provider: target.provider.name,
    selected: target === selected,
  }))
  const metadata = {
    attempt: attempts.length,
    requested: requestedModel,
    strategy: call.intake.routing.models?.length ? "fallback" : "direct",
    region: "global",
    is_byok: false,
    summary: `${selected.model.id} by ${selected.provider.name}, attempt ${attempts.length} of ${available.length} possible`,
    endpoints: { total: available.length, available },
    attempts: attempts.map(({ model, provider, status }) => ({ model, provider, status: status ?? 0 })),
    pipeline: [],
  }
  return { service_metadata: metadata, openrouter_metadata: metadata }
}
