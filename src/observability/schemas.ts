import * as z from "zod"
import { oneOf, PageQuery, nameText, uuidParam } from "../http/schema.ts"
import { problemOf } from "../guardrails/content/patterns/pattern.ts"
import { KIND_NAMES } from "./kinds.ts"

const MAX_GROUPS = 20
const MAX_RULES = 20
const MAX_HASHES = 1_000
const MAX_PATTERN_LENGTH = 512
const MAX_VALUE_LENGTH = 4_096

const TEXT_FIELDS = [
  "model",
  "provider",
  "session_id",
  "user_id",
  "api_key_name",
  "finish_reason",
  "input",
  "output",
] as const
const NUMBER_FIELDS = ["total_cost", "total_tokens", "prompt_tokens", "completion_tokens"] as const
const OPERATORS = [
  "equals",
  "not_equals",
  "contains",
  "not_contains",
  "regex",
  "starts_with",
  "ends_with",
  "gt",
  "lt",
  "gte",
  "lte",
  "exists",
  "not_exists",
] as const
const BARE = ["exists", "not_exists"]
const COMPARING = ["gt", "lt", "gte", "lte"]

const FilterRule = z
  .strictObject({
    field: oneOf([...TEXT_FIELDS, ...NUMBER_FIELDS]),
    operator: oneOf(OPERATORS),
    value: z
      .union([z.string().max(MAX_VALUE_LENGTH, `must be at most ${MAX_VALUE_LENGTH} characters`), z.number()], {
        error: "must be a string or a number",
      })
      .optional(),
  })
  .check((context) => {
    const { operator, value } = context.value
    const reject = (message: string) =>
      context.issues.push({ code: "custom", path: ["value"], message, input: value, continue: false })
    if (BARE.includes(operator)) return
    if (value === undefined) reject(`is required with ${operator}`)
    else if (COMPARING.includes(operator) && !Number.isFinite(toNumber(value)))
      reject(`must be a number with ${operator}`)
    else if (operator === "regex") {
      const problem = String(value).length > MAX_PATTERN_LENGTH ? TOO_LONG : problemOf(String(value))
      if (problem !== undefined) reject(problem)
    }
  })
export type FilterRule = z.infer<typeof FilterRule>

const TOO_LONG = `must be at most ${MAX_PATTERN_LENGTH} characters with regex`

function toNumber(value: string | number): number {
  return typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value)
}

export const FilterRules = z
  .strictObject({
    enabled: z.boolean().default(true),
    groups: z
      .array(
        z.strictObject({
          logic: oneOf(["and", "or"]).default("and"),
          rules: z
            .array(FilterRule, { error: "must be an array of rules" })
            .min(1, "must not be empty")
            .max(MAX_RULES, `must be at most ${MAX_RULES} rules`),
        }),
        { error: "must be an array of groups of rules" },
      )
      .max(MAX_GROUPS, `must be at most ${MAX_GROUPS} groups`),
  })
  .meta({
    id: "ObservabilityFilterRules",
    description:
      "A call is exported if it matches one of the groups: all of its rules with `and`, any of them with `or`. Without groups, every call matches.",
  })
export type FilterRules = z.infer<typeof FilterRules>

export const REGIONS = ["global", "europe", "us"] as const
const Regions = z
  .array(oneOf([...REGIONS, "eu"]), { error: "must be an array of regions" })
  .min(1, "must not be empty")
  .max(8)
  .transform((regions) => [...new Set(regions.map((region) => (region === "eu" ? "europe" : region)))])

const rateRule = "must be a number from 0.0001 to 1"
const flag = z.boolean().optional()
const config = z.record(z.string(), z.unknown(), { error: "must be an object: see its kind" })
const name = nameText(128)

const fields = {
  enabled: flag,
  api_key_hashes: z
    .array(z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits, as GET /keys lists them"), {
      error: "must be an array of hashes of API keys, or null for all",
    })
    .min(1, "must not be empty; null sends the calls of all keys")
    .max(MAX_HASHES, `must be at most ${MAX_HASHES} entries`)
    .nullish(),
  filter_rules: FilterRules.nullish(),
  regions: Regions.optional().meta({ description: "Regions of the hostnames that calls arrive at; `eu` is `europe`." }),
  sampling_rate: z.number({ error: rateRule }).min(0.0001, rateRule).max(1, rateRule).optional().meta({
    description: "Share of sessions, and of calls without one. A session is either included or excluded as a whole.",
  }),
  privacy_mode: flag.meta({ description: "Messages and outputs are not exported." }),
  broadcast_generation_cost: flag.meta({ description: "Exports the cost of calls." }),
  broadcast_generation_identity: flag.meta({ description: "Exports the key, its owner and the user." }),
  broadcast_generation_request_context: flag.meta({ description: "Exports the app, its address and the user agent." }),
  broadcast_generation_cost_allocation: z
    .literal(false, { error: "must be false: this gateway exports the cost of a call as one amount" })
    .optional()
    .meta({ description: "Newer clients send it. Costs by kind of token are not exported." }),
}

export const NewDestination = z
  .strictObject({
    type: z.enum(KIND_NAMES, { error: `is required: one of ${KIND_NAMES.join(", ")}` }),
    name,
    config,
    workspace_id: uuidParam("a workspace").optional(),
    ...fields,
  })
  .meta({ id: "NewObservabilityDestination" })
export type NewDestination = z.infer<typeof NewDestination>

export const DestinationChange = z
  .strictObject({
    name: name.optional(),
    config: config.optional().meta({
      description: "Omitted fields and masked values keep their value; null removes a field.",
    }),
    ...fields,
  })
  .meta({ id: "ObservabilityDestinationChange" })
export type DestinationChange = z.infer<typeof DestinationChange>

const instant = z.iso.datetime().nullable()
export const Destination = z
  .object({
    id: z.uuid(),
    workspace_id: z.string(),
    name: z.string().nullable(),
    type: z.enum(KIND_NAMES),
    enabled: z.boolean(),
    config: z.record(z.string(), z.unknown()).meta({ description: "Secrets and header values are masked." }),
    api_key_hashes: z.array(z.string()).nullable(),
    filter_rules: FilterRules.nullable(),
    regions: z.array(z.enum(REGIONS)),
    sampling_rate: z.number(),
    privacy_mode: z.boolean(),
    broadcast_generation_cost: z.boolean(),
    broadcast_generation_identity: z.boolean(),
    broadcast_generation_request_context: z.boolean(),
    broadcast_generation_cost_allocation: z.literal(false),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    last_success_at: instant,
    last_error_at: instant,
    last_error: z.string().nullable(),
    backlog: z.int().meta({ description: "Calls that wait for a retry." }),
    dead_letters: z.int().meta({ description: "Calls that were given up; they can be redelivered." }),
    failures: z.int().meta({ description: "Deliveries that failed since the last success." }),
    next_attempt_at: instant.meta({ description: "When waiting calls are sent again; null if none wait." }),
  })
  .meta({ id: "ObservabilityDestination" })

export const DestinationQuery = PageQuery.extend({
  workspace_id: uuidParam("a workspace").optional(),
})

export const Probe = z
  .object({
    ok: z.boolean(),
    status: z.int().nullable().meta({ description: "Status of the response; null without a response." }),
    latency_ms: z.int(),
    message: z.string().meta({ description: "Text of the response, or why nothing was sent." }),
  })
  .meta({ id: "ObservabilityProbe" })
