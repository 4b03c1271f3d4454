import { valueOrTimeout } from "../support/time.ts"

/** Bytes a client may still send of a body that is not read, and the time that its response waits for them. */
const MAX_BYTES = 128 * 1024 * 1024
const TIMEOUT_MS = 2_000

/**
 * Reads the rest of a body that the response did not need: the runtime closes a connection with an unread body, and the
 * client may see a reset instead of the response. The connection of a larger body is closed.
 */
export async function drain(request: Request): Promise<void> {
  const { body, bodyUsed } = request
  if (!body || bodyUsed || body.locked) return
  await valueOrTimeout(readAway(body), TIMEOUT_MS)
}

async function readAway(body: ReadableStream<Uint8Array>): Promise<void> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.byteLength
      if (size > MAX_BYTES) return
    }
  } catch {
    // The client disconnected.
  }
}
