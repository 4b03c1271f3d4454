import type { UpstreamRequest } from "../../formats/upstream.ts"
import type { Capture } from "../../response-cache/capture.ts"
import type { CacheKey } from "../../response-cache/store.ts"
import type { Target } from "../../routing/target.ts"
import { logError } from "../../support/log.ts"
import type { Ending, GenerationDraft } from "../../ledger/generation.ts"
import type { CallContext } from "../inference-request.ts"

const FINISHED: readonly (string | null)[] = ["stop", "length", "tool_calls", "function_call"]

/** Cache key of an upstream request; undefined if the request is not cached. */
export function cacheKeyOf(
  call: CallContext,
  target: Target,
  { path, headers, body, bytes }: UpstreamRequest,
): CacheKey | undefined {
  const { meta, deps, draft, request } = call
  if (!meta.cache || !deps.responses || bytes) return undefined
  const isText = request.apiType === "completions" || request.apiType === "embeddings"
  const hasTools = Array.isArray(body["tools"]) && body["tools"].length > 0
  if (!isText || (hasTools && !meta.cache.includesTools)) return undefined
  // As under a guardrail that enforces it.
  if (request.routing.provider?.zdr === true) return undefined
  const { organizationId, workspaceId } = draft
  const provider = target.byok ? `${target.provider.slug} ${target.byok.id}` : target.provider.slug
  return { organizationId, workspaceId, scope: meta.cache.scope, provider, path, headers, body }
}

/** A stored response, shaped like a fresh upstream response; undefined on a cache miss or an R2 error. */
export async function findCached({ meta, deps, draft }: CallContext, key: CacheKey): Promise<Response | undefined> {
  if (meta.cache?.isRefresh) return undefined
  try {
    const found = await deps.responses?.find(key, Date.now())
    return found && new Response(found.body, { headers: { "content-type": found.contentType } })
  } catch (cause) {
    logError("response cache could not be read", fieldsOf(draft), cause)
    return undefined
  }
}

/** A response that is being copied while it is relayed, and the key to store it under. */
export type Pending = { capture: Capture; key: CacheKey }

/** Stores a response that completed without an error; discards any other. */
export function storeCached(
  { meta, deps, draft, meter }: CallContext,
  pending: Pending,
  { ending, error }: { ending: Ending; error?: unknown },
): void {
  const { capture, key } = pending
  const { cache } = meta
  const isFinished = draft.apiType === "embeddings" || FINISHED.includes(meter.finishReason)
  if (ending !== "complete" || error || !isFinished || !cache) return capture.drop()
  const { contentType } = capture
  const store = async () => {
    const bytes = await capture.bytes
    const expiresAt = Date.now() + cache.ttlSeconds * 1_000
    if (bytes) await deps.responses?.put(key, bytes, { contentType, expiresAt })
  }
  deps.waitUntil(
    store().catch((cause: unknown) => logError("response was not stored in the cache", fieldsOf(draft), cause)),
  )
}

function fieldsOf({ id, requestId }: GenerationDraft) {
  return { requestId, generation: id }
}
