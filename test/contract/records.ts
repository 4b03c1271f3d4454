import * as z from "zod"

/** The records of the interface: every field that it lists, with its type. Responses may have further fields. */

const timestamp = z.iso.datetime()
const id = z.uuid()
const text = z.string()
const maybe = z.string().nullable()
const texts = z.array(text)
const usd = z.number()
const decimal = z.string().regex(/^\d+(\.\d+)?$/)
const count = z.int().min(0)

export const ChatResult = z.looseObject({
  id: text,
  object: z.literal("chat.completion"),
  created: z.int(),
  model: text,
  choices: z
    .array(
      z.looseObject({
        index: z.int(),
        finish_reason: text,
        message: z.looseObject({ role: z.literal("assistant"), content: maybe }),
      }),
    )
    .min(1),
  system_fingerprint: maybe,
  usage: z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  service_tier: maybe,
})

export const RoutingMetadata = z.looseObject({
  attempt: z.int(),
  requested: text,
  strategy: text,
  region: text,
  is_byok: z.boolean(),
  summary: text,
  endpoints: z.looseObject({
    total: z.int(),
    available: z.array(z.looseObject({ model: text, provider: text, selected: z.boolean() })),
  }),
  pipeline: z.array(z.looseObject({ type: text, name: text })),
})

export const GuardrailStage = z.looseObject({
  type: z.literal("guardrail"),
  name: text,
  guardrail_id: id,
  guardrail_scope: text,
  summary: text,
  data: z.looseObject({ action: text, detected: z.boolean(), engines: texts, patterns: texts }),
})

export const ResponsesResult = z.looseObject({
  id: text,
  object: z.literal("response"),
  created_at: z.int(),
  completed_at: z.int(),
  status: z.literal("completed"),
  model: text,
  output: z
    .array(
      z.looseObject({
        id: text,
        type: z.literal("message"),
        role: z.literal("assistant"),
        status: text,
        content: z
          .array(z.looseObject({ type: z.literal("output_text"), text, annotations: z.array(z.unknown()) }))
          .min(1),
      }),
    )
    .min(1),
  error: z.null(),
  incomplete_details: z.unknown(),
  instructions: z.unknown(),
  max_output_tokens: count.nullable(),
  metadata: z.record(text, text).nullable(),
  parallel_tool_calls: z.boolean(),
  tool_choice: z.unknown(),
  tools: z.array(z.unknown()),
  temperature: z.number().nullable(),
  top_p: z.number().nullable(),
  frequency_penalty: z.number().nullable(),
  presence_penalty: z.number().nullable(),
  usage: z.looseObject({
    input_tokens: count,
    input_tokens_details: z.looseObject({ cached_tokens: count }),
    output_tokens: count,
    output_tokens_details: z.looseObject({ reasoning_tokens: count }),
    total_tokens: count,
  }),
})

export const ApiKey = z.looseObject({
  label: text,
  limit: usd.nullable(),
  limit_remaining: usd.nullable(),
  limit_reset: maybe,
  include_byok_in_limit: z.boolean(),
  usage: usd,
  usage_daily: usd,
  usage_weekly: usd,
  usage_monthly: usd,
  byok_usage: usd,
  byok_usage_daily: usd,
  byok_usage_weekly: usd,
  byok_usage_monthly: usd,
  creator_user_id: maybe,
  expires_at: timestamp.nullable(),
  is_free_tier: z.boolean(),
  is_management_key: z.boolean(),
  is_provisioning_key: z.boolean(),
  rate_limit: z.looseObject({ interval: text, requests: z.number(), note: text }),
})

export const Preset = z.looseObject({
  id,
  name: text,
  slug: text,
  description: maybe,
  status: z.literal("active"),
  status_updated_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
  creator_user_id: text,
  workspace_id: id,
  designated_version_id: id,
  designated_version: z.looseObject({
    id,
    preset_id: id,
    version: z.int(),
    config: z.looseObject({ model: text }),
    system_prompt: text,
    creator_id: text,
    created_at: timestamp,
    updated_at: timestamp,
  }),
})

