export type DeadlineResult<T> = { value: T } | { stopped: "timeout" | "cancelled" }

/**
 * Result of the work, unless the timeout passes or the client disconnects: then the work's signal aborts, and the work
 * is not awaited.
 */
export async function withDeadline<T>(
  ms: number,
  disconnect: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<DeadlineResult<T>> {
  if (disconnect.aborted) return { stopped: "cancelled" }
  const controller = new AbortController()
  const stopped = Promise.withResolvers<DeadlineResult<T>>()
  const stop = (why: "timeout" | "cancelled") => {
    stopped.resolve({ stopped: why })
    controller.abort()
  }
  const onDisconnect = () => stop("cancelled")
  const timer = setTimeout(() => stop("timeout"), ms)
  disconnect.addEventListener("abort", onDisconnect)
  // The race ends with its first result; a late failure of the work must not be an unhandled rejection.
  const working = work(controller.signal).then((value): DeadlineResult<T> => ({ value }))
  working.catch(() => undefined)
  try {
    return await Promise.race([stopped.promise, working])
  } finally {
    clearTimeout(timer)
    disconnect.removeEventListener("abort", onDisconnect)
  }
}
