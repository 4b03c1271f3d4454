import { valueWithin } from "../support/time.ts"

/** What a client may still send of a body that nobody reads, and for how long its response waits for that. */
const MAX_BYTES = 128 * 1024 * 1024
const TIMEOUT_MS = 2_000

/**
 * Reads the rest of a body that the response did not need: the runtime closes a connection whose body is left unread,
 * and the client can see a reset in place of the response. A larger body is left, and its connection is closed.
 */
export async function drain(request: Request): Promise<void> {
  const { body, bodyUsed } = request
  if (!body || bodyUsed || body.locked) return
  await valueWithin(readAway(body), TIMEOUT_MS)
}

async function readAway(body: ReadableStream<Uint8Array>): Promise<void> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.byteLength
      if (size > MAX_BYTES) return
    }
  } catch {
    // The client left.
  }
}
