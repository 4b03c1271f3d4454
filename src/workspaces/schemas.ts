import * as z from "zod"
import { nameText } from "../http/schema.ts"
import { rateInput, rateOutput } from "../ledger/rate-schemas.ts"
import { allowUnknown, overBudgetInput, overBudgetOutput } from "../money/over-budget.ts"
import { PROVIDER_SORTS } from "./settings.ts"

const text = (rule: string) => z.string({ error: rule })
const flag = z.boolean({ error: "must be true or false" })
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const slugRule = "must be lowercase letters and digits, in segments joined by single hyphens"

const name = nameText(128)
const slug = text(slugRule)
  .max(64, "must be at most 64 characters")
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, slugRule)
  .refine((slug) => !UUID.test(slug), "must not look like an id")
const model = text("must be a model, author/slug, or null")
  .min(1, "must not be empty")
  .max(256, "must be at most 256 characters")

const SERVER_TOOLS =
  "advisor apply_patch bash datetime fusion image_generation experimental__search_models shell subagent tool_search web_fetch web_search".split(
    " ",
  )
const serverTool = z
  .string()
  .refine((tool) => /^(openrouter|service):/.test(tool) && SERVER_TOOLS.includes(tool.slice(tool.indexOf(":") + 1)), {
    error: `accepts, each after openrouter: or service:, ${SERVER_TOOLS.join(", ")}`,
  })

const cacheRule = "must be a whole number of seconds from 1 to 604800, or null"
export const cacheSeconds = z.int({ error: cacheRule }).min(1, cacheRule).max(604_800, cacheRule).nullish()
const rateRule = "must be a number from 0.0001 to 1"
const settings = {
  description: text("must be a string or null").max(2_000, "must be at most 2000 characters").nullish(),
  default_text_model: model.nullish().meta({ description: "Used if a request names no model; may be an alias." }),
  default_image_model: model
    .nullish()
    .meta({ description: "Used if an image request names no model; may be an alias." }),
  default_provider_sort: z
    .enum(PROVIDER_SORTS, { error: `accepts ${PROVIDER_SORTS.join(", ")} or null` })
    .nullish()
    .meta({ description: "How providers are chosen if a request does not specify it." }),
  disabled_server_tools: z
    .array(serverTool, { error: "must be an array of server tools or null" })
    .max(2 * SERVER_TOOLS.length, "must not name a tool twice")
    .nullish()
    .meta({ description: "Requests that name one of these fail with 403." }),
  io_logging_api_key_ids: z
    .array(z.int({ error: "must be an integer" }), { error: "must be an array of integers or null" })
    .max(1_000, "must be at most 1000 ids")
    .nullish(),
  io_logging_sampling_rate: z.number({ error: rateRule }).min(0.0001, rateRule).max(1, rateRule).optional(),
  is_data_discount_logging_enabled: flag.optional(),
  is_observability_broadcast_enabled: flag.optional(),
  is_observability_io_logging_enabled: flag.optional(),
  ...rateInput,
  over_budget_models: overBudgetInput,
  allow_unknown: allowUnknown,
  response_cache_seconds: cacheSeconds.meta({
    description: "How long responses are cached; null: only if a request or its preset enables it.",
  }),
}

export const NewWorkspace = z.strictObject({ name, slug, ...settings }).meta({ id: "NewWorkspace" })
export const WorkspaceChange = z
  .strictObject({ name: name.optional(), slug: slug.optional(), ...settings })
  .meta({ id: "WorkspaceChange" })
export type NewWorkspace = z.infer<typeof NewWorkspace>
export type WorkspaceChange = z.infer<typeof WorkspaceChange>

export const WorkspacePath = z.object({
  workspaceRef: z.string().min(1).max(128).meta({ description: "The workspace's id or slug." }),
})
export const WorkspaceDeletion = z.object({
  confirm_default_workspace_deletion: z
    .enum(["true", "false"], { error: "accepts true or false" })
    .default("false")
    .meta({
      description: "Must be true to delete the default workspace, which also deletes its keys except management keys.",
    }),
})

export const Workspace = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    created_by: z.string().nullable(),
    default_guardrail_id: z.uuid(),
    default_text_model: z.string().nullable(),
    default_image_model: z.string().nullable(),
    default_provider_sort: z.enum(PROVIDER_SORTS).nullable(),
    disabled_server_tools: z.array(z.string()).nullable(),
    include_byok_in_budgets: z.boolean(),
    io_logging_api_key_ids: z.array(z.int()).nullable(),
    io_logging_sampling_rate: z.number(),
    is_data_discount_logging_enabled: z.boolean(),
    is_observability_broadcast_enabled: z.boolean(),
    is_observability_io_logging_enabled: z.boolean(),
    ...rateOutput,
    over_budget_models: overBudgetOutput,
    response_cache_seconds: z.int().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
  })
  .meta({ id: "Workspace" })

export const WorkspaceList = z.object({ data: z.array(Workspace), total_count: z.int() }).meta({ id: "WorkspaceList" })
