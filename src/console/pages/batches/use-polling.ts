import { useEffect, useRef } from "preact/hooks"

/** The cost of a batch includes a call some seconds after it has ended. */
export const SETTLED_AFTER_MS = 6_000
const POLL_MS = 2_000

/** Refreshes while a batch is running and the page is visible. */
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
