import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import type { V4WorkerOptions } from "miniflare"
import { dist } from "./paths.ts"

export type Stage = "development" | "production"

export type Migration = { name: string; statements: readonly string[] }

/** Input of a migration of local state. */
export type DatabaseSpec = Pick<WorkerSpec, "resources" | "migrations">

/** `dist/worker.json`: the content of `wrangler.toml` and `d1-migrations`, so that a run needs neither. No secret. */
export type WorkerSpec = {
  /** Databases, namespaces, buckets, queues, Durable Objects and the compatibility date. */
  resources: Partial<V4WorkerOptions>
  /** In UTC. */
  crons: readonly string[]
  vars: Record<Stage, Record<string, string>>
  /** Variables and secrets that the Worker reads, besides keys and base URLs of providers. */
  names: readonly string[]
  /** In the order in which they are applied. */
  migrations: readonly Migration[]
}

const FILE = path.join(dist, "worker.json")

export function hasBuild(): boolean {
  return existsSync(FILE)
}

export function readSpec(): WorkerSpec {
  return JSON.parse(readFileSync(FILE, "utf8"))
}
