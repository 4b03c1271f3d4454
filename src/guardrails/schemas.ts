import * as z from "zod"
import { rateInput, rateOutput } from "../ledger/rate-schemas.ts"
import { isNanoPrecise, NANO_PRECISE } from "../money/money.ts"
import { nameText, PageQuery, textIn, uuidParam } from "../http/schema.ts"
import { CHECK_NAME, CHECK_NAME_RULE } from "./checks/name.ts"
import { allowedMcpTools } from "../support/mcp-tools.ts"
import { DATA_REGIONS } from "../support/regions.ts"
import { subjectInput } from "./counted-subject.ts"

const flag = z.boolean({ error: "must be true or false" })
const text = (rule: string) => z.string({ error: rule })

export const RESET_INTERVALS = ["daily", "weekly", "monthly"] as const
export const ACTIONS = ["redact", "block", "flag"] as const
/** `iban` is an addition to the slugs of the published clients of this API family. */
export const BUILTIN_SLUGS = [
  "email",
  "phone",
  "ssn",
  "credit-card",
  "ip-address",
  "secrets",
  "person-name",
  "address",
  "regex-prompt-injection",
  "iban",
] as const
export type BuiltinSlug = (typeof BUILTIN_SLUGS)[number]
export const SCAN_SCOPES = ["user_only", "all_messages"] as const
/** Which texts of a call a check receives. */
export const DIRECTIONS = ["input", "output", "both"] as const

const MAX_NAMES = 1_000
const MAX_FILTERS = 100
const MAX_CHECKS = 10
const names = (items: string) =>
  z
    .array(text("must be a string").min(1, "must not be empty").max(256, "must be at most 256 characters"), {
      error: `must be an array of ${items} or null`,
    })
    .max(MAX_NAMES, `must be at most ${MAX_NAMES} names`)
    .nullish()

const action = z.enum(ACTIONS, { error: `accepts ${ACTIONS.join(", ")}` })
const label = text("must be a string").max(64, "must be at most 64 characters")

const filter = z.strictObject({
  action,
  label: label.nullish().meta({ description: "Replacement for redacted text." }),
  pattern: text("must be a regular expression").min(1, "must not be empty"),
})
const builtin = z.strictObject({
  action,
  label: label.nullish().meta({ description: "Ignored: each detector has a fixed label.", deprecated: true }),
  scan_scope: z
    .enum(SCAN_SCOPES, { error: `accepts ${SCAN_SCOPES.join(", ")}` })
    .optional()
    .meta({ description: "For regex-prompt-injection: messages to scan." }),
  slug: z.enum(BUILTIN_SLUGS, { error: `accepts ${BUILTIN_SLUGS.join(", ")}` }),
})
const CHECK_OF = "Name of the check, as GET /guardrails/checks lists it."
const directionRule = `accepts ${DIRECTIONS.join(", ")}`
const check = z
  .strictObject({
    check: text("must be the name of a check").regex(CHECK_NAME, CHECK_NAME_RULE).meta({ description: CHECK_OF }),
    action,
    direction: z
      .enum(DIRECTIONS, { error: directionRule })
      .default("input")
      .meta({ description: "input: requests and results of tools. output: responses." }),
  })
  .refine((rule) => rule.action !== "redact" || rule.direction === "input", {
    error: "redact needs direction input; a response is blocked or flagged",
    path: ["action"],
  })
const checkList = z
  .array(check, { error: "must be an array of checks or null" })
  .max(MAX_CHECKS, `must be at most ${MAX_CHECKS} checks`)
  .refine((list) => new Set(list.map((one) => one.check)).size === list.length, "must not name a check twice")
const filterList = z
  .array(filter, { error: "must be an array of filters or null" })
  .max(MAX_FILTERS, `must be at most ${MAX_FILTERS} filters`)
const builtinList = z
  .array(builtin, { error: "must be an array of detectors or null" })
  .max(BUILTIN_SLUGS.length, "must not name a detector twice")
  .refine((list) => new Set(list.map(({ slug }) => slug)).size === list.length, "must not name a detector twice")

const regionRule = `must be an array of one or more of ${DATA_REGIONS.join(", ")}, or null`
const positive = "must be a number of USD above 0, or null"