export const Intern = z.looseObject({
  id,
  name: text,
  description: maybe,
  instructions: maybe,
  model: maybe,
  status: z.enum([
    "awaiting_vendor_install",
    "queued",
    "provisioning",
    "running",
    "failed",
    "stopped",
    "destroying",
    "destroy_failed",
  ]),
  hostname: maybe,
  progress: z.looseObject({}).nullable(),
  last_failure_message: maybe,
  vault_id: id.nullable(),
  attached_vault_id: id.nullable(),
  workspace_id: id,
  created_at: timestamp,
  updated_at: timestamp,
})

export const Byok = z.looseObject({
  id,
  workspace_id: id,
  name: text,
  label: text,
  provider: text,
  disabled: z.boolean(),
  is_byok_only: z.boolean(),
  is_fallback: z.boolean(),
  is_required: z.boolean(),
  sort_order: z.int(),
  created_at: timestamp,
  allowed_api_key_hashes: texts.nullable(),
  allowed_models: texts.nullable(),
  allowed_user_ids: texts.nullable(),
})

export const Guardrail = z.looseObject({
  id,
  workspace_id: id,
  name: text,
  description: maybe,
  limit_usd: usd,
  reset_interval: text,
  allowed_providers: texts.nullable(),
  allowed_models: texts.nullable(),
  ignored_providers: texts.nullable(),
  ignored_models: texts.nullable(),
  enforce_zdr: z.boolean(),
  include_byok_in_budgets: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
})

const assignment = { id, guardrail_id: id, assigned_by: maybe, created_at: timestamp }
export const KeyAssignment = z.looseObject({ ...assignment, key_hash: text, key_label: text, key_name: text })
export const MemberAssignment = z.looseObject({ ...assignment, organization_id: text, user_id: text })

export const Destination = z.looseObject({
  id,
  workspace_id: id,
  name: text,
  type: text,
  enabled: z.boolean(),
  config: z.looseObject({}),
  api_key_hashes: texts.nullable(),
  filter_rules: z.unknown(),
  regions: texts.min(1),
  sampling_rate: z.number(),
  privacy_mode: z.boolean(),
  broadcast_generation_cost: z.boolean(),
  broadcast_generation_identity: z.boolean(),
  broadcast_generation_request_context: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
})

export const ScimGroup = z.looseObject({
  id,
  display_name: text,
  external_id: maybe,
  organization_id: text,
  created_at: timestamp,
  updated_at: timestamp,
})

export const ScimGroupMapping = z.looseObject({
  id,
  scim_group_id: id,
  workspace_id: id,
  organization_id: text,
  role: text,
  created_at: timestamp,
  updated_at: timestamp,
})

export const SyncJob = z.looseObject({
  id,
  status: text,
  synced_groups: count.nullable(),
  deleted_groups: count.nullable(),
  created_at: timestamp,
  started_at: timestamp.nullable(),
  finished_at: timestamp.nullable(),
  error_message: maybe,
})

export const EmbeddingsModel = z.looseObject({
  id: text,
  canonical_slug: text,
  name: text,
  description: text,
  created: z.int(),
  context_length: z.int(),
  architecture: z.looseObject({
    input_modalities: texts,
    output_modalities: texts,
    modality: text,
    instruct_type: maybe,
    tokenizer: text,
  }),
  pricing: z.looseObject({ prompt: decimal, completion: decimal, image: decimal, request: decimal }),
  top_provider: z.looseObject({
    is_moderated: z.boolean(),
    context_length: z.int().nullable(),
    max_completion_tokens: z.int().nullable(),
  }),
  links: z.looseObject({ details: text }),
  supported_parameters: texts,
  supported_voices: texts.nullable(),
  default_parameters: z.unknown(),
  per_request_limits: z.unknown(),
  expiration_date: maybe,
  knowledge_cutoff: maybe,
})

export const SessionCostMeta = z.looseObject({
  as_of: timestamp,
  version: z.literal("v1"),
  window_days: z.int(),
  window_end_date: z.iso.date(),
})
