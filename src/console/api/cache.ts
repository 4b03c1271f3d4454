import { signal, type Signal } from "@preact/signals"
import { ApiError } from "./client.ts"

export type State = {
  data: unknown
  error: ApiError | undefined
  /** True while no data has arrived. */
  isLoading: boolean
  /** Time of the data; 0 before it arrived. */
  updatedAt: number
}

export type Entry = {
  state: Signal<State>
  /** Number of components that show it. */
  users: number
  run: () => Promise<unknown>
  /** The read in progress. Only its response counts: data read before a change must not be shown after it. */
  request: Promise<void> | undefined
}

export const EMPTY: State = { data: undefined, error: undefined, isLoading: true, updatedAt: 0 }
/** Younger data is shown without another request. */
const FRESH_MS = 15_000
const MAX_ENTRIES = 200

const entries = new Map<string, Entry>()

export function entryOf(key: string, run: Entry["run"]): Entry {
  const cached = entries.get(key)
  if (cached) {
    cached.run = run
    return cached
  }
  const entry: Entry = { state: signal(EMPTY), run, users: 0, request: undefined }
  entries.set(key, entry)
  if (entries.size > MAX_ENTRIES) evict()
  return entry
}

function evict(): void {
  for (const [key, entry] of entries) {
    if (entry.users === 0) entries.delete(key)
    if (entries.size <= MAX_ENTRIES / 2) return
  }
}

/** Starts a read unless one is in progress. */
export function load(entry: Entry): void {
  if (!entry.request) reload(entry)
}

export function loadIfOld(entry: Entry): void {
  const { updatedAt, error } = entry.state.peek()
  if (Date.now() - updatedAt > FRESH_MS || error) load(entry)
}

/** Starts a read; the response of a read in progress is dropped. */
function reload(entry: Entry): void {
  const settle = (state: State) => {
    if (entry.request !== request) return
    entry.request = undefined
    entry.state.value = state
  }
  const request: Promise<void> = entry.run().then(
    (data) => settle({ data, error: undefined, isLoading: false, updatedAt: Date.now() }),
    // Shown data stays, with its age, after a failed refresh.
    (thrown: unknown) => settle({ ...entry.state.peek(), error: ApiError.fromThrown(thrown), isLoading: false }),
  )
  entry.request = request
  const { data, error, isLoading } = entry.state.peek()
  // A retry shows that it reads again.
  if (data === undefined && error && !isLoading) entry.state.value = EMPTY
}

/** Reads what is shown and old, as when the user returns to the tab. */
export function refreshShown(): void {
  for (const entry of entries.values()) if (entry.users > 0) loadIfOld(entry)
}

/** After a change: paths with one of these prefixes are read again, at once if a page shows them. */
export function invalidate(...paths: readonly string[]): void {
  for (const [key, entry] of entries) {
    if (!paths.some((path) => key.startsWith(path))) continue
    if (entry.users > 0) reload(entry)
    else entries.delete(key)
  }
}

/** Clears everything, as after a sign-in: a response for the previous session must not be shown in this one. */
export function clearCache(): void {
  for (const [key, entry] of entries) {
    entry.state.value = EMPTY
    entry.request = undefined
    if (entry.users === 0) entries.delete(key)
    else reload(entry)
  }
}
