import type { BroadcastMessage } from "./messages.ts"

/** What a deployment binds. Secrets are checked at the first request (app/configuration.ts). */
export interface Env {
  DB: D1Database
  CATALOG: KVNamespace
  /** The bytes of files, and what was said in calls. */
  FILES: R2Bucket
  LEDGER: DurableObjectNamespace
  INTERN: DurableObjectNamespace
  /** Calls on their way to destinations (observability/delivery). */
  BROADCAST: Queue<BroadcastMessage>
  /** The outer guard against floods (access/flood.ts). */
  RATE?: RateLimit
  /** A data point for every call (observability/metrics.ts); absent where nobody wants them. */
  METRICS?: AnalyticsEngineDataset
  /** The embedded upstream; absent in production. */
  EMBEDDED?: Fetcher

  STAGE: string
  MASTER_KEY?: string
  /** The former MASTER_KEY, while POST /secrets/rotate has not put all data keys under the new one. */
  MASTER_KEY_PREVIOUS?: string
  BOOTSTRAP_MANAGEMENT_KEY?: string
  /** JSON: OpenAI-compatible servers added by the operator (providers/custom.ts). */
  CUSTOM_PROVIDERS?: string
  /** JSON of the same shape: servers that `npm start` found on their usual local ports. */
  LOCAL_PROVIDERS?: string
  /** JSON: exact hostnames and their regions (http/region.ts). */
  REGIONAL_HOSTS?: string
  /** JSON: slugs of built-in providers and the regions they work in (providers/configured.ts). */
  PROVIDER_REGIONS?: string
  /** JSON: whose tokens are good for a key of which workspace (oauth/policies.ts). */
  OAUTH_TRUSTED_ISSUERS?: string
  /** Milliseconds, all optional: see inference/timers.ts for the defaults. */
  FIRST_FRAME_TIMEOUT_MS?: string
  IDLE_TIMEOUT_MS?: string
  TOTAL_TIMEOUT_MS?: string
  EARLY_COMMIT_MS?: string
  KEEPALIVE_MS?: string
  HOLD_TTL_MS?: string
  /** Bytes that the files of an organization may have in all (files/file.ts). */
  FILES_QUOTA_BYTES?: string
  /** `openrouter`: answers that clients of that name read more strictly than the interface has them (scim/mapping-routes.ts). */
  CLIENT_DIALECT?: string
  /** Where daemons in containers reach this gateway: its origin (interns/open-intern.ts). */
  PUBLIC_URL?: string
  /** The domain of the interns' hostnames (interns/intern.ts). */
  INTERN_DOMAIN?: string
  /** Where the agents of new interns run: embedded, daemon or cloudflare-container. */
  INTERN_HOST?: string
  /** Milliseconds, optional: the silence before a keepalive, and what an operation on an intern's life may take. */
  INTERN_KEEPALIVE_MS?: string
  INTERN_LIFECYCLE_TIMEOUT_MS?: string
  /** `host` or `host:port`, by commas: what destinations may name although nobody else could reach it (outbound/send.ts). */
  PRIVATE_HOSTS?: string
  /** JSON, development only: hosts of secrets and the local servers that stand in for them (vault/egress-world.ts). */
  EGRESS_TEST_HOSTS?: string
  /** How long the audit log is kept (audit/retention.ts). */
  AUDIT_RETENTION_DAYS?: string
}

/** Environment variables and secrets by name, for what is looked up by a name known only at run time. */
export function variable(env: Env, name: string): string | undefined {
  const value = (env as unknown as Record<string, unknown>)[name]
  return typeof value === "string" && value !== "" ? value : undefined
}
