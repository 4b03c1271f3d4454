import { existsSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare"
import { migrate, newBatchWorker } from "./migrate.ts"
import type { DatabaseSpec } from "./spec.ts"

/** Where wrangler dev stores its state under the same folder. */
export const persistencePath = (stateDir: string) => path.join(stateDir, "v3")

const recordOf = (stateDir: string) => path.join(stateDir, "schema")

/** Whether `newest`, the name of a migration, is recorded next to the state. */
export function isMigrated(stateDir: string, newest: string): boolean {
  const record = recordOf(stateDir)
  return existsSync(record) && readFileSync(record, "utf8") === newest
}

/**
 * Applies new migrations before the gateway listens, so that no client meets a schema older than the code. Uses a
 * runtime with only the database; starts none if the newest migration is recorded next to the state.
 */
export async function migrateState(spec: DatabaseSpec, worker: string, stateDir: string): Promise<void> {
  const newest = spec.migrations.at(-1)?.name ?? ""
  if (isMigrated(stateDir, newest)) return
  const { d1Databases } = spec.resources
  const { options, batchBy } = newBatchWorker()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      host: "127.0.0.1",
      port: 0,
      log: new Log(LogLevel.NONE),
      resourcePersistencePath: persistencePath(stateDir),
      workers: [{ name: worker, ...options, ...(d1Databases && { d1Databases }) }],
    }),
  )
  try {
    const batch = batchBy((init) => miniflare.dispatchFetch("http://migrations/", init))
    await migrate(batch, spec.migrations)
  } finally {
    await miniflare.dispose()
  }
  writeFileSync(recordOf(stateDir), newest)
}
