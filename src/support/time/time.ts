export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** RFC 3339 with seconds and `Z`, as in every timestamp of the API. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** Timer functions, which tests replace. */
export type Timer = {
  wait: (ms: number) => Promise<undefined>
  /** Returns a function that cancels it. */
  after: (ms: number, run: () => void) => () => void
}

export type RaceTimer = Timer & {
  /** The value of a promise, or undefined after `ms`. */
  within: <T>(promise: Promise<T>, ms: number) => Promise<T | undefined>
}

export const realTimer: RaceTimer = {
  wait,
  within: valueOrTimeout,
  after: (ms, run) => {
    const id = setTimeout(run, ms)
    return () => clearTimeout(id)
  },
}

/** Resolves to undefined, so that a race can detect the timeout. */
export function wait(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms))
}

/**
 * The value of a promise, or undefined after `ms` milliseconds. Clears its timer at the end: a pending one keeps a
 * Durable Object in memory.
 */
export async function valueOrTimeout<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), ms)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs work with a signal that aborts with `parent`, or after `ms` milliseconds with a `TimeoutError`. Unlike
 * `AbortSignal.timeout`, its timer ends with the work.
 */
export async function withTimeout<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  parent?: AbortSignal,
): Promise<T> {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(new DOMException("The timeout has passed.", "TimeoutError")), ms)
  try {
    return await work(parent ? AbortSignal.any([parent, timeout.signal]) : timeout.signal)
  } finally {
    clearTimeout(timer)
  }
}
