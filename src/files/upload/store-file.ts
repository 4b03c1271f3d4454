import { type Actor, newEntry } from "../../audit/entry.ts"
import { GatewayError } from "../../errors/errors.ts"
import type { Env } from "../../config/env.ts"
import { newId } from "../../support/ids.ts"
import { workspaceNotFound } from "../../workspaces/requested.ts"
import { writeBytes } from "../bytes.ts"
import { FILE_PREFIX, objectKey, quotaBytes } from "../file.ts"
import { abandonFile, completeFile, insertFile, usedBytes } from "../store.ts"
import type { FileRow, NewFileRow } from "../table.ts"
import type { UploadFields } from "./upload-fields.ts"

type WorkspaceScope = { organizationId: string; workspaceId: string }

export function newRow(
  { organizationId, workspaceId }: WorkspaceScope,
  description: Pick<NewFileRow, "filename" | "mimeType" | "source" | "internId" | "batchId"> & Pick<FileRow, "keyHash">,
): NewFileRow {
  const scope = { organizationId, workspaceId }
  return {
    id: `${FILE_PREFIX}${newId()}`,
    ...scope,
    ...description,
    sizeBytes: 0,
    isReady: false,
    createdAt: Date.now(),
  }
}

/** `mimeType` and `fields` are known after the content. */
type NewFile = {
  actor: Actor
  row: NewFileRow
  content: AsyncIterable<Uint8Array>
  mimeType: () => string
  fields?: () => Promise<UploadFields>
}

/** Stores a file. The row is written before the bytes, so that no bytes are ever without a row. */
export async function storeFile(
  env: Env,
  { actor, row, content, mimeType, fields = async () => ({}) }: NewFile,
): Promise<FileRow> {
  const { DB: db, FILES: bucket } = env
  const quota = quotaBytes(env)
  if ((await usedBytes(db, row.organizationId)) >= quota) throw overQuota(quota)
  if (!(await insertFile(db, row))) throw workspaceNotFound()
  const abandon = async (thrown: unknown) => {
    await abandonFile(db, row, Date.now())
    throw thrown
  }
  const sizeBytes = await writeBytes(bucket, objectKey(row), content).catch(abandon)
  const { purpose = null, expiresAfterS } = await fields().catch(abandon)
  const expiresAt = expiresAfterS == null ? null : row.createdAt + expiresAfterS * 1000
  const complete = { ...row, sizeBytes, mimeType: mimeType(), purpose, expiresAt }
  const values = {
    filename: complete.filename,
    size_bytes: sizeBytes,
    mime_type: complete.mimeType,
    source: row.source,
  }
  const changed = { fields: Object.keys(values), values }
  const event = { resourceId: row.id, workspaceId: row.workspaceId, changed }
  const stored = await completeFile(db, complete, quota, newEntry(actor, { action: "file.create", ...event }))
  if (stored) return stored
  await abandonFile(db, row, Date.now())
  throw overQuota(quota)
}

function overQuota(quota: number): GatewayError {
  const message = `file: the organization's files may have ${quota} bytes in total, which this one would exceed.`
  return new GatewayError("payload_too_large", message)
}
