import { signal, type Signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { api, ApiError } from "./client.ts"

export type Query<T> = {
  data: T | undefined
  error: ApiError | undefined
  /** True while no data of this query has arrived. */
  isLoading: boolean
  /** Instant of the data; 0 before it arrived. */
  updatedAt: number
  refresh: () => void
}

type State = Omit<Query<unknown>, "refresh">
type Entry = { state: Signal<State>; request?: Promise<void> | undefined; run: () => Promise<unknown>; users: number }

const EMPTY: State = { data: undefined, error: undefined, isLoading: true, updatedAt: 0 }
/** Data that is younger is shown without another request. */
const FRESH_MS = 15_000
const MAX_ENTRIES = 200

const entries = new Map<string, Entry>()

function entryOf(key: string, run: () => Promise<unknown>): Entry {
  const known = entries.get(key)
  if (known) {
    known.run = run
    return known
  }
  const entry: Entry = { state: signal(EMPTY), run, users: 0 }
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

function load(entry: Entry): Promise<void> {
  entry.request ??= entry
    .run()
    .then(
      (data) => (entry.state.value = { data, error: undefined, isLoading: false, updatedAt: Date.now() }),
      // Data that was shown stays, with its age: a failed refresh takes nothing away.
      (thrown: unknown) =>
        (entry.state.value = { ...entry.state.peek(), error: ApiError.of(thrown), isLoading: false }),
    )
    .then(() => {
      entry.request = undefined
    })
  return entry.request
}

/** Reads with a cache. `key` null reads nothing. */
export function useQuery<T>(key: string | null, run: () => Promise<T>): Query<T> {
  const entry = key === null ? undefined : entryOf(key, run)
  useEffect(() => {
    if (!entry) return undefined
    entry.users += 1
    const { updatedAt, error } = entry.state.peek()
    if (Date.now() - updatedAt > FRESH_MS || error) void load(entry)
    return () => {
      entry.users -= 1
    }
  }, [entry])
  const state = entry?.state.value ?? { ...EMPTY, isLoading: key !== null }
  return {
    ...state,
    data: state.data as T | undefined,
    refresh: () => {
      if (entry) void load(entry)
    },
  }
}

/** GET of a path of the API. */
export function useGet<T>(path: string | null): Query<T> {
  return useQuery(path, () => api<T>(path ?? ""))
}

/** After a change: what starts with one of these paths is read again, at once if a page shows it. */
export function invalidate(...paths: readonly string[]): void {
  for (const [key, entry] of entries) {
    if (!paths.some((path) => key.startsWith(path))) continue
    if (entry.users > 0) void load(entry)
    else entries.delete(key)
  }
}

export function clearCache(): void {
  for (const [key, entry] of entries) {
    if (entry.users === 0) entries.delete(key)
    else {
      entry.state.value = EMPTY
      void load(entry)
    }
  }
}
