import * as z from "zod"
import { PageQuery, textIn, nameText, uuidParam } from "../http/schema.ts"
import { isNanoPrecise, NANO_PRECISE } from "../money/money.ts"
import { KINDS } from "../observability/kinds.ts"

const MAX_RULES = 200
const MAX_KEYS = 1_000
const MAX_PRICE_USD = 1_000
const MAX_URL_LENGTH = 2_048
const MAX_SECONDS = 600
export const DEFAULT_TIMEOUT_SECONDS = 60
export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const name = nameText(128)
const SLUG_RULE = "must be 1 to 64 lower-case letters, digits and hyphens, and start with a letter or digit"
export const ServiceSlug = z
  .string({ error: "must be a string" })
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, SLUG_RULE)
  .meta({ description: "Its part of `/passthrough/{service}/…`.", example: "search" })
const priceRule = `must be a number of USD from 0 to ${MAX_PRICE_USD}`
const price = z
  .number({ error: priceRule })
  .min(0, priceRule)
  .max(MAX_PRICE_USD, priceRule)
  .refine(isNanoPrecise, NANO_PRECISE)
const timeoutRule = `must be an integer from 1 to ${MAX_SECONDS}`
const workspaceId = uuidParam("a workspace").optional()
const PATH_RULE = "must start with /, without a query, and may have * for anything: /v1/search*"

const Rule = z
  .strictObject({
    methods: z
      .array(z.enum(METHODS, { error: `accepts ${METHODS.join(", ")}` }))
      .min(1, "must not be empty; null allows all")
      .nullish()
      .meta({ description: "Null: all." }),
    path: z
      .string({ error: PATH_RULE })
      .max(512, "must be at most 512 characters")
      .regex(/^\/[^\s?#\\%]*$/, PATH_RULE)
      .meta({ description: "Path below `base_url`; `*` matches anything." }),
    price_usd: price.default(0).meta({ description: "Price of one request." }),
  })
  .meta({ id: "PassthroughRule" })

const secrets = KINDS.webhook.config.shape.headers.unwrap().nullish()
const fields = {
  headers: secrets.meta({
    description: "Sent with every request, such as Authorization. Kept sealed; values are returned masked.",
  }),
  query: z
    .record(z.string().min(1).max(128), z.string().max(4_096))
    .refine((values) => Object.keys(values).length <= 20, "must be at most 20 names")
    .nullish()
    .meta({ description: "Query parameters of every request, such as api_key. Kept sealed; returned masked." }),
  allowed_api_key_hashes: z
    .array(z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits, as GET /keys lists them"))
    .min(1, "must not be empty; null allows the workspace's keys")
    .max(MAX_KEYS, `must be at most ${MAX_KEYS} keys`)
    .nullish()
    .meta({
      description:
        "Keys that may call it, with the keys they created. Null: all keys of the workspace except those of apps, interns and the free tier.",
    }),
  timeout_seconds: z
    .int(timeoutRule)
    .min(1, timeoutRule)
    .max(MAX_SECONDS, timeoutRule)
    .optional()
    .meta({ description: `Total timeout of a request. Default ${DEFAULT_TIMEOUT_SECONDS}.` }),
  enabled: z.boolean({ error: "must be true or false" }).optional(),
}

const baseUrl = z
  .string({ error: "must be a string" })
  .max(MAX_URL_LENGTH, `must be at most ${MAX_URL_LENGTH} characters`)
  .regex(/^[^?#]*$/, "must have no query and no fragment")
  .meta({ description: "Ends before the paths of the rules." })
const rules = z
  .array(Rule, { error: "must be an array of rules" })
  .min(1, "must have a rule: nothing else is forwarded")
  .max(MAX_RULES, `must be at most ${MAX_RULES} rules`)
  .meta({ description: "Requests that are forwarded. The first that matches has the price." })

export const NewService = z
  .strictObject({ slug: ServiceSlug, name, base_url: baseUrl, rules, workspace_id: workspaceId, ...fields })
  .meta({ id: "NewPassthroughService" })
export const ServiceChange = z
  .strictObject({ name: name.optional(), base_url: baseUrl.optional(), rules: rules.optional(), ...fields })
  .meta({ id: "PassthroughServiceChange" })
export type ServiceFields = z.infer<typeof ServiceChange>

export const ServicePath = z.object({ slug: ServiceSlug })
export const ServiceQuery = z.object({ workspace_id: workspaceId })
export const ServicesQuery = PageQuery.extend({ workspace_id: workspaceId, q: textIn("slug, name or base URL") })

const masked = z.record(z.string(), z.string()).meta({ description: "Masked." })
export const Service = z
  .object({
    id: z.uuid(),
    workspace_id: z.uuid(),
    slug: ServiceSlug,
    name: z.string(),
    base_url: z.string().meta({ description: "Without a slash at its end; the paths of the rules follow." }),
    headers: masked,
    query: masked,
    rules: z.array(Rule),
    allowed_api_key_hashes: z.array(z.string()).nullable(),
    timeout_seconds: z.int(),
    enabled: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
  })
  .meta({ id: "PassthroughService" })
