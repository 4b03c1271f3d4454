/**
 * What an isolate has learned of endpoints from the calls it served: which to leave alone for a while, and whose streams
 * need no looking after. Lost with the isolate, and so only ever an advice.
 */

/** Cooldown of an endpoint that gave no hint, and the longest that a hint is believed. */
const DEFAULT_COOLDOWN_MS = 15_000
const MAX_COOLDOWN_MS = 300_000
/** Streams in a row that passed unchanged and ended well before an endpoint's bytes are passed without being looked at. */
export const STREAMS_TO_TRUST = 20
/** How many more it takes once one did not. */
const STREAMS_TO_FORGIVE = 20
const MAX_REMEMBERED = 5_000

export class EndpointHealth {
  readonly #coolUntil = new Map<string, number>()
  readonly #cleanStreams = new Map<string, number>()

  coolDown(endpoint: string, retryAfterMs: number | null, now: number): void {
    remember(this.#coolUntil, endpoint, now + Math.min(retryAfterMs ?? DEFAULT_COOLDOWN_MS, MAX_COOLDOWN_MS))
  }

  warm(endpoint: string): void {
    this.#coolUntil.delete(endpoint)
  }

  isCooling(endpoint: string, now: number): boolean {
    return (this.#coolUntil.get(endpoint) ?? 0) > now
  }

  /** A stream that ended; `clean`: nothing in it had to be changed, kept alive or repaired. */
  streamed(endpoint: string, clean: boolean): void {
    remember(this.#cleanStreams, endpoint, clean ? (this.#cleanStreams.get(endpoint) ?? 0) + 1 : -STREAMS_TO_FORGIVE)
  }

  trustsStreams(endpoint: string): boolean {
    return (this.#cleanStreams.get(endpoint) ?? 0) >= STREAMS_TO_TRUST
  }
}

function remember(map: Map<string, number>, key: string, value: number): void {
  map.delete(key)
  if (map.size >= MAX_REMEMBERED) map.delete(map.keys().next().value ?? "")
  map.set(key, value)
}
