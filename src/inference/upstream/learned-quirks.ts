import type { Provider, Quirks } from "../../providers/provider.ts"
import type { GenerationDraft } from "../../ledger/generation.ts"
import type { Target } from "../../routing/target.ts"
import { logWarning } from "../../support/log.ts"

/**
 * Quirks that providers stated in rejections. By organization: a message may quote a request, so that one organization
 * could change the requests of another. The adapted provider is kept as well, because the filter of its key is kept by
 * object.
 */
const learned = new Map<string, { quirks: Quirks; from?: Provider; to?: Provider }>()
const MAX_LEARNED = 1_000

type Draft = Pick<GenerationDraft, "id" | "organizationId" | "requestId">

/** The provider with the quirks of earlier calls. */
export function withLearned(provider: Provider, draft: Draft, target: Target): Provider {
  const known = learned.size > 0 ? learned.get(nameOf(draft, target)) : undefined
  if (!known) return provider
  if (known.from === provider && known.to) return known.to
  const adapted = { ...provider, quirks: { ...provider.quirks, ...known.quirks } }
  // A customer's key is opened for one call, and is not kept in memory.
  if (!target.byok) Object.assign(known, { from: provider, to: adapted })
  return adapted
}

/** Called when a request with these quirks was accepted. */
export function rememberQuirks(quirks: Quirks, draft: Draft, target: Target): void {
  const [oldest] = learned.keys()
  if (learned.size >= MAX_LEARNED && oldest !== undefined) learned.delete(oldest)
  learned.set(nameOf(draft, target), { quirks })
  const { provider, endpoint } = target
  logWarning("a provider rejected fields and accepted the call without them", {
    requestId: draft.requestId,
    generation: draft.id,
    provider: provider.slug,
    upstreamId: endpoint.upstreamId,
    quirks: Object.keys(quirks),
  })
}

function nameOf(draft: Draft, { provider, endpoint }: Target): string {
  return [draft.organizationId, provider.slug, provider.baseUrl, endpoint.upstreamId].join(" ")
}
