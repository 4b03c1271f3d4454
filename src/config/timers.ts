import { type Env, variable } from "./env.ts"

/** How long a call waits for what, in milliseconds. */
export type Timers = {
  /** From dispatch to the first content of a stream, or the whole of an answer that is not streamed. */
  firstFrameMs: number
  /** Between two chunks of a stream. */
  idleMs: number
  /** A call as a whole. */
  totalMs: number
  /** After this, a stream is answered 200 with comments although no content is there yet. */
  earlyCommitMs: number
  /** Silence after which a comment is written: proxies cut silent streams, and only a write shows that a client left. */
  keepaliveMs: number
  /** How long a hold stands without a sign of life from the isolate that made it. */
  holdTtlMs: number
}

const DEFAULTS = {
  FIRST_FRAME_TIMEOUT_MS: 300_000,
  IDLE_TIMEOUT_MS: 60_000,
  TOTAL_TIMEOUT_MS: 1_800_000,
  EARLY_COMMIT_MS: 4_000,
  KEEPALIVE_MS: 10_000,
  HOLD_TTL_MS: 120_000,
} as const

export function timersOf(env: Env): Timers {
  const ms = (name: keyof typeof DEFAULTS) => {
    const value = Number(variable(env, name) ?? Number.NaN)
    return Number.isFinite(value) && value > 0 ? value : DEFAULTS[name]
  }
  return {
    firstFrameMs: ms("FIRST_FRAME_TIMEOUT_MS"),
    idleMs: ms("IDLE_TIMEOUT_MS"),
    totalMs: ms("TOTAL_TIMEOUT_MS"),
    earlyCommitMs: ms("EARLY_COMMIT_MS"),
    keepaliveMs: ms("KEEPALIVE_MS"),
    holdTtlMs: ms("HOLD_TTL_MS"),
  }
}
