export const DAY_MS = 86_400_000

/** RFC 3339 with seconds and `Z`, as every timestamp on the wire. */
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

/** Undefined, so that what it races with can be told from it. */
export function wait(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms))
}
