export type Timed<T> = { value: T } | { stopped: "timeout" | "cancelled" }

/** What the work comes to, unless its time is over or the caller has left: then its signal fires and it is not waited for. */
export async function within<T>(
  ms: number,
  disconnect: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Timed<T>> {
  if (disconnect.aborted) return { stopped: "cancelled" }
  const controller = new AbortController()
  const stopped = Promise.withResolvers<Timed<T>>()
  const stop = (why: "timeout" | "cancelled") => {
    stopped.resolve({ stopped: why })
    controller.abort()
  }
  const onLeave = () => stop("cancelled")
  const timer = setTimeout(() => stop("timeout"), ms)
  disconnect.addEventListener("abort", onLeave)
  // The race is left by its first end; a late failure of the work must not count as unhandled.
  const working = work(controller.signal).then((value): Timed<T> => ({ value }))
  working.catch(() => undefined)
  try {
    return await Promise.race([stopped.promise, working])
  } finally {
    clearTimeout(timer)
    disconnect.removeEventListener("abort", onLeave)
  }
}
