import { type BatchError, type FinalStatus, NOT_RUN_CODES } from "../../src/batches/batch.ts"
import { moveBatch, saveProgress } from "../../src/batches/progress-store.ts"
import type { BatchRow } from "../../src/batches/table.ts"
import type { Env } from "../../src/config/env.ts"
import { GatewayError } from "../../src/errors/errors.ts"
import { storeFile, newRow } from "../../src/files/upload/store-file.ts"
import { findFile } from "../../src/files/store.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import type { LineStore } from "./lines.ts"

type Ending = Exclude<FinalStatus, "failed">
type OutputDeps = { row: BatchRow; lines: LineStore; env: Env }

const QUOTA_RETRY_MS = 60_000

/** Errors of requests without a result, by the ending of the batch. */
const NOT_RUN: Readonly<Record<Ending, readonly [code: string, message: string]>> = {
  cancelled: [NOT_RUN_CODES.cancelled, "The batch was cancelled before this request ran."],
  expired: [NOT_RUN_CODES.expired, "The completion window of the batch ended before this request was complete."],
  completed: ["internal", "Something went wrong inside the gateway."],
}

/** Writes the files of a batch and ends it. Returns the time of the next attempt; null if it has ended. */
export async function finishBatch(ending: Ending, deps: OutputDeps): Promise<number | null> {
  const { row, lines, env } = deps
  try {
    const { completed, failed } = lines.progress()
    const outputFileId = completed > 0 ? await writeFile("output", lines.results("completed"), deps) : null
    const hasErrors = failed + lines.unfinished() > 0
    const errorFileId = hasErrors ? await writeFile("error", errorLines(ending, lines), deps) : null
    const files = { outputFileId, errorFileId, errors: [], progress: lines.progress() }
    await moveBatch(env.DB, row.id, { from: ["finalizing", "cancelling"], to: ending, now: Date.now(), ...files })
    return null
  } catch (thrown) {
    if (thrown instanceof GatewayError) return afterRejection(thrown, deps)
    throw thrown
  }
}

async function* errorLines(ending: Ending, lines: LineStore): AsyncGenerator<Uint8Array> {
  yield* lines.results("failed")
  yield* lines.withoutResult(...NOT_RUN[ending])
}

/** Returns the id of the file. An isolate that died after the file was complete has stored its id. */
async function writeFile(
  kind: "output" | "error",
  content: AsyncIterable<Uint8Array>,
  { row, lines, env }: OutputDeps,
): Promise<string> {
  const { organizationId, workspaceId, internId, keyHash } = row
  const written = lines.fact(`${kind}_file`)
  const scope = { organizationId, workspaceId, internId, onlyKey: null, mayExport: false }
  if (written !== undefined && (await findFile(env.DB, scope, written))) return written
  const mimeType = "application/x-ndjson"
  const made = { source: "upload", internId, keyHash, batchId: row.id } as const
  const about = { filename: `${row.id}_${kind}.jsonl`, mimeType, ...made }
  const file = newRow({ organizationId, workspaceId }, about)
  lines.setFileId(kind, file.id)
  const actor = { organizationId, keyHash: row.keyHash, ...row.origin.actor, ip: null, userAgent: null, at: Date.now() }
  const fields = async () => ({ expiresAfterS: row.origin.outputExpiresAfterS ?? null })
  return (await storeFile(env, { actor, row: file, content, mimeType: () => mimeType, fields })).id
}

/** If the workspace is deleted or its organization has no space for the files, the results are kept for a day. */
async function afterRejection(
  { code, message }: GatewayError,
  { row, lines, env }: OutputDeps,
): Promise<number | null> {
  const now = Date.now()
  const progress = lines.progress()
  const errors: BatchError[] = [{ code: "output_not_stored", message, param: null, line: null }]
  if (code === "payload_too_large" && now < row.expiresAt + DAY_MS) {
    await saveProgress(env.DB, row.id, { progress, errors, now })
    return now + QUOTA_RETRY_MS
  }
  await moveBatch(env.DB, row.id, { from: ["finalizing", "cancelling"], to: "failed", now, errors, progress })
  return null
}
