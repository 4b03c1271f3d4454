import type { Env } from "../config/env.ts"
import { objectNamed } from "../config/objects.ts"
import { listStalledBatches } from "./progress-store.ts"

/** The Durable Object of a batch: the lines of its input, their results, and the alarm that runs them. */
export interface BatchRpc extends Rpc.DurableObjectBranded {
  /** Starts or continues the batch, after its row was written or changed. */
  wake(id: string): Promise<void>
}

export async function wakeBatch(env: Env, id: string): Promise<void> {
  await objectNamed<BatchRpc>(env, "BATCH", id).wake(id)
}

/** A running batch saves its progress more often than this. */
const STALLED_AFTER_MS = 3_600_000
const MAX_PER_RUN = 500

/** Wakes batches whose alarm was never set, because the Worker that created them died. */
export async function wakeStalledBatches(env: Env, now: number): Promise<void> {
  for (const id of await listStalledBatches(env.DB, now - STALLED_AFTER_MS, MAX_PER_RUN)) await wakeBatch(env, id)
}