const settings = {
  description: text("must be a string or null").max(2_000, "must be at most 2000 characters").nullish(),
  limit_usd: z
    .number({ error: positive })
    .gt(0, positive)
    .max(1_000_000_000, "must be at most 1000000000")
    .refine(isNanoPrecise, NANO_PRECISE)
    .nullish()
    .meta({ description: "Spend limit per window of each assigned key and member; needs reset_interval." }),
  reset_interval: z.enum(RESET_INTERVALS, { error: `accepts ${RESET_INTERVALS.join(", ")} or null` }).nullish(),
  include_byok_in_budgets: flag.optional(),
  ...rateInput,
  ...subjectInput,
  allowed_providers: names("provider slugs"),
  ignored_providers: names("provider slugs"),
  allowed_models: names("models").meta({ description: "Models, or patterns such as author/*." }),
  ignored_models: names("models"),
  allowed_mcp_tools: allowedMcpTools,
  allow_unknown: flag.optional().meta({
    description:
      "For this request only: accepts unknown names of models and providers. Otherwise they are rejected with 400 and the most similar names.",
  }),
  allowed_data_regions: z
    .array(z.enum(DATA_REGIONS, { error: `accepts ${DATA_REGIONS.join(", ")}` }), { error: regionRule })
    .min(1, "must not be empty; null lifts the restriction")
    .max(DATA_REGIONS.length, "must not name a region twice")
    .nullish(),
  enforce_zdr: flag.nullish().meta({ deprecated: true, description: "Default of omitted enforce_zdr_* fields." }),
  enforce_zdr_anthropic: flag.nullish(),
  enforce_zdr_google: flag.nullish(),
  enforce_zdr_openai: flag.nullish(),
  enforce_zdr_xai: flag.nullish(),
  enforce_zdr_other: flag.nullish().meta({ description: "For models of all other authors." }),
  enable_paid_model_training: flag.nullish().meta({ description: "false: no paid endpoint that may train on data." }),
  enable_free_model_training: flag.nullish().meta({ description: "false: no free endpoint that may train on data." }),
  enable_free_model_publication: flag
    .nullish()
    .meta({ description: "false: no free endpoint that may publish prompts." }),
  content_filters: filterList.nullish().meta({ description: "Regular expressions, in RE2's syntax." }),
  content_filter_builtins: builtinList.nullish(),
  content_checks: checkList
    .nullish()
    .meta({ description: "Services that judge texts, by their names in CONTENT_CHECKS." }),
}

const name = nameText(200)

export const NewGuardrail = z
  .strictObject({
    name,
    workspace_id: uuidParam("a workspace").optional(),
    ...settings,
  })
  .meta({ id: "NewGuardrail" })
export const GuardrailChange = z.strictObject({ name: name.optional(), ...settings }).meta({ id: "GuardrailChange" })
export type NewGuardrail = z.infer<typeof NewGuardrail>
export type GuardrailChange = z.infer<typeof GuardrailChange>
export type ContentFilter = z.infer<typeof filter>
export type BuiltinFilter = z.infer<typeof builtin>
export type ContentCheckRule = z.infer<typeof check>

export const GuardrailPath = z.object({ id: uuidParam("a guardrail") })
export const GuardrailQuery = PageQuery.extend({
  q: textIn("name or description"),
  workspace_id: uuidParam("a workspace").optional(),
})

const list = z.array(z.string()).nullable()
const maybe = z.boolean().nullable()
export const Guardrail = z
  .object({
    id: z.uuid(),
    workspace_id: z.uuid().nullable(),
    name: z.string(),
    description: z.string().nullable(),
    limit_usd: z.number().nullable(),
    reset_interval: z.enum(RESET_INTERVALS).nullable(),
    include_byok_in_budgets: z.boolean(),
    ...rateOutput,
    per_end_user: maybe,
    per_metadata: z.string().nullable(),
    allowed_providers: list,
    ignored_providers: list,
    allowed_models: list,
    ignored_models: list,
    allowed_mcp_tools: list,
    allowed_data_regions: z.array(z.enum(DATA_REGIONS)).nullable(),
    enforce_zdr: z.boolean(),
    enforce_zdr_anthropic: maybe,
    enforce_zdr_google: maybe,
    enforce_zdr_openai: maybe,
    enforce_zdr_xai: maybe,
    enforce_zdr_other: maybe,
    enable_paid_model_training: maybe,
    enable_free_model_training: maybe,
    enable_free_model_publication: maybe,
    content_filters: z.array(z.object({ action, label: z.string().nullable(), pattern: z.string() })).nullable(),
    content_filter_builtins: z
      .array(
        z.object({
          action,
          label: z.string(),
          slug: z.enum(BUILTIN_SLUGS),
          scan_scope: z.enum(SCAN_SCOPES).optional(),
        }),
      )
      .nullable(),
    content_checks: z
      .array(z.object({ check: z.string().meta({ description: CHECK_OF }), action, direction: z.enum(DIRECTIONS) }))
      .nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "Guardrail" })
