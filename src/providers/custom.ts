import * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { PriceList } from "../money/price-list.ts"
import { PRICE_NAMES } from "../money/pricing.ts"
import { BASE_URL_RULE, BaseUrl, forFormat } from "../config/base-url.ts"
import { keyHeaderOf, type Provider, type Quirks, toKeys } from "./provider.ts"
import { CUSTOM_FORMATS } from "../formats/provider-format.ts"
import { builtInProviders } from "./table.ts"
import { isHeldField } from "./upstream-request.ts"

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
const SLUG_RULE = "must be 1 to 63 lower-case letters, digits and hyphens, and start with a letter or digit"
/** A model id, which is also a path: no spaces, no empty segment. */
const MODEL_ID = /^[\w.@:+~-]+(?:\/[\w.@:+~-]+)*$/
const MODEL_ID_RULE = "must be letters, digits and . _ - : @ + ~ in segments separated by /; another id needs model"
/** The server's name of a model that has another public id: `gpt://FOLDER/yandexgpt`, `model#deployment`. */
const UPSTREAM_ID = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const SERVES_RULE = "must be the id that clients use, author/slug; the default is the provider's slug and the id"
const HEADER_RULE = "must be the name of an HTTP header"
const INPUTS = ["text", "image", "file", "audio", "video"] as const
const OUTPUTS = [
  "text",
  "image",
  "audio",
  "embeddings",
  "rerank",
  "decisions",
  "speech",
  "transcription",
  "video",
  "realtime",
] as const
/** No control characters: they would end the header. */
const HEADER_VALUE = /^[\x20-\x7e]+$/
const PERCENT_RULE = "must be a whole number from 1 to 100: the price of a request in a batch, in percent"
const MAX_KEYS = 100
/** Headers that cannot be used for a key. */
const RESERVED_HEADERS = new Set(["accept", "accept-encoding", "connection", "content-length", "content-type", "host"])
/** Reserved slugs. Self-hosted servers keep their usual names in any configuration. */
const reserved = new Set([
  ...builtInProviders.filter(({ keyless }) => !keyless).map(({ slug }) => slug),
  "embedded",
  "embedded-messages",
  "embedded-responses",
  "sim",
  "sim-messages",
  "sim-responses",
])

const text = (rule: string) => z.string({ error: rule }).trim().min(1, { error: rule })
const tokens = z.int({ error: "must be a whole number of tokens" }).positive({ error: "must be positive" })
const flag = z.boolean({ error: "must be true or false" })

function modalities<const T extends readonly [string, ...string[]]>(allowed: T) {
  const rule = `must be an array of ${allowed.join(", ")}`
  return z.array(z.enum(allowed, { error: rule }), { error: rule }).min(1, { error: rule })
}

const HeaderName = z
  .string({ error: HEADER_RULE })
  .regex(/^[A-Za-z][\w-]*$/, { error: HEADER_RULE })
  .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), { error: "is a header that the gateway sets itself" })
const HeaderValue = z.string({ error: "must be a string" }).regex(HEADER_VALUE, { error: "must be printable ASCII" })

const BODY_RULE = "must be an object of fields and their JSON values"
const RequestBody = z
  .record(z.string(), z.json(), { error: BODY_RULE })
  .refine((body) => !Object.keys(body).some(isHeldField), {
    error: "must not have the model, the input, stream, n, service_tier or an output limit: the gateway sets them",
  })
const ServerUrl = z
  .string({ error: BASE_URL_RULE })
  .refine((url) => !url.includes("?"), { error: "must be without a query: put its parameters in query", abort: true })
  .pipe(BaseUrl)

const CustomModel = z
  .strictObject(
    {
      id: z
        .string({ error: MODEL_ID_RULE })
        .max(200, { error: "must have at most 200 characters" })
        .regex(UPSTREAM_ID, { error: MODEL_ID_RULE }),
      model: z
        .string({ error: SERVES_RULE })
        .max(200, { error: "must have at most 200 characters" })
        .regex(MODEL_ID, { error: MODEL_ID_RULE })
        .refine((id) => id.includes("/"), { error: SERVES_RULE })
        .optional(),
      name: text("must be a name").optional(),
      input: modalities(INPUTS).optional(),
      output: modalities(OUTPUTS).optional(),
      ...PriceList.partial().shape,
      context_length: tokens.optional(),
      max_completion_tokens: tokens.optional(),
    },
    {
      error: rejectUnknownKeys(
        "model",
        `id, model, name, input, output, context_length, max_completion_tokens, and prices: ${PRICE_NAMES.join(", ")}, overrides`,
      ),
    },
  )
  .refine(({ id, model }) => model !== undefined || MODEL_ID.test(id), { path: ["id"], error: MODEL_ID_RULE })

