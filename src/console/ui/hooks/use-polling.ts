import { useEffect, useRef } from "preact/hooks"

/** Refreshes every `intervalMs` while something changes and the page is visible. */
export function usePolling(isChanging: boolean, intervalMs: number, refresh: () => void): void {
  const latest = useRef(refresh)
  latest.current = refresh
  useEffect(() => {
    if (!isChanging) return undefined
    const timer = setInterval(() => {
      if (!document.hidden) latest.current()
    }, intervalMs)
    return () => clearInterval(timer)
  }, [isChanging, intervalMs])
}
