import * as z from "zod"
import { nameText, uuidParam } from "../http/schema.ts"
import { rateInput, rateOutput } from "../ledger/rate-schemas.ts"
import { allowUnknown, overBudgetInput, overBudgetOutput } from "../money/over-budget.ts"
import { isNanoPrecise, NANO_PRECISE } from "../money/money.ts"
import { mcpToolsInput, mcpToolsOutput } from "../support/mcp-tools.ts"

const count = z.int().min(0)
const usd = z.number().meta({ description: "USD" })
const usage = {
  usage: usd,
  usage_daily: usd.meta({ description: "USD since UTC midnight" }),
  usage_weekly: usd.meta({ description: "USD since Monday, UTC" }),
  usage_monthly: usd.meta({ description: "USD since the 1st, UTC" }),
  byok_usage: usd.meta({ description: "USD of calls with BYOK credentials" }),
  byok_usage_daily: usd,
  byok_usage_weekly: usd,
  byok_usage_monthly: usd,
}

export const LimitReset = z.enum(["daily", "weekly", "monthly"], {
  error: 'accepts "daily", "weekly", "monthly" or null',
})

const limitIncrease = z
  .object({ amount: usd, expires_at: z.iso.datetime() })
  .nullable()
  .meta({ description: "USD above `limit` until an instant. Null: none, or ended." })

/** A budget that applies to the calls of a key. */
export const KeyBudget = z
  .object({
    scope: z
      .enum(["workspace_default_member", "workspace_default_key", "member", "api_key", "workspace", "key_limit"])
      .meta({
        description:
          "The default guardrail of the workspace, counting a member or a key; a guardrail of the member or the key; a budget of the workspace; the limit of the key or of one that created it.",
      }),
    guardrail_id: z.string().nullable().meta({ description: "Null for other scopes." }),
    budget_id: z.string().nullable().meta({ description: "Id of the workspace's budget. Null for other scopes." }),
    limit_usd: usd,
    spend_usd: usd.meta({ description: "USD in the current window" }),
    remaining_usd: usd.meta({ description: "USD: limit_usd - spend_usd" }),
    reset_interval: z.enum(["daily", "weekly", "monthly"]).nullable().meta({ description: "Null: it never resets." }),
    resets_at: z.iso.datetime().nullable().meta({ description: "Start of the next window, in UTC." }),
    include_byok: z.boolean().meta({ description: "Calls with BYOK credentials count too." }),
  })
  .meta({ id: "KeyBudget" })

/** The key of the request. */
export const CurrentKey = z
  .object({
    label: z.string(),
    limit: z.number().nullable(),
    limit_remaining: z.number().nullable(),
    limit_reset: z.string().nullable(),
    limit_increase: limitIncrease,
    include_byok_in_limit: z.boolean(),
    ...rateOutput,
    ...usage,
    creator_user_id: z.string().nullable(),
    organization_id: z.string().nullable(),
    workspace_id: z.string().nullable(),
    expires_at: z.iso.datetime().nullable(),
    is_free_tier: z.boolean(),
    is_management_key: z.boolean(),
    is_provisioning_key: z.boolean(),
    allowed_data_regions: z.array(z.enum(["global", "europe", "us"])),
    budgets: z.array(KeyBudget).meta({ description: "In the order of `scope`. GET /key/limits also has the balance." }),
    effective_budget: KeyBudget.nullable().meta({
      description: "The budget that stops the key first. Null without budgets.",
    }),
    free_model_daily_requests: z.object({ limit: count, remaining: count, used: count }),
    rate_limit: z
      .object({ interval: z.string(), requests: z.int(), note: z.string() })
      .meta({ description: "Deprecated: safe to ignore.", deprecated: true }),
  })
  .meta({ id: "CurrentKey" })

