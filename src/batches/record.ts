import type * as z from "zod"
import { type BatchStatus, COMPLETION_WINDOW, NO_PROGRESS } from "./batch.ts"
import { nanoToUsd } from "../money/money.ts"
import type { BatchRecord } from "./schemas.ts"
import type { BatchRow } from "./table.ts"

const toSeconds = (ms: number) => Math.floor(ms / 1_000)

/** `costNano`: if the client requested it. */
export function toBatchRecord(row: BatchRow, costNano?: number): z.infer<typeof BatchRecord> {
  const { reached } = row
  const progress = { ...NO_PROGRESS, ...row.progress }
  const reachedAt = (status: BatchStatus) => (reached[status] === undefined ? null : toSeconds(reached[status]))
  return {
    id: row.id,
    object: "batch",
    endpoint: row.endpoint,
    errors: row.errors.length === 0 ? null : { object: "list", data: [...row.errors] },
    input_file_id: row.inputFileId,
    completion_window: COMPLETION_WINDOW,
    status: row.status,
    output_file_id: row.outputFileId,
    error_file_id: row.errorFileId,
    created_at: toSeconds(row.createdAt),
    in_progress_at: reachedAt("in_progress"),
    expires_at: toSeconds(row.expiresAt),
    finalizing_at: reachedAt("finalizing"),
    completed_at: reachedAt("completed"),
    failed_at: reachedAt("failed"),
    expired_at: reachedAt("expired"),
    cancelling_at: reachedAt("cancelling"),
    cancelled_at: reachedAt("cancelled"),
    request_counts: { total: progress.total, completed: progress.completed, failed: progress.failed },
    usage: {
      input_tokens: progress.inputTokens,
      input_tokens_details: { cached_tokens: progress.cachedTokens },
      output_tokens: progress.outputTokens,
      output_tokens_details: { reasoning_tokens: progress.reasoningTokens },
      total_tokens: progress.inputTokens + progress.outputTokens,
    },
    metadata: row.metadata,
    ...(row.origin.provider !== undefined && { provider: row.origin.provider }),
    ...(costNano !== undefined && { cost: nanoToUsd(costNano) }),
  }
}
