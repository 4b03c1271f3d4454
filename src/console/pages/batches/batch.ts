import type { Batch } from "../../api/types.ts"
import { bytes, count } from "../../format/number.ts"
import type { Tone } from "../../ui/status.tsx"

/** Texts about a batch. Times of a batch are Unix seconds. */

/** Files with a purpose are in the format of OpenAI's API, others in the gateway's. */
export type InputFile = { filename: string } & ({ bytes: number } | { size_bytes: number })

export function describeFile(file: InputFile): string {
  return `${file.filename}, ${bytes("bytes" in file ? file.bytes : file.size_bytes)}`
}

export function isUnfinished({ status }: Batch): boolean {
  return ["validating", "in_progress", "finalizing", "cancelling"].includes(status)
}

export function mayCancel({ status }: Batch): boolean {
  return status === "validating" || status === "in_progress"
}

const TEXTS: Record<Batch["status"], string> = {
  validating: "reading the file",
  in_progress: "running",
  finalizing: "writing the results",
  completed: "completed",
  failed: "failed",
  expired: "expired",
  cancelling: "cancelling",
  cancelled: "cancelled",
}

export function stateOf(batch: Batch): { tone: Tone; text: string } {
  const { status, request_counts: counts } = batch
  const text = TEXTS[status]
  if (isUnfinished(batch)) return { tone: batch.errors ? "warn" : "busy", text }
  if (status === "completed") {
    return counts.failed === 0
      ? { tone: "good", text }
      : { tone: "warn", text: `completed, ${count(counts.failed)} failed` }
  }
  return { tone: status === "cancelled" ? "off" : "bad", text }
}

/** Its given name, otherwise the end of its id. */
export function titleOf({ id, metadata }: Pick<Batch, "id" | "metadata">): string {
  return metadata?.["name"] ?? metadata?.["description"] ?? metadata?.["filename"] ?? `batch …${id.slice(-8)}`
}

export function endOf(batch: Batch): number | null {
  return batch.completed_at ?? batch.failed_at ?? batch.cancelled_at ?? batch.expired_at
}

export const ms = (seconds: number | null) => (seconds === null ? null : seconds * 1_000)
