import { useEffect, useState } from "preact/hooks"

/** `4:05 left to answer`, counted down each second. */
export function TimeLeft({ deadline }: { deadline: number }) {
  const remainingMs = useRemaining(deadline)
  return <span class="quiet small num nowrap">{describeRemaining(remainingMs)}</span>
}

export function useRemaining(deadline: number): number {
  const [remainingMs, setLeft] = useState(deadline - Date.now())
  useEffect(() => {
    const timer = setInterval(() => setLeft(deadline - Date.now()), 1_000)
    setLeft(deadline - Date.now())
    return () => clearInterval(timer)
  }, [deadline])
  return remainingMs
}

export function describeRemaining(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  if (seconds === 0) return "Time is up: the run is cancelled"
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left to answer`
}