const CustomProvider = z.strictObject(
  {
    slug: z
      .string({ error: SLUG_RULE })
      .regex(SLUG, { error: SLUG_RULE })
      .refine((slug) => !reserved.has(slug), {
        error: "is the slug of an existing provider; choose another",
      }),
    base_url: ServerUrl,
    api_key: z
      .string({ error: "must be a string" })
      .regex(HEADER_VALUE, { error: "must be printable ASCII, or left out" })
      .optional(),
    api_keys: z
      .array(z.string({ error: "must be a string" }).regex(HEADER_VALUE, { error: "must be printable ASCII" }), {
        error: "must be an array of keys",
      })
      .min(1, { error: "must not be empty" })
      .max(MAX_KEYS, { error: `must have at most ${MAX_KEYS} keys` })
      .optional(),
    key_header: HeaderName.optional(),
    name: text("must be a name").optional(),
    wire: z.enum(CUSTOM_FORMATS, { error: 'accepts "openai" or "anthropic"' }).default("openai"),
    responses: flag.default(false),
    completions: z.enum(["text", "fim"], { error: 'accepts "text" or "fim"' }).optional(),
    batch_price_percent: z
      .int({ error: PERCENT_RULE })
      .min(1, { error: PERCENT_RULE })
      .max(100, { error: PERCENT_RULE })
      .optional(),
    stream_options: flag.default(true),
    headers: z
      .record(HeaderName, HeaderValue, {
        error: "must be an object of headers that the gateway does not set, and their values",
      })
      .optional(),
    query: z
      .record(z.string(), z.string({ error: "must be a string" }), { error: "must be an object of parameters" })
      .optional(),
    body: RequestBody.optional(),
    output_limit_field: z
      .enum(["max_tokens", "max_completion_tokens"], { error: 'accepts "max_tokens" or "max_completion_tokens"' })
      .optional(),
    developer_role: flag.default(true),
    content_parts: flag.default(true),
    strict: flag.default(false),
    unsupported_fields: z
      .array(text("must be the name of a field"), { error: "must be an array of fields" })
      .optional(),
    regions: z.array(text("must be the name of a region"), { error: "must be an array of regions" }).optional(),
    zero_retention: flag.default(false),
    collects_data: flag.default(false),
    models: z.array(CustomModel, { error: "must be an array of models" }).superRefine(rejectTwice("id")),
  },
  {
    error: rejectUnknownKeys(
      "provider",
      "slug, base_url, api_key, api_keys, key_header, name, wire, responses, completions, batch_price_percent, stream_options, headers, query, body, output_limit_field, developer_role, content_parts, strict, unsupported_fields, regions, zero_retention, collects_data, models",
    ),
  },
)

const CustomProviders = z
  .array(CustomProvider, { error: "must be a JSON array of providers" })
  .superRefine(rejectTwice("slug"))

export type CustomProvider = z.infer<typeof CustomProvider>

/** Parses the servers in a variable. Errors name the field and its rule, never its value. */
export function parseCustomProviders(variableName: string, json: string): readonly CustomProvider[] {
  const parsed = CustomProviders.safeParse(parseJson(variableName, json))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = (issue?.path ?? []).map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("")
  throw new GatewayError("misconfigured", `${variableName}${path}: ${issue?.message ?? "is not valid"}.`)
}

export function toProvider(custom: CustomProvider): Provider {
  return {
    slug: custom.slug,
    name: custom.name ?? custom.slug,
    baseUrl: forFormat(custom.base_url, custom.wire),
    format: custom.wire,
    ...toKeys([...(custom.api_key === undefined ? [] : [custom.api_key]), ...(custom.api_keys ?? [])]),
    keyHeader: custom.key_header?.toLowerCase() ?? keyHeaderOf(custom.wire),
    ...(custom.responses && { responses: true as const }),
    ...(custom.completions && { completions: custom.completions }),
    ...(custom.batch_price_percent !== undefined && { batches: { pricePercent: custom.batch_price_percent } }),
    ...(custom.regions && { regions: custom.regions }),
    ...(custom.headers && { headers: lowerCased(custom.headers) }),
    ...(custom.query && { query: new URLSearchParams(custom.query).toString() }),
    ...(custom.body && { body: custom.body }),
    quirks: toQuirks(custom),
  }
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function toQuirks(custom: CustomProvider): Quirks {
  const { output_limit_field: maxTokensField, developer_role: takesDeveloper, unsupported_fields: rejects } = custom
  return {
    ...(!custom.stream_options && { noStreamOptions: true as const }),
    ...(maxTokensField && { maxTokensField }),
    // Unless the operator says otherwise, instructions stay as the client sent them.
    ...(takesDeveloper && { takesDeveloper }),
    ...(!custom.content_parts && { needsStringContent: true as const }),
    ...(custom.strict && { isStrict: true as const }),
    ...(rejects && { rejects }),
  }
}

function parseJson(variableName: string, json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // The parser's message would quote the text, which contains keys.
    throw new GatewayError("misconfigured", `${variableName}: must be a JSON array of providers; it is not valid JSON.`)
  }
}

/** zod quotes unknown field names, and a secret may have been pasted there. */
function rejectUnknownKeys(noun: string, fields: string): z.core.$ZodErrorMap {
  return (issue) =>
    issue.code === "unrecognized_keys"
      ? `has an unknown field; a ${noun} has ${fields}`
      : `must be a ${noun}: an object of ${fields}`
}

function rejectTwice<K extends string>(key: K) {
  return (items: readonly Record<K, string>[], context: z.core.$RefinementCtx): void => {
    const seen = new Set<string>()
    for (const [index, item] of items.entries()) {
      if (seen.has(item[key])) {
        context.addIssue({ code: "custom", path: [index, key], message: "is in the list twice" })
      }
      seen.add(item[key])
    }
  }
}
