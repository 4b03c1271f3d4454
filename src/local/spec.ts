import type { V4WorkerOptions } from "miniflare"

export type Stage = "development" | "production"

export type Migration = { name: string; statements: readonly string[] }

/** `dist/worker.json`: what `wrangler.toml` and `d1-migrations` say, so that a run needs neither of them. No secret. */
export type WorkerSpec = {
  /** Databases, namespaces, buckets, queues, Durable Objects and the compatibility date. */
  resources: Partial<V4WorkerOptions>
  /** In UTC. */
  crons: readonly string[]
  vars: Record<Stage, Record<string, string>>
  /** In the order in which they are applied. */
  migrations: readonly Migration[]
}
