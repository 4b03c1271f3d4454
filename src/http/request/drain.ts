import { type RaceTimer, realTimer } from "../../support/time/time.ts"

/** Limits of a body that is not read: its size, the time between two of its chunks, and the delay of the response. */
const MAX_BYTES = 128 * 1024 * 1024
const IDLE_TIMEOUT_MS = 2_000
const TIMEOUT_MS = 30_000

type Timer = Pick<RaceTimer, "within">

/**
 * Reads the rest of a body that the response did not need: the runtime closes a connection with an unread body, and the
 * client may see a reset instead of the response. The connection of a larger or slower body is closed.
 */
export async function drain(request: Request, timer: Timer = realTimer): Promise<void> {
  const { body, bodyUsed } = request
  if (!body || bodyUsed || body.locked) return
  await timer.within(readAway(body.getReader(), timer), TIMEOUT_MS)
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function readAway(reader: Reader, timer: Timer): Promise<void> {
  let size = 0
  try {
    while (size <= MAX_BYTES) {
      const read = await timer.within(reader.read(), IDLE_TIMEOUT_MS)
      if (!read?.value) return
      size += read.value.byteLength
    }
  } catch {
    // The client disconnected.
  }
}
