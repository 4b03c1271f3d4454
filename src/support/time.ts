export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** RFC 3339 with seconds and `Z`, as in every timestamp of the API. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** What waits by the clock. */
export type Timer = {
  wait: (ms: number) => Promise<undefined>
  /** Returns how to cancel it. */
  after: (ms: number, run: () => void) => () => void
}

export const realTimer: Timer = {
  wait,
  after: (ms, run) => {
    const id = setTimeout(run, ms)
    return () => clearTimeout(id)
  },
}

/** Resolves to undefined, so that a race can detect the timeout. */
export function wait(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms))
}