export type Guardrail = z.infer<typeof Guardrail>
export const GuardrailResponse = z.object({ data: Guardrail }).meta({ id: "GuardrailResponse" })
export const GuardrailList = z.object({ data: z.array(Guardrail), total_count: z.int() }).meta({ id: "GuardrailList" })

const MAX_ASSIGNED = 1_000
const some = <T extends z.ZodType>(item: T, items: string) =>
  z
    .array(item, { error: `must be an array of ${items}` })
    .min(1, "must not be empty")
    .max(MAX_ASSIGNED, `must be at most ${MAX_ASSIGNED} entries`)
export const KeyHashes = z
  .strictObject({
    key_hashes: some(
      text("must be a string").regex(/^[0-9a-f]{64}$/, "must be 64 hex digits, as GET /keys lists them"),
      "key hashes",
    ),
  })
  .meta({ id: "GuardrailKeyHashes" })
export const MemberIds = z
  .strictObject({
    member_user_ids: some(
      text("must be a string").min(1, "must not be empty").max(256, "must be at most 256 characters"),
      "user ids",
    ),
  })
  .meta({ id: "GuardrailMemberIds" })

const assignment = {
  id: z.uuid(),
  guardrail_id: z.uuid(),
  assigned_by: z.string().nullable(),
  created_at: z.iso.datetime(),
}
export const KeyAssignment = z
  .object({ ...assignment, key_hash: z.string(), key_label: z.string(), key_name: z.string() })
  .meta({ id: "GuardrailKeyAssignment" })
export const MemberAssignment = z
  .object({ ...assignment, organization_id: z.string(), user_id: z.string() })
  .meta({ id: "GuardrailMemberAssignment" })
const page = <T extends z.ZodType>(one: T) => z.object({ data: z.array(one), total_count: z.int() })
export const KeyAssignmentList = page(KeyAssignment).meta({ id: "GuardrailKeyAssignmentList" })
export const MemberAssignmentList = page(MemberAssignment).meta({ id: "GuardrailMemberAssignmentList" })
export const Assigned = z.object({ assigned_count: z.int() }).meta({ id: "GuardrailAssigned" })
export const Unassigned = z.object({ unassigned_count: z.int() }).meta({ id: "GuardrailUnassigned" })

export const ContentTest = z
  .strictObject({
    guardrail_id: uuidParam("a guardrail").optional(),
    content_filters: filterList.nullish(),
    content_filter_builtins: builtinList.nullish(),
    content_checks: checkList.nullish(),
    run_checks: flag.optional().meta({
      description: "true: sends the text to the external checks of requests, unless a filter blocks it.",
    }),
    text: text("must be a string").max(200_000, "must be at most 200000 characters"),
  })
  .meta({ id: "GuardrailTest" })
export const ContentTestResponse = z
  .object({
    data: z.object({
      action: z.string().meta({ description: "Strongest resulting action: block, redact, flag or none." }),
      detected: z.boolean(),
      engines: z.array(z.string()),
      patterns: z.array(z.string()),
      matches: z.array(
        z.object({
          pattern: z.string(),
          engine: z.string(),
          action,
          start: z.int().meta({ description: "In UTF-16 code units." }),
          end: z.int(),
        }),
      ),
      text: z.string().meta({ description: "The text after redaction, unless it is blocked." }),
      checks: z
        .array(
          z.object({
            name: z.string(),
            available: z.boolean().meta({ description: "Whether the check responded in its format." }),
            flagged: z.boolean().meta({ description: "Whether the check objects to the text." }),
            categories: z.array(z.string()).meta({ description: "What the check found." }),
          }),
        )
        .meta({ description: "Results of external checks, with `run_checks`." }),
    }),
  })
  .meta({ id: "GuardrailTestAnswer" })
