import type { KindName } from "../../../observability/kinds.ts"

export type ConfigField = {
  name: string
  label: string
  isSecret?: boolean
  isOptional?: boolean
  /** The default for an empty field, or an example. */
  placeholder?: string
  options?: readonly string[]
}

const secret = (name: string, label: string, placeholder?: string): ConfigField => ({
  name,
  label,
  isSecret: true,
  ...(placeholder !== undefined && { placeholder }),
})
const required = (name: string, label: string, placeholder?: string): ConfigField => ({
  name,
  label,
  ...(placeholder !== undefined && { placeholder }),
})
const optional = (name: string, label: string, placeholder: string): ConfigField => ({
  name,
  label,
  placeholder,
  isOptional: true,
})

/** The fields of each kind, required ones first. `headers`, which each kind accepts, has a separate field. */
export const DESTINATION_KINDS: Readonly<Record<KindName, { label: string; fields: readonly ConfigField[] }>> = {
  "otel-collector": {
    label: "OpenTelemetry collector",
    fields: [required("endpoint", "Endpoint", "https://otel.example.com/v1/traces")],
  },
  webhook: {
    label: "Webhook",
    fields: [
      required("url", "URL", "https://example.com/calls"),
      { ...optional("method", "Method", "POST"), options: ["POST", "PUT"] },
      { ...secret("signingSecret", "Signing secret", "whsec_…"), isOptional: true },
    ],
  },
  s3: {
    label: "S3 bucket",
    fields: [
      required("bucketName", "Bucket", "calls"),
      secret("accessKeyId", "Access key id"),
      secret("secretAccessKey", "Secret access key"),
      optional("region", "Region", "eu-central-1"),
      optional("endpoint", "Endpoint", "https://s3.example.com, if not AWS"),
      optional("prefix", "Prefix", "gateway-traces"),
      optional("pathTemplate", "Path", "{prefix}/{date}"),
      { ...secret("sessionToken", "Session token"), isOptional: true },
    ],
  },
  langfuse: {
    label: "Langfuse",
    fields: [
      secret("publicKey", "Public key", "pk-lf-…"),
      secret("secretKey", "Secret key", "sk-lf-…"),
      optional("baseUrl", "Base URL", "https://us.cloud.langfuse.com"),
    ],
  },
  langsmith: {
    label: "LangSmith",
    fields: [
      secret("apiKey", "API key"),
      optional("project", "Project", "main"),
      optional("workspaceId", "Workspace id", "workspace of the key"),
      optional("endpoint", "Endpoint", "https://api.smith.langchain.com"),
    ],
  },
  datadog: {
    label: "Datadog",
    fields: [
      secret("apiKey", "API key"),
      required("mlApp", "ML application", "gateway"),
      optional("url", "URL", "https://api.datadoghq.com"),
    ],
  },
  grafana: {
    label: "Grafana Cloud",
    fields: [
      secret("apiKey", "API key"),
      required("instanceId", "Instance id"),
      optional("baseUrl", "Base URL", "https://otlp-gateway-prod-us-west-0.grafana.net"),
    ],
  },
  newrelic: {
    label: "New Relic",
    fields: [secret("licenseKey", "License key"), { ...optional("region", "Region", "us"), options: ["us", "eu"] }],
  },
  sentry: {
    label: "Sentry",
    fields: [secret("dsn", "DSN"), required("otlpEndpoint", "OTLP endpoint", "https://….ingest.sentry.io/…")],
  },
  posthog: {
    label: "PostHog",
    fields: [secret("apiKey", "API key"), optional("endpoint", "Endpoint", "https://us.i.posthog.com")],
  },
  clickhouse: {
    label: "ClickHouse",
    fields: [
      required("host", "Host", "https://clickhouse.example.com:8443"),
      required("database", "Database"),
      required("username", "User"),
      secret("password", "Password"),
      optional("table", "Table", "GATEWAY_TRACES"),
    ],
  },
  snowflake: {
    label: "Snowflake",
    fields: [
      required("account", "Account"),
      secret("token", "Token"),
      optional("database", "Database", "SNOWFLAKE_LEARNING_DB"),
      optional("schema", "Schema", "PUBLIC"),
      optional("table", "Table", "GATEWAY_TRACES"),
      optional("warehouse", "Warehouse", "COMPUTE_WH"),
    ],
  },
  arize: {
    label: "Arize",
    fields: [
      secret("apiKey", "API key"),
      secret("spaceKey", "Space key"),
      required("modelId", "Model id"),
      optional("baseUrl", "Base URL", "https://otlp.arize.com"),
    ],
  },
  braintrust: {
    label: "Braintrust",
    fields: [
      secret("apiKey", "API key"),
      required("projectId", "Project id"),
      optional("baseUrl", "Base URL", "https://api.braintrust.dev"),
    ],
  },
  opik: {
    label: "Opik",
    fields: [secret("apiKey", "API key"), required("workspace", "Workspace"), required("projectName", "Project")],
  },
  weave: {
    label: "Weights & Biases Weave",
    fields: [
      secret("apiKey", "API key"),
      required("entity", "Entity"),
      required("project", "Project"),
      optional("baseUrl", "Base URL", "https://trace.wandb.ai"),
    ],
  },
  ramp: {
    label: "Ramp",
    fields: [
      secret("apiKey", "API key"),
      optional("baseUrl", "Base URL", "https://api.ramp.com/developer/v1/ai-usage/openrouter"),
    ],
  },
}

/** One per line, `name: value`. */
export function readHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":")
      return at === -1 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

export function writeHeaders(headers: Readonly<Record<string, unknown>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join("\n")
}
