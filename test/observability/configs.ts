/** A configuration of every kind, and the names of its secrets. */
export const CONFIGS: Record<string, { config: Record<string, string>; secrets: string[] }> = {
  arize: {
    config: { apiKey: "arize-key-0123456789abcdef", modelId: "m", spaceKey: "arize-space-0123456789abcd" },
    secrets: ["apiKey", "spaceKey"],
  },
  braintrust: { config: { apiKey: "braintrust-key-0123456789", projectId: "p" }, secrets: ["apiKey"] },
  clickhouse: {
    config: {
      database: "default",
      host: "https://clickhouse.example.com:8443",
      password: "clickhouse-password-0123",
      username: "gateway",
    },
    secrets: ["password"],
  },
  datadog: { config: { apiKey: "datadog-key-0123456789abc", mlApp: "app" }, secrets: ["apiKey"] },
  grafana: { config: { apiKey: "grafana-key-0123456789abc", instanceId: "42" }, secrets: ["apiKey"] },
  langfuse: {
    config: { publicKey: "pk-lf-0123456789abcdefABCD", secretKey: "sk-lf-0123456789abcdefEFGH" },
    secrets: ["publicKey", "secretKey"],
  },
  langsmith: { config: { apiKey: "langsmith-key-0123456789ab" }, secrets: ["apiKey"] },
  newrelic: { config: { licenseKey: "newrelic-key-0123456789abc" }, secrets: ["licenseKey"] },
  opik: { config: { apiKey: "opik-key-0123456789abcdefg", projectName: "p", workspace: "w" }, secrets: ["apiKey"] },
  "otel-collector": { config: { endpoint: "https://otel.example.com:4318" }, secrets: [] },
  posthog: { config: { apiKey: "phc_posthog-key-0123456789" }, secrets: ["apiKey"] },
  ramp: { config: { apiKey: "ramp-key-0123456789abcdefg" }, secrets: ["apiKey"] },
  s3: {
    config: {
      accessKeyId: "AKIAS3ACCESSKEYID0123",
      bucketName: "traces",
      secretAccessKey: "s3-secret-key-0123456789ab",
      sessionToken: "s3-session-token-0123456789",
    },
    secrets: ["accessKeyId", "secretAccessKey", "sessionToken"],
  },
  sentry: {
    config: {
      dsn: "https://0123456789abcdef@o1.ingest.sentry.io/2",
      otlpEndpoint: "https://o1.ingest.sentry.io/api/2/integration/otlp",
    },
    secrets: ["dsn"],
  },
  snowflake: { config: { account: "org-account", token: "snowflake-token-0123456789" }, secrets: ["token"] },
  weave: { config: { apiKey: "weave-key-0123456789abcdefg", entity: "us", project: "p" }, secrets: ["apiKey"] },
  webhook: {
    config: { signingSecret: `whsec_${btoa("0123456789abcdef0123456789abcdef")}`, url: "https://hooks.example.com/in" },
    secrets: ["signingSecret"],
  },
}
