import { configOf } from "./config.ts"
import type { Env } from "./env.ts"

/** Timeouts of a call, in milliseconds. */
export type Timers = {
  /** From dispatch to the first content of a stream, or to a complete JSON response. */
  firstFrameMs: number
  /** From dispatch of a stream to its response headers, where another target can take over. */
  firstByteMs: number
  /** Between two chunks of a stream. */
  idleMs: number
  /** Total time of a call. */
  totalMs: number
  /** After this, a stream gets status 200 and heartbeats although there is no content yet. */
  earlyCommitMs: number
  /** Idle time before a heartbeat: proxies close idle streams, and only a write shows a client disconnect. */
  keepaliveMs: number
  /** How long a hold lives without a heartbeat from the isolate that placed it. */
  holdTtlMs: number
}

export function timersOf(env: Env): Timers {
  const config = configOf(env)
  return {
    firstFrameMs: config.FIRST_FRAME_TIMEOUT_MS,
    firstByteMs: config.FIRST_BYTE_TIMEOUT_MS,
    idleMs: config.IDLE_TIMEOUT_MS,
    totalMs: config.TOTAL_TIMEOUT_MS,
    earlyCommitMs: config.EARLY_COMMIT_MS,
    keepaliveMs: config.KEEPALIVE_MS,
    holdTtlMs: config.HOLD_TTL_MS,
  }
}
