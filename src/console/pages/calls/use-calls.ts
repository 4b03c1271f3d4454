import { useEffect, useRef, useState } from "preact/hooks"
import { api, ApiError, withParams } from "../../api/client.ts"
import type { Call, CallPage } from "../../api/types.ts"
import { listen } from "../../state/events.ts"

export type Calls = {
  rows: readonly Call[]
  isLoading: boolean
  error: ApiError | undefined
  hasMore: boolean
  truncated: boolean
  /** Calls that arrived while the view was paused. */
  waiting: number
  isConnected: boolean
  loadMore: () => void
  showWaiting: () => void
  reload: () => void
}

type State = { rows: readonly Call[]; cursor: string | null; hasMore: boolean; truncated: boolean }

/** New calls are read together: under load there are many per second. */
const BATCH_MS = 400

/** The calls of a path, page after page, with new ones on top as they end. */
export function useCalls(path: string, { isHeld }: { isHeld: boolean }): Calls {
  const [state, setState] = useState<State>()
  const [error, setError] = useState<ApiError>()
  const [waiting, setWaiting] = useState<readonly Call[]>([])
  const [isConnected, setConnected] = useState(false)
  /** Reads of the present path. Pages of an earlier path that arrive late are ignored. */
  const reads = useRef({ isBusy: false })
  const load = async (cursor: string | null) => {
    const current = reads.current
    if (current.isBusy) return
    current.isBusy = true
    const change = (apply: () => void) => {
      if (reads.current === current) apply()
    }
    try {
      const page = await api<CallPage>(cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`)
      change(() => {
        setState((before) => ({
          rows: cursor !== null && before ? [...before.rows, ...page.data] : page.data,
          cursor: page.next_cursor,
          hasMore: page.has_more,
          truncated: page.truncated,
        }))
        setError(undefined)
      })
    } catch (thrown) {
      change(() => setError(ApiError.fromThrown(thrown)))
    } finally {
      current.isBusy = false
    }
  }
  useEffect(() => {
    reads.current = { isBusy: false }
    setWaiting([])
    void load(null)
  }, [path])
  useNewCalls(path, (calls) => setWaiting((before) => merge(calls, before)), setConnected)
  const showWaiting = () => {
    setState((before) => before && { ...before, rows: merge(waiting, before.rows) })
    setWaiting([])
  }
  useEffect(() => {
    if (!isHeld && waiting.length > 0) showWaiting()
  }, [isHeld, waiting])
  const rows = state?.rows ?? []
  const known = new Set(rows.map(({ id }) => id))
  return {
    rows,
    isLoading: state === undefined,
    error,
    hasMore: state?.hasMore ?? false,
    truncated: state?.truncated ?? false,
    waiting: waiting.filter(({ id }) => !known.has(id)).length,
    isConnected,
    loadMore: () => {
      if (state?.hasMore && state.cursor !== null) void load(state.cursor)
    },
    showWaiting,
    reload: () => void load(null),
  }
}

function merge(calls: readonly Call[], rows: readonly Call[]): readonly Call[] {
  const known = new Set(rows.map(({ id }) => id))
  return [...calls.filter(({ id }) => !known.has(id)), ...rows]
}

/** New calls only appear in the newest-first order, and in ranges without an end. */
function isLivePath(path: string): boolean {
  const params = new URLSearchParams(path.slice(path.indexOf("?")))
  return !params.has("to") && (params.get("sort") ?? "-time") === "-time"
}

/** An event reports that a call has ended; the calls that match the filters are then read from the list. */
function useNewCalls(
  path: string,
  onCalls: (calls: readonly Call[]) => void,
  onState: (isLive: boolean) => void,
): void {
  useEffect(() => {
    if (!isLivePath(path)) {
      onState(false)
      return undefined
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    let isStopped = false
    const read = async () => {
      timer = undefined
      const [base = "", search = ""] = path.split("?")
      const params = Object.fromEntries(new URLSearchParams(search))
      const { data } = await api<CallPage>(withParams(base, { ...repeated(search), limit: params["limit"] ?? 100 }))
      if (!isStopped) onCalls(data)
    }
    const stop = listen(({ event }) => {
      if (event === "call") timer ??= setTimeout(() => void read().catch(() => {}), BATCH_MS)
    }, onState)
    return () => {
      isStopped = true
      clearTimeout(timer)
      stop()
    }
  }, [path])
}

function repeated(search: string): Record<string, string[]> {
  const params = new URLSearchParams(search)
  return Object.fromEntries([...new Set(params.keys())].map((name) => [name, params.getAll(name)]))
}
