import type * as z from "zod"
import { toFilePage, toFileRecord } from "./file.ts"
import { toProviderDeleted } from "./provider-files.ts"
import type { FileDeleted, FilePage, FileRecord, ProviderFileResponse } from "./schemas.ts"
import type { FileRow } from "./table.ts"

/**
 * Files in the format of OpenAI's API, for its clients: some of them fail on other types of fields. Most name it in a
 * header. The others are known by the purpose of the file, which only this API has.
 */

type OpenAiFile = z.infer<typeof ProviderFileResponse>

const HEADERS = ["openai-beta", "openai-organization", "openai-project"]

export function isOpenAiClient(headers: Headers): boolean {
  if (headers.has("anthropic-version")) return false
  return /openai/i.test(headers.get("user-agent") ?? "") || HEADERS.some((name) => headers.has(name))
}

export function toFile(row: FileRow, headers: Headers): z.infer<typeof FileRecord> | OpenAiFile {
  return isOpenAiFile(row, headers) ? toOpenAiFile(row) : toFileRecord(row)
}

export function toDeleted(row: FileRow, headers: Headers): z.infer<typeof FileDeleted> | OpenAiFile {
  if (isOpenAiFile(row, headers)) return toProviderDeleted("openai", row.id)
  return { _shape: "openrouter", id: row.id, type: "file_deleted" }
}

function isOpenAiFile({ purpose }: FileRow, headers: Headers): boolean {
  return isOpenAiClient(headers) || (purpose !== null && !headers.has("anthropic-version"))
}

/** `rows`: one more than the page if there are more. */
export function toPage(
  rows: readonly FileRow[],
  limit: number,
  isOpenAi: boolean,
): z.infer<typeof FilePage> | OpenAiFile {
  const page = toFilePage(rows, limit)
  if (!isOpenAi) return page
  const { first_id, last_id, has_more } = page
  const data = rows.slice(0, limit).map(toOpenAiFile)
  return { _shape: "openai", object: "list", data, first_id, last_id, has_more }
}

function toOpenAiFile({ id, filename, sizeBytes, purpose, batchId, createdAt, expiresAt }: FileRow): OpenAiFile {
  return {
    _shape: "openai",
    id,
    object: "file",
    filename,
    bytes: sizeBytes,
    purpose: purpose ?? (batchId === null ? "user_data" : "batch_output"),
    status: "processed",
    created_at: Math.floor(createdAt / 1_000),
    ...(expiresAt !== null && { expires_at: Math.floor(expiresAt / 1_000) }),
  }
}
