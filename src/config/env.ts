import type { variables } from "./variables.ts"
import type { BroadcastMessage } from "./messages.ts"

/** Secrets are checked at the first request (app/configuration.ts). */
export interface Bindings {
  DB: D1Database
  CATALOG: KVNamespace
  /** The bytes of files, and the content of calls. */
  FILES: R2Bucket
  LEDGER: DurableObjectNamespace
  INTERN: DurableObjectNamespace
  /** One object per destination with a backlog (observability/delivery). */
  DELIVERY: DurableObjectNamespace
  /** One object per intern in a container (durable-objects/container); absent where no container is bound. */
  INTERN_CONTAINER?: DurableObjectNamespace
  /** One object per unfinished batch (batches). */
  BATCH: DurableObjectNamespace
  /** One object per realtime session (inference/realtime). */
  REALTIME: DurableObjectNamespace
  /** Calls that wait for export to destinations (observability/delivery). */
  BROADCAST: Queue<BroadcastMessage>
  /** The outer rate limit against floods (access/flood.ts). */
  RATE?: RateLimit
  /** A data point for every call (observability/metrics/metrics.ts); optional. */
  METRICS?: AnalyticsEngineDataset
  /** The embedded upstream; absent in production. */
  EMBEDDED?: Fetcher
  /** On one machine: connects to public addresses only, unlike `fetch` there (local/direct-outbound.ts). */
  PUBLIC_NETWORK?: Fetcher
  /** The built console (dist/console). */
  ASSETS?: Fetcher

  MASTER_KEY?: string
  BOOTSTRAP_MANAGEMENT_KEY?: string
}

/** Bindings and variables of a deployment (variables.ts). Keys and base URLs of providers have open-ended names. */
export interface Env extends Bindings, Partial<Record<keyof typeof variables, string>> {}
