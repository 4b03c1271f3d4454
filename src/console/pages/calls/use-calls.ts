import { useEffect, useRef, useState } from "preact/hooks"
import { api, ApiError, withParams } from "../../api/client.ts"
import type { Call, CallPage } from "../../api/types.ts"
import { PREVIOUS_ROWS_MS } from "../../api/pages.ts"
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

type State = { path: string; rows: readonly Call[]; cursor: string | null; hasMore: boolean; truncated: boolean }

/** New calls are read together: under load there are many per second. */
const BATCH_MS = 400

/** The calls of a path, page after page. */
function useCallPages(path: string) {
  const [state, setState] = useState<State>()
  const [error, setError] = useState<ApiError>()
  /** Reads of the present path. Pages of an earlier path that arrive late are ignored. */
  const reads = useRef({ isBusy: false })
  /** Rows of an earlier path would look like rows of this one. */
  const dropOthers = () => setState((before) => (before?.path === path ? before : undefined))
  const load = async (cursor: string | null) => {
    const current = reads.current
    if (current.isBusy) return
    current.isBusy = true
    setError(undefined)
    const change = (apply: () => void) => {
      if (reads.current === current) apply()
    }
    try {
      const page = await api<CallPage>(cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`)
      const { next_cursor: next, has_more: hasMore, truncated } = page
      change(() =>
        setState((before) => {
          const rows = cursor !== null && before ? [...before.rows, ...page.data] : page.data
          return { path, rows, cursor: next, hasMore, truncated }
        }),
      )
    } catch (thrown) {
      change(() => {
        setError(ApiError.fromThrown(thrown))
        dropOthers()
      })
    } finally {
      current.isBusy = false
    }
  }
  useEffect(() => {
    reads.current = { isBusy: false }
    const timer = setTimeout(dropOthers, PREVIOUS_ROWS_MS)
    void load(null)
    return () => clearTimeout(timer)
  }, [path])
  const addNew = (calls: readonly Call[]) =>
    setState((before) => before && { ...before, rows: merge(calls, before.rows) })
  return { state, error, load, addNew }
}

/** The calls of a path, with new ones on top as they end. */
export function useCalls(path: string, { isHeld }: { isHeld: boolean }): Calls {
  const { state, error, load, addNew } = useCallPages(path)
  const [waiting, setWaiting] = useState<readonly Call[]>([])
  /** There are more calls between the waiting and the shown ones. */
  const [hasGap, setGap] = useState(false)
  const [isConnected, setConnected] = useState(false)
  const clear = () => {
    setGap(false)
    setWaiting([])
  }
  useEffect(clear, [path])
  const rows = state?.rows ?? []
  const shown = useRef<readonly Call[]>([])
  shown.current = merge(waiting, rows)
  const onNewCalls = (page: CallPage) => {
    if (missesCalls(page, shown.current)) setGap(true)
    setWaiting((before) => merge(page.data, before))
  }
  useNewCalls(path, onNewCalls, setConnected)
  const showWaiting = () => {
    if (hasGap) void load(null)
    else addNew(waiting)
    clear()
  }
  useEffect(() => {
    if (!isHeld && waiting.length > 0) showWaiting()
  }, [isHeld, waiting])
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

/** After a lost connection there may be more new calls than a page has: the list would miss those in between. */
export function missesCalls(
  page: { data: readonly Pick<Call, "id">[]; has_more: boolean },
  rows: readonly Pick<Call, "id">[],
): boolean {
  const known = new Set(rows.map(({ id }) => id))
  return page.has_more && rows.length > 0 && !page.data.some(({ id }) => known.has(id))
}

/** New calls only appear in the newest-first order, and in ranges without an end. */
function isLivePath(path: string): boolean {
  const params = new URLSearchParams(path.slice(path.indexOf("?")))
  return !params.has("to") && (params.get("sort") ?? "-time") === "-time"
}

/** An event reports that a call has ended; the calls that match the filters are then read from the list. */
function useNewCalls(path: string, onCalls: (page: CallPage) => void, onState: (isLive: boolean) => void): void {
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
      const page = await api<CallPage>(withParams(base, { ...toRepeatedParams(search), limit: params["limit"] ?? 100 }))
      if (!isStopped) onCalls(page)
    }
    const schedule = () => {
      timer ??= setTimeout(() => void read().catch(() => {}), BATCH_MS)
    }
    const stop = listen(
      ({ event }) => {
        if (event === "call") schedule()
      },
      (isLive) => {
        onState(isLive)
        // Calls may have ended without a connection.
        if (isLive) schedule()
      },
    )
    return () => {
      isStopped = true
      clearTimeout(timer)
      stop()
    }
  }, [path])
}

function toRepeatedParams(search: string): Record<string, string[]> {
  const params = new URLSearchParams(search)
  return Object.fromEntries([...new Set(params.keys())].map((name) => [name, params.getAll(name)]))
}
