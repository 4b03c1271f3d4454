import * as z from "zod"
import { Price } from "../money/pricing.ts"
import { providerVariables } from "./provider-variables.ts"
import {
  define,
  DNS_URL,
  domain,
  header,
  milliseconds,
  oneOf,
  text,
  url,
  usd,
  integerOf,
  type Variable,
} from "./variable.ts"

/**
 * Every variable that the Worker reads, except keys and base URLs of providers. docs/configuration.md is generated from
 * it.
 */
export const variables = {
  MASTER_KEY_PREVIOUS: define({
    schema: text.optional(),
    section: "general",
    effect: "The former `MASTER_KEY` during a [key rotation](operations.md#key-rotation).",
    isSecret: true,
  }),
  METRICS_TOKEN: define({
    schema: text.min(16, "must be at least 16 characters").optional(),
    section: "general",
    effect: "Token of [`GET /metrics`](observability.md#metrics), which then has all organizations. Not a key.",
    isSecret: true,
  }),
  STAGE: define({
    schema: oneOf(["development", "production"]).optional(),
    section: "general",
    effect:
      "Set in `wrangler.toml`. In `production` plain HTTP to host names is allowed, because Cloudflare's network connects to public addresses only; `npm start` and `npm run serve` allow it in both.",
  }),
  LOG_CALLS: define({
    schema: oneOf(["all", "errors", "off"]).default("all"),
    section: "general",
    effect:
      "Which calls write a line to the log: model, provider, status, tokens, cost and duration, as JSON. See [reading logs](operations.md#logs).",
  }),
  REGIONAL_HOSTS: define({
    schema: text.default("{}"),
    section: "general",
    effect:
      'JSON object of exact hostnames and regions: `{"eu.example.com":"europe"}`. See [routing](routing.md#regional-hostnames).',
  }),
  JURISDICTION: define({
    schema: oneOf(["eu", "us", "fedramp"]).optional(),
    section: "general",
    effect: "Where Durable Objects run and store data; it cannot be changed. See [here](operations.md#data-location).",
  }),
  PUBLIC_URL: define({
    schema: url("https://gateway.example.com").optional(),
    section: "general",
    effect: "Origin at which daemons and containers connect to this gateway. Required for the container host.",
    unset: "request origin",
  }),
  CLIENT_IP_HEADER: define({
    schema: header.optional(),
    section: "general",
    effect:
      "Header in which a trusted proxy states the address of the client, such as `x-forwarded-for`, whose last address counts. For [self-hosting](self-hosting.md) behind a proxy.",
    unset: "`CF-Connecting-IP` on Cloudflare, otherwise the address of the connection",
  }),
  CLIENT_DIALECT: define({
    schema: oneOf(["service", "openrouter"]).default("service"),
    section: "general",
    effect:
      "`openrouter` changes the prefix of intern questions to `openrouter.`, the status of a created SCIM mapping to 201, and default names of destinations to `openrouter-traces` and `OPENROUTER_TRACES`. The chunk with the usage of a chat stream has an empty choice, without which LangChain's client does not read the usage.",
  }),

  FIRST_FRAME_TIMEOUT_MS: define({
    schema: milliseconds(300_000),
    section: "timeouts",
    effect: "From dispatch to the first content of a stream, or to a complete JSON response.",
  }),
  IDLE_TIMEOUT_MS: define({
    schema: milliseconds(300_000),
    section: "timeouts",
    effect: "Between two chunks of an upstream stream. Reasoning models may send nothing for minutes.",
  }),
  FIRST_BYTE_TIMEOUT_MS: define({
    schema: milliseconds(60_000),
    section: "timeouts",
    effect: "From dispatch of a stream to the response headers, where another target can take over.",
  }),
  TOTAL_TIMEOUT_MS: define({ schema: milliseconds(1_800_000), section: "timeouts", effect: "For a complete stream." }),
  EARLY_COMMIT_MS: define({
    schema: milliseconds(4_000),
    section: "timeouts",
    effect: "After this, a stream gets status 200 and a heartbeat before content exists.",
  }),
  KEEPALIVE_MS: define({
    schema: milliseconds(10_000),
    section: "timeouts",
    effect: "Idle time before a heartbeat is written.",
  }),
  HOLD_TTL_MS: define({
    schema: milliseconds(120_000),
    section: "timeouts",
    effect: "Life of a hold without renewal. Afterwards the ledger charges its estimate.",
  }),
  REALTIME_MAX_SESSION_MS: define({
    schema: milliseconds(3_600_000),
    section: "timeouts",
    effect: "For a realtime session.",
  }),
  INTERN_KEEPALIVE_MS: define({
    schema: milliseconds(30_000),
    section: "timeouts",
    effect: "Idle time before a heartbeat in the stream of an intern.",
  }),
  INTERN_LIFECYCLE_TIMEOUT_MS: define({
    schema: milliseconds(10_000),
    section: "timeouts",
    effect: "For create, update, provision, suspend and delete of an intern.",
  }),

  FREE_REQUESTS_PER_MINUTE: define({
    schema: integerOf("requests", 0, 20),
    section: "limits",
    effect: "Requests on `:free` models per organization and minute.",
  }),
  FREE_REQUESTS_PER_DAY: define({
    schema: integerOf("requests", 0, 50),
    section: "limits",
    effect: "The same per UTC day.",
  }),
  FREE_REQUESTS_PER_DAY_PAID: define({
    schema: integerOf("requests", 0, 1_000),
    section: "limits",
    effect: "The same once `FREE_PAID_FROM_USD` were credited.",
  }),
  FREE_PAID_FROM_USD: define({
    schema: usd.default(10),
    section: "limits",
    effect: "Total credit from which the higher daily limit applies.",
  }),
  FILES_QUOTA_BYTES: define({
    schema: integerOf("bytes", 0, 10 * 1024 ** 3),
    section: "limits",
    effect: "Bytes of files per organization. The default is 10 GiB.",
  }),
  GENERATION_RETENTION_DAYS: define({
    schema: integerOf("days", 35, 90),
    section: "limits",
    effect: "Days that generations and logged content are kept. The least keeps every call of a monthly limit.",
  }),
  AUDIT_RETENTION_DAYS: define({
    schema: integerOf("days", 1, 365),
    section: "limits",
    effect: "Days that the audit log is kept.",
  }),

  ...providerVariables,

  WEB_SEARCH_ENGINE: define({
    schema: text.optional(),
    section: "tools",
    effect: 'Engine for `engine: "auto"`.',
    unset: "first configured, in the order above",
  }),
  WEB_SEARCH_PRICE: define({
    schema: Price.default("0"),
    section: "tools",
    effect: "USD per search that the account is charged.",
  }),
  WEB_FETCH_ALLOWED_HOSTS: define({
    schema: text.default(""),
    section: "tools",
    effect:
      "`host` (default port) or `host:port`, separated by commas: private hosts that `web_fetch` and URLs of images, files and videos may access.",
  }),
  WEB_FETCH_DNS_URL: define({
    schema: url(DNS_URL).default(DNS_URL),
    section: "tools",
    effect: "DNS over HTTPS for the address check.",
  }),
  PRIVATE_HOSTS: define({
    schema: text.default(""),
    section: "tools",
    effect:
      "Hosts for destinations, pull directories and media, also by http. `host` opens all its ports. `wrangler.toml` sets `127.0.0.1,localhost` for development.",
  }),
  MODERATION_MODEL: define({
    schema: text.default("omni-moderation-latest"),
    section: "tools",
    effect: "Model of the `moderation` plugin.",
  }),
  CONTENT_CHECKS: define({
    schema: text.default("[]"),
    section: "tools",
    effect:
      "JSON array of services that judge the texts of calls for guardrails. See [external checks](guardrails.md#external-checks).",
    isSecret: true,
  }),

  OAUTH_TRUSTED_ISSUERS: define({
    schema: text.default("[]"),
    section: "identity",
    effect: "JSON array of issuers whose tokens are exchanged for keys. See [OAuth](oauth.md#workloads).",
  }),
  OIDC_ISSUER: define({
    schema: url("https://login.example.com").optional(),
    section: "identity",
    effect:
      "Issuer of the OpenID Connect provider with which people sign in to the console, exactly as its metadata names it. See [console](console.md#sign-in-with-openid-connect).",
    unset: "sign-in with keys only",
  }),
  OIDC_CLIENT_ID: define({
    schema: text.optional(),
    section: "identity",
    effect: "The gateway's client id at that provider. Required with `OIDC_ISSUER`.",
  }),
  OIDC_CLIENT_SECRET: define({
    schema: text.optional(),
    section: "identity",
    effect: "Secret of that client.",
    unset: "a public client: PKCE alone",
    isSecret: true,
  }),
  OIDC_NAME: define({
    schema: text.max(40, "must be at most 40 characters").optional(),
    section: "identity",
    effect: "Name of the provider on the button, such as `Acme SSO`.",
    unset: "host of the issuer",
  }),
  OIDC_UNVERIFIED_EMAIL: define({
    schema: oneOf(["refuse", "accept"]).default("refuse"),
    section: "identity",
    effect:
      "`accept` trusts an email without `email_verified`: only for a provider whose administrators alone set emails, such as a single Entra ID tenant.",
  }),

  INTERN_DOMAIN: define({
    schema: domain.default("interns.localhost"),
    section: "interns",
    effect: "Domain of the hostnames of interns, `<name>-<id>.<domain>`. Needs a wildcard route.",
  }),
  INTERN_HOST: define({
    schema: oneOf(["embedded", "daemon", "cloudflare-container"]).default("embedded"),
    section: "interns",
    effect: "Host of new interns.",
  }),
  INTERN_MODEL: define({
    schema: text.optional(),
    section: "interns",
    effect: "Model of interns that were created without one, as `author/slug`.",
    unset: "such an intern is not provisioned",
  }),
  EGRESS_TEST_HOSTS: define({
    schema: text.optional(),
    section: "interns",
    effect:
      "Development only: JSON object of hosts of secrets and local https origins that replace them. Outside development an error.",
  }),
} as const

/** The parsed variables by name. */
export type Config = { [Name in keyof typeof variables]: z.infer<(typeof variables)[Name]["schema"]> }

/** With a message for each variable that does not parse. */
export type ParsedConfig = { config: Config; faults: readonly string[] }

export function parseVariables(env: object): ParsedConfig {
  const faults: string[] = []
  const values = Object.entries<Variable>(variables).map(([name, { schema, isSecret }]) => {
    const value = valueOf(env, name)
    const result = schema.safeParse(value)
    if (result.success) return [name, result.data]
    const shown = isSecret ? "" : `, but is ${JSON.stringify(value)}`
    faults.push(`${name}: ${result.error.issues[0]?.message ?? "is not valid"}${shown}.`)
    return [name, schema.safeParse(undefined).data]
  })
  return { config: Object.fromEntries(values) as Config, faults }
}

/** A variable by its name. An empty value counts as unset. */
export function valueOf(env: object, name: string): string | undefined {
  const value: unknown = Reflect.get(env, name)
  return typeof value === "string" && value !== "" ? value : undefined
}
