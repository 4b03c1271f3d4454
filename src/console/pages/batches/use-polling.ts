import { useEffect, useRef } from "preact/hooks"

/** A call is in the cost of its batch some seconds after it has ended. */
export const SETTLED_AFTER_MS = 6_000
const POLL_MS = 2_000

/** Refreshes while something is under way, and the page is seen. */
export function usePolling(isRunning: boolean, refresh: () => void): void {
  const latest = useRef(refresh)
  latest.current = refresh
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setInterval(() => {
      if (!document.hidden) latest.current()
    }, POLL_MS)
    return () => clearInterval(timer)
  }, [isRunning])
}
