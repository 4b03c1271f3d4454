import { type Principal, resourceScopeOf } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { objectKey } from "./file.ts"
import type { StoredFile } from "./inline.ts"
import { deleteFile, findFile } from "./store.ts"
import type { FileRow } from "./table.ts"

/** A file that the principal may read. Exports are not among them: they list the calls of other keys. */
export async function findStoredFile(
  { DB: db, FILES: bucket }: Env,
  principal: Principal,
  id: string,
): Promise<StoredFile | undefined> {
  const row = await findFile(db, { ...resourceScopeOf(principal), mayExport: false }, id)
  if (!row) return undefined
  const { filename, mimeType, sizeBytes } = row
  const read = async () => new Uint8Array(await (await openStored(bucket, row)).arrayBuffer())
  return { filename, mimeType, sizeBytes, read }
}

/** The bytes of a file. A complete file has some, so without them its object was lost: a retry would not help. */
export async function openStored(bucket: R2Bucket, row: FileRow): Promise<R2ObjectBody> {
  const object = await bucket.get(objectKey(row))
  if (!object) throw new GatewayError("not_found", "The content of this file was lost. Upload the file again.")
  return object
}

type Deletion = Parameters<typeof deleteFile>[1]

/** Deletes a file and its bytes; undefined if there is no such file. The cron trigger deletes bytes that remain. */
export async function deleteStored({ DB: db, FILES: bucket }: Env, deletion: Deletion): Promise<FileRow | undefined> {
  const row = await deleteFile(db, deletion)
  if (row) await bucket.delete(objectKey(row)).catch(() => undefined)
  return row
}
