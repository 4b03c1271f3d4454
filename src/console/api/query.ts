import { useLayoutEffect } from "preact/hooks"
import { EMPTY, entryOf, load, loadIfOld, type State } from "./cache.ts"
import { api } from "./client.ts"

export { clearCache, invalidate } from "./cache.ts"

export type Query<T> = Omit<State, "data"> & { data: T | undefined; refresh: () => void }

/** Reads with a cache. `key` null reads nothing. */
export function useQuery<T>(key: string | null, run: () => Promise<T>): Query<T> {
  const entry = key === null ? undefined : entryOf(key, run)
  useLayoutEffect(() => {
    if (!entry) return undefined
    entry.users += 1
    loadIfOld(entry)
    return () => {
      entry.users -= 1
    }
  }, [entry])
  const state = entry?.state.value ?? { ...EMPTY, isLoading: key !== null }
  return {
    ...state,
    data: state.data as T | undefined,
    refresh: () => {
      if (entry) load(entry)
    },
  }
}

/** GET of a path of the API. */
export function useGet<T>(path: string | null): Query<T> {
  return useQuery(path, () => api<T>(path ?? ""))
}
