import type * as z from "zod"
import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { toTimestamp } from "../support/time/time.ts"
import { withoutControls } from "../support/text/printable.ts"
import type { FilePage, FileRecord } from "./schemas.ts"
import type { FileRow } from "./table.ts"

export const FILE_PREFIX = "file_"
export const MAX_FILE_BYTES = 100 * 1024 * 1024

/** Total size of the files of one organization: FILES_QUOTA_BYTES, or 10 GiB. */
export function quotaBytes(env: Env): number {
  return configOf(env).FILES_QUOTA_BYTES
}

/** R2 key of a file's bytes. */
export function objectKey(row: Pick<FileRow, "id" | "organizationId" | "workspaceId">): string {
  return `${row.organizationId}/${row.workspaceId}/${row.id}`
}

/** A safe file name: no path, nothing that would break a header, and not empty. */
export function toFilename(result: string): string {
  const [last = ""] = result.split(/[/\\]/).slice(-1)
  const plain = withoutControls(last).replaceAll('"', "").trim()
  // The end of a long name may divide a character.
  return plain.slice(0, 255).toWellFormed() || "file"
}

export function toFileRecord(row: FileRow): z.infer<typeof FileRecord> {
  return {
    _shape: "openrouter",
    id: row.id,
    type: "file",
    filename: row.filename,
    mime_type: row.mimeType,
    size_bytes: row.sizeBytes,
    downloadable: isDownloadable(row),
    created_at: toTimestamp(row.createdAt),
    ...(row.expiresAt !== null && { expires_at: toTimestamp(row.expiresAt) }),
  }
}

/** Whether the gateway made the file. Uploads cannot be downloaded. */
export function isDownloadable({ source, batchId }: FileRow): boolean {
  return source !== "upload" || batchId !== null
}

/** `rows`: one more than the page if there are more. */
export function toFilePage(rows: readonly FileRow[], limit: number): z.infer<typeof FilePage> {
  const data = rows.slice(0, limit).map(toFileRecord)
  const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  const hasMore = rows.length > limit
  return {
    _shape: "openrouter",
    data,
    first_id: first,
    last_id: last,
    has_more: hasMore,
    cursor: hasMore ? last : null,
  }
}
