import { follow, type Frame } from "../api/events.ts"

type Listener = { onEvent: (frame: Frame) => void; onState: (isLive: boolean) => void }

const listeners = new Set<Listener>()
let isLive = false
let stop: (() => void) | undefined

/** Events of the gateway, with one connection per page. Returns a function that stops it. */
export function listen(onEvent: Listener["onEvent"], onState: Listener["onState"] = () => {}): () => void {
  const listener = { onEvent, onState }
  listeners.add(listener)
  onState(isLive)
  stop ??= follow(
    "/events",
    (frame) => {
      for (const each of listeners) each.onEvent(frame)
    },
    (live) => {
      isLive = live
      for (const each of listeners) each.onState(live)
    },
  )
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    stop?.()
    stop = undefined
    isLive = false
  }
}
