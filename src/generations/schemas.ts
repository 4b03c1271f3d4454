import * as z from "zod"
import { nanoToUsd } from "../money/money.ts"
import { toTimestamp } from "../support/time/time.ts"
import { appIdOf } from "../support/app-id.ts"
import type { Generation } from "../ledger/generation.ts"

const count = z.int().nullable()
const text = z.string().nullable()
const ms = z.number().nullable().meta({ description: "milliseconds" })

export const GenerationRecord = z
  .object({
    id: z.string(),
    upstream_id: text,
    request_id: text,
    total_cost: z.number().meta({ description: "USD charged" }),
    usage: z.number().meta({ description: "USD charged" }),
    upstream_inference_cost: z
      .number()
      .nullable()
      .meta({ description: "USD that the provider charged to a BYOK credential" }),
    cost_overrun: z
      .number()
      .nullable()
      .meta({ description: "USD of the provider's usage above the hold of the call: not charged" }),
    cache_discount: z.number().nullable(),
    created_at: z.iso.datetime(),
    model: z.string(),
    provider_name: text,
    api_type: text,
    app_id: count,
    origin: z.string(),
    http_referer: text,
    user_agent: text,
    session_id: text,
    external_user: text,
    streamed: z.boolean().nullable(),
    cancelled: z.boolean().nullable(),
    finish_reason: text,
    native_finish_reason: text,
    ending: z.string().meta({ description: "complete, cancelled, cut, stalled, timeout, error, refused or unsettled" }),
    status: z.int().meta({ description: "HTTP status that the client received, or would have received" }),
    tokens_prompt: count,
    tokens_completion: count,
    native_tokens_prompt: count,
    native_tokens_completion: count,
    native_tokens_completion_images: count,
    native_tokens_reasoning: count,
    native_tokens_cached: count,
    tokens_from: z.string().meta({ description: "upstream: the provider's count; estimate: what was delivered; none" }),
    num_media_prompt: count,
    num_input_audio_prompt: count,
    num_media_completion: count,
    num_search_results: count,
    num_fetches: count,
    web_search_engine: text,
    latency: ms,
    generation_time: ms,
    moderation_latency: ms,
    is_byok: z.boolean(),
    data_region: z.string(),
    router: text,
    preset_id: text,
    service_tier: text,
    workspace_id: text,
    provider_responses: z
      .array(
        z.object({
          provider_name: z.string(),
          model_permaslug: z.string(),
          status: count,
          latency: z.number(),
          is_byok: z.boolean(),
        }),
      )
      .nullable(),
  })
  .meta({ id: "Generation" })

export function toGenerationRecord(generation: Generation): z.infer<typeof GenerationRecord> {
  const { tokens } = generation
  const app = generation.appTitle?.trim() || generation.appUrl
  return {
    id: generation.id,
    upstream_id: generation.upstreamId,
    request_id: generation.requestId,
    total_cost: nanoToUsd(generation.costNano),
    usage: nanoToUsd(generation.costNano),
    upstream_inference_cost: generation.isByok ? nanoToUsd(generation.byokCostNano) : null,
    cost_overrun: generation.overrunNano === undefined ? null : nanoToUsd(generation.overrunNano),
    cache_discount: null,
    created_at: toTimestamp(generation.createdAt),
    model: generation.model,
    provider_name: generation.provider,
    api_type: generation.apiType,
    app_id: app === null ? null : appIdOf(app),
    origin: generation.appUrl ?? "",
    http_referer: generation.appUrl,
    user_agent: generation.userAgent,
    session_id: generation.sessionId,
    external_user: generation.externalUser ?? null,
    streamed: generation.streamed,
    cancelled: generation.ending === "cancelled",
    finish_reason: generation.finishReason,
    native_finish_reason: generation.nativeFinishReason ?? generation.finishReason,
    ending: generation.ending,
    status: generation.status,
    tokens_prompt: tokens.prompt,
    tokens_completion: tokens.completion,
    native_tokens_prompt: tokens.prompt,
    native_tokens_completion: tokens.completion,
    native_tokens_completion_images: null,
    native_tokens_reasoning: tokens.reasoning,
    native_tokens_cached: tokens.cached,
    tokens_from: generation.tokensFrom,
    num_media_prompt: null,
    num_input_audio_prompt: null,
    num_media_completion: null,
    num_search_results: null,
    num_fetches: null,
    web_search_engine: null,
    latency: generation.latencyMs,
    generation_time: generation.generationMs,
    moderation_latency: null,
    is_byok: generation.isByok,
    data_region: "global",
    router: generation.router ?? null,
    preset_id: generation.presetId ?? null,
    service_tier: generation.serviceTier,
    workspace_id: generation.workspaceId,
    provider_responses: generation.attempts.map((attempt) => ({
      provider_name: attempt.provider,
      model_permaslug: attempt.model,
      status: attempt.status,
      latency: attempt.latencyMs,
      is_byok: attempt.isByok ?? false,
    })),
  }
}

const status = z.int().nullable()

export const GenerationContent = z
  .object({
    input: z.object({ messages: z.array(z.unknown()) }),
    output: z.object({ completion: text, reasoning: text }),
    error: z
      .object({
        message: text,
        status,
        provider_name: text,
        raw: text,
        previous_errors: z.array(z.object({ code: z.int(), message: z.string(), provider_name: text, raw: text })),
      })
      .nullable(),
  })
  .meta({ id: "GenerationContent" })
