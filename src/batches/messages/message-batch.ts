import type * as z from "zod"
import { toTimestamp } from "../../support/time/time.ts"
import { type BatchStatus, isFinal, NO_PROGRESS } from "../batch.ts"
import type { MessageBatch } from "./message-batch-schemas.ts"
import type { BatchRow } from "../table.ts"

export const MESSAGES_ENDPOINT = "/v1/messages"

const FINAL = ["completed", "failed", "expired", "cancelled"] as const

/** A batch in the Messages format. `collectionUrl`: absolute URL of `/messages/batches`. */
export function toMessageBatch(row: BatchRow, collectionUrl: string): z.infer<typeof MessageBatch> {
  const { id, status, reached } = row
  const hasEnded = isFinal(status)
  const at = (time: number | undefined) => (time === undefined ? null : toTimestamp(time))
  const endedAt = FINAL.map((final) => reached[final]).find((time) => time !== undefined)
  return {
    id,
    type: "message_batch",
    processing_status: hasEnded ? "ended" : status === "cancelling" ? "canceling" : "in_progress",
    request_counts: countsOf(row),
    created_at: toTimestamp(row.createdAt),
    expires_at: toTimestamp(row.expiresAt),
    ended_at: hasEnded ? at(endedAt) : null,
    cancel_initiated_at: at(reached.cancelling),
    archived_at: null,
    results_url: hasEnded ? `${collectionUrl}/${id}/results` : null,
  }
}

type Counts = z.infer<typeof MessageBatch>["request_counts"]

/** As at Anthropic, requests are counted by result only when the batch has ended. */
function countsOf({ status, progress }: BatchRow): Counts {
  const { total: all, completed, failed, cancelled, expired } = { ...NO_PROGRESS, ...progress }
  if (!isFinal(status)) return { processing: all, succeeded: 0, errored: 0, canceled: 0, expired: 0 }
  if (status === "failed") return { processing: 0, succeeded: 0, errored: all, canceled: 0, expired: 0 }
  // A request without a result has the ending of its batch.
  const rest = all - completed - failed
  const restOf = (ending: BatchStatus) => (status === ending ? rest : 0)
  return {
    processing: 0,
    succeeded: completed,
    errored: failed - cancelled - expired + restOf("completed"),
    canceled: cancelled + restOf("cancelled"),
    expired: expired + restOf("expired"),
  }
}
