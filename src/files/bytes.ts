import { GatewayError } from "../errors/errors.ts"
import type { Env } from "../config/env.ts"
import { concat } from "../support/bytes.ts"
import { objectKey } from "./file.ts"
import { deleteFileRows, listStaleFiles } from "./store.ts"

/** R2 requires parts of equal size, except the last; one part is in memory at a time. */
const PART_BYTES = 8 * 1024 * 1024

/** Writes content to R2 in parts, or at once if it fits one. Returns the number of bytes. */
export async function writeBytes(bucket: R2Bucket, key: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  let upload: R2MultipartUpload | undefined
  const parts: R2UploadedPart[] = []
  let waiting: Uint8Array[] = []
  let [waitingBytes, size] = [0, 0]
  try {
    for await (const chunk of content) {
      // The producer of the chunk may reuse its memory.
      waiting.push(chunk.slice())
      waitingBytes += chunk.byteLength
      size += chunk.byteLength
      while (waitingBytes >= PART_BYTES) {
        const all = concat(waiting)
        upload ??= await bucket.createMultipartUpload(key)
        parts.push(await upload.uploadPart(parts.length + 1, all.slice(0, PART_BYTES)))
        waiting = [all.slice(PART_BYTES)]
        waitingBytes -= PART_BYTES
      }
    }
    if (!upload) await bucket.put(key, concat(waiting.length === 0 ? [new Uint8Array()] : waiting))
    else {
      if (waitingBytes > 0) parts.push(await upload.uploadPart(parts.length + 1, concat(waiting)))
      await upload.complete(parts)
    }
    return size
  } catch (thrown) {
    await upload?.abort().catch(() => undefined)
    throw thrown
  }
}

/** Throws when the content exceeds `maxBytes`. */
export async function* limitBytes(content: AsyncIterable<Uint8Array>, maxBytes: number, toError: () => GatewayError) {
  let size = 0
  for await (const chunk of content) {
    size += chunk.byteLength
    if (size > maxBytes) throw toError()
    yield chunk
  }
}

const BATCH = 500
const BATCHES = 20

/** Removes stale files: first the bytes, then the row, so that no bytes remain without a row. */
export async function clearFiles(env: Env, now: number): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    const stale = await listStaleFiles(env.DB, now, BATCH)
    if (stale.length === 0) return
    await env.FILES.delete(stale.map(objectKey))
    const ids = stale.map(({ id }) => id)
    await deleteFileRows(env.DB, ids)
    if (stale.length < BATCH) return
  }
}