/** A key as its organization's management keys see it. */
export const ApiKey = z
  .object({
    hash: z.string().meta({ description: "SHA-256 of the key in hex: its id." }),
    name: z.string(),
    label: z.string(),
    kind: z.enum(["normal", "management", "provisioning", "free_tier"]),
    disabled: z.boolean(),
    limit: z.number().nullable(),
    limit_remaining: z.number().nullable(),
    limit_reset: z.string().nullable(),
    limit_increase: limitIncrease,
    include_byok_in_limit: z.boolean(),
    ...rateOutput,
    over_budget_models: overBudgetOutput,
    mcp_tools: mcpToolsOutput,
    ...usage,
    workspace_id: z.string(),
    creator_user_id: z.string().nullable(),
    external_user: z.string().nullable(),
    parent_hash: z.string().nullable().meta({
      description: "The key that created this one. Its limits and guardrails apply to this key, too.",
    }),
    source: z.enum(["created", "app", "intern", "workload"]).meta({
      description: "Created by POST /keys, for an app, for an intern, or in exchange for a workload's token",
    }),
    expires_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable().meta({
      description: "End of its latest recorded call. Null if there is no record of one.",
    }),
  })
  .meta({ id: "ApiKey" })

const DATE_TIME = "must be an ISO 8601 date-time with seconds and Z"

/** USD; representable exactly in nano-USD, with room for sums. */
const MAX_LIMIT_USD = 1_000_000
export const limitInput = z
  .number({ error: "must be a number of USD, or null for no cap" })
  .min(0, `must be from 0 to ${MAX_LIMIT_USD}`)
  .max(MAX_LIMIT_USD, `must be from 0 to ${MAX_LIMIT_USD}`)
  .refine(isNanoPrecise, NANO_PRECISE)
const increaseInput = z
  .number({ error: "must be a number of USD" })
  .gt(0, "must be more than 0")
  .max(MAX_LIMIT_USD, `must be at most ${MAX_LIMIT_USD}`)
  .refine(isNanoPrecise, NANO_PRECISE)
const name = nameText(128)

/** 32 random characters of any alphabet have at least this many different ones, with near certainty. */
const MIN_DISTINCT = 10

export const NewApiKey = z
  .strictObject({
    name,
    limit: limitInput.nullish(),
    limit_reset: LimitReset.nullish(),
    include_byok_in_limit: z.boolean().optional(),
    ...rateInput,
    over_budget_models: overBudgetInput,
    allow_unknown: allowUnknown,
    mcp_tools: mcpToolsInput,
    expires_at: z.iso.datetime({ offset: true, error: DATE_TIME }).nullish(),
    workspace_id: uuidParam("a workspace").optional(),
    creator_user_id: z.string().min(1).max(256).nullish(),
    kind: z
      .enum(["normal", "management", "provisioning", "free_tier"], {
        error: 'accepts "normal", "management", "provisioning" or "free_tier"',
      })
      .optional()
      .meta({ description: "Default normal. A key never mints a key that may do more than itself." }),
    external: z
      .strictObject({
        user: nameText(256),
        api_key: z
          .string()
          .regex(/^[\x21-\x7e]{32,512}$/, "must be 32 to 512 printable ASCII characters without spaces")
          .refine(
            (key) => new Set(key).size >= MIN_DISTINCT,
            `must be random: at least ${MIN_DISTINCT} different characters`,
          )
          .optional(),
      })
      .optional()
      .meta({ description: "A key that the partner supplies for one of its users; stored as its SHA-256." }),
  })
  .meta({ id: "NewApiKey" })

export const ApiKeyChange = z
  .strictObject({
    name: name.optional(),
    disabled: z.boolean().optional(),
    limit: limitInput.nullish(),
    limit_reset: LimitReset.nullish(),
    limit_increase: z
      .strictObject({
        amount: increaseInput.meta({ description: "USD, added to `limit`" }),
        expires_at: z.iso.datetime({ offset: true, error: DATE_TIME }),
      })
      .nullish()
      .meta({ description: "Raises `limit` until an instant, in every window of `limit_reset`. Null ends it." }),
    include_byok_in_limit: z.boolean().optional(),
    ...rateInput,
    over_budget_models: overBudgetInput,
    allow_unknown: allowUnknown,
    mcp_tools: mcpToolsInput,
  })
  .meta({ id: "ApiKeyChange" })

export type NewApiKey = z.infer<typeof NewApiKey>
export type ApiKeyChange = z.infer<typeof ApiKeyChange>
