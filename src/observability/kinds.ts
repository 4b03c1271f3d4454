import * as z from "zod"

/**
 * Kinds of destinations and their configuration, in API field names. `secrets`: fields that are sealed and returned
 * masked, as the values of `headers` are for every kind. `urls`: fields that are checked before they are saved.
 */

const MAX_TEXT = 4_096
const MAX_HEADERS = 32
const text = z
  .string({ error: "must be a string" })
  .trim()
  .min(1, "must not be empty")
  .max(MAX_TEXT, `must be at most ${MAX_TEXT} characters`)
  .regex(/^[^\p{Cc}]+$/u, "must be on one line")
  .refine((value) => value.isWellFormed(), "must be Unicode")
const url = text
/** For values that become part of SQL or of a path. */
const identifier = text.regex(/^[\w$.-]{1,255}$/, "must be letters, digits, _, -, . and $ only")
const headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,128}$/, "must be the name of a header"),
    z
      .string({ error: "must be a string" })
      .max(MAX_TEXT, `must be at most ${MAX_TEXT} characters`)
      .regex(/^[\x20-\x7e]*$/, "must be printable ASCII: it is sent in a header"),
    { error: "must be an object of header names and values" },
  )
  .refine((value) => Object.keys(value).length <= MAX_HEADERS, `must be at most ${MAX_HEADERS}`)
  .refine(
    (value) => !Object.keys(value).some((name) => FORBIDDEN_HEADERS.has(name.toLowerCase())),
    "must not set Host, Content-Length, Transfer-Encoding or Connection",
  )
  .optional()

const FORBIDDEN_HEADERS = new Set(["host", "content-length", "transfer-encoding", "connection", "upgrade", "te"])

const shape = <T extends z.core.$ZodLooseShape>(fields: T) => z.strictObject({ ...fields, headers })
const oneOf = <const T extends readonly [string, ...string[]]>(message: T) =>
  z.enum(message, { error: `accepts ${message.join(", ")}` })

export const KINDS = {
  arize: kind(["apiKey", "spaceKey"], ["baseUrl"], {
    apiKey: text,
    baseUrl: url.default("https://otlp.arize.com"),
    modelId: text,
    spaceKey: text,
  }),
  braintrust: kind(["apiKey"], ["baseUrl"], {
    apiKey: text,
    baseUrl: url.default("https://api.braintrust.dev"),
    projectId: text,
  }),
  clickhouse: kind(["password"], ["host"], {
    database: identifier,
    host: url,
    password: text,
    table: identifier.default("GATEWAY_TRACES"),
    username: text,
  }),
  datadog: kind(["apiKey"], ["url"], { apiKey: text, mlApp: text, url: url.default("https://api.datadoghq.com") }),
  grafana: kind(["apiKey"], ["baseUrl"], {
    apiKey: text,
    baseUrl: url.default("https://otlp-gateway-prod-us-west-0.grafana.net"),
    instanceId: text,
  }),
  langfuse: kind(["publicKey", "secretKey"], ["baseUrl"], {
    baseUrl: url.default("https://us.cloud.langfuse.com"),
    publicKey: text,
    secretKey: text,
  }),
  langsmith: kind(["apiKey"], ["endpoint"], {
    apiKey: text,
    endpoint: url.default("https://api.smith.langchain.com"),
    project: text.default("main"),
    workspaceId: text.optional(),
  }),
  newrelic: kind(["licenseKey"], [], { licenseKey: text, region: oneOf(["us", "eu"]).default("us") }),
  opik: kind(["apiKey"], [], { apiKey: text, projectName: text, workspace: text }),
  "otel-collector": kind([], ["endpoint"], { endpoint: url }),
  posthog: kind(["apiKey"], ["endpoint"], { apiKey: text, endpoint: url.default("https://us.i.posthog.com") }),
  ramp: kind(["apiKey"], ["baseUrl"], {
    apiKey: text,
    // The address of Ramp for gateways with this API.
    baseUrl: url.default("https://api.ramp.com/developer/v1/ai-usage/openrouter"),
  }),
  s3: kind(["accessKeyId", "secretAccessKey", "sessionToken"], ["endpoint"], {
    accessKeyId: text,
    bucketName: identifier,
    endpoint: url.optional(),
    pathTemplate: text.default("{prefix}/{date}"),
    prefix: text.default("gateway-traces"),
    region: identifier.optional(),
    secretAccessKey: text,
    sessionToken: text.optional(),
  }),
  sentry: kind(["dsn"], ["otlpEndpoint"], { dsn: text, otlpEndpoint: url }),
  snowflake: kind(["token"], [], {
    account: identifier,
    database: identifier.default("SNOWFLAKE_LEARNING_DB"),
    schema: identifier.default("PUBLIC"),
    table: identifier.default("GATEWAY_TRACES"),
    token: text,
    warehouse: identifier.default("COMPUTE_WH"),
  }),
  weave: kind(["apiKey"], ["baseUrl"], {
    apiKey: text,
    baseUrl: url.default("https://trace.wandb.ai"),
    entity: text,
    project: text,
  }),
  webhook: kind(["signingSecret"], ["url"], {
    method: oneOf(["POST", "PUT"]).default("POST"),
    signingSecret: text
      .regex(/^whsec_[A-Za-z0-9+/]{32,128}={0,2}$/, "must be whsec_ and at least 24 bytes in base64")
      .optional(),
    url,
  }),
} as const

function kind<T extends z.core.$ZodLooseShape>(secrets: readonly string[], urls: readonly string[], fields: T) {
  return { config: shape(fields), secrets, urls }
}

export type KindName = keyof typeof KINDS
export const KIND_NAMES = Object.keys(KINDS) as [KindName, ...KindName[]]

/** Decrypted configuration of a kind. */
export type ConfigOf<Name extends KindName> = z.infer<(typeof KINDS)[Name]["config"]>
export type Configured = { [Name in KindName]: { type: Name; config: ConfigOf<Name> } }[KindName]

/** Any kind's configuration, where the kind does not matter. */
export type Config = Record<string, unknown> & { headers?: Record<string, string> | undefined }

/** Whether a field of a kind's configuration is sealed. */
export function isSecret(type: KindName, name: string): boolean {
  return name === "headers" || KINDS[type].secrets.includes(name)
}

/** Defaults that the client libraries assume, for deployments that serve those. */
const CLIENT_DEFAULTS: { [Name in KindName]?: Config } = {
  clickhouse: { table: "OPENROUTER_TRACES" },
  s3: { prefix: "openrouter-traces" },
  snowflake: { table: "OPENROUTER_TRACES" },
}

export function defaultsOf(type: KindName, client: "service" | "openrouter"): Config {
  return client === "openrouter" ? (CLIENT_DEFAULTS[type] ?? {}) : {}
}
