import { useEffect, useRef, useState } from "preact/hooks"
import { api, withParams } from "./client.ts"
import { type Query, useQuery } from "./query.ts"
import type { List } from "./types.ts"

const PAGE = 100
/** Maximum number of loaded rows; the end of a list shows the total. */
const MAX_ROWS = 5_000
const AT_ONCE = 4

type Read = <T>(path: string) => Promise<T>

/** The rows of a list with offsets, up to a maximum. */
export async function readAll<T>(path: string, read: Read = api, maxRows: number = MAX_ROWS): Promise<List<T>> {
  const joint = path.includes("?") ? "&" : "?"
  const readPage = (offset: number) => read<List<T>>(`${path}${joint}limit=${PAGE}&offset=${offset}`)
  const first = await readPage(0)
  const total = first.total_count ?? (first.data.length < PAGE ? first.data.length : maxRows)
  const pages = [first]
  while (pages.length * PAGE < Math.min(total, maxRows)) {
    const missing = Math.ceil(Math.min(total, maxRows) / PAGE) - pages.length
    const offsets = Array.from({ length: Math.min(AT_ONCE, missing) }, (_, index) => (pages.length + index) * PAGE)
    const next = await Promise.all(offsets.map(readPage))
    pages.push(...next)
    // Rows were deleted concurrently, or the list does not return its total.
    if (next.some(({ data }) => data.length < PAGE)) break
  }
  return { ...first, data: pages.flatMap(({ data }) => data) }
}

/** The same, with the cache of queries. `path` null reads nothing. */
export function useAll<T>(path: string | null): Query<List<T>> {
  return useQuery(path === null ? null : `${path}#all`, () => readAll<T>(path ?? ""))
}

export type CursorList<T> = { data: T[]; has_more: boolean; next_cursor?: string }

/** The rows of a list with cursors, up to a maximum. */
export async function readByCursor<T>(path: string, maxRows: number, read: Read = api): Promise<CursorList<T>> {
  const rows: T[] = []
  let page: CursorList<T>
  let after: string | undefined
  do {
    page = await read<CursorList<T>>(withParams(path, { limit: PAGE, starting_after: after ?? null }))
    rows.push(...page.data)
    after = page.next_cursor
  } while (page.has_more && after !== undefined && rows.length < maxRows)
  return { ...page, data: rows }
}

/** A list with cursors and server-side search, which loads more when its end is visible. */
export function useCursorList<T>(path: string, text: string): Query<CursorList<T>> & { onEnd: () => void } {
  const searched = withParams(path, { q: useDebounced(text.trim()) })
  const [read, setRead] = useState({ searched, rows: PAGE })
  const rows = read.searched === searched ? read.rows : PAGE
  const query = useQuery(`${searched}#${rows}`, () => readByCursor<T>(searched, rows))
  const onEnd = () => {
    if (query.error) query.refresh()
    else if (query.data?.has_more && rows < MAX_ROWS) setRead({ searched, rows: rows * 2 })
  }
  return { ...useLastData({ path, searched }, query), onEnd }
}

export type SearchQuery<T> = Query<List<T>> & {
  /** Total number with any text; undefined until it is known. */
  all: number | undefined
  /** Loads more, when the end of the list is visible. */
  onEnd: () => void
}

const TYPING_MS = 150

/** The text, debounced. */
export function useDebounced(text: string): string {
  const [typed, setTyped] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), text === "" ? 0 : TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return typed
}

/** Time for which the rows of the previous text or filter stay, so that the list does not flicker. */
export const PREVIOUS_ROWS_MS = 300

/** True some time after the key was set, until it changes. */
function useLate(key: string | null): boolean {
  const [late, setLate] = useState<string | null>(null)
  useEffect(() => {
    if (key === null) return undefined
    const timer = setTimeout(() => setLate(key), PREVIOUS_ROWS_MS)
    return () => {
      clearTimeout(timer)
      setLate(null)
    }
  }, [key])
  return key !== null && late === key
}

type Last<T> = { path: string; searched: string; data: T; updatedAt: number }

/**
 * While more rows load, the shown ones stay. The rows of the previous text stay for a moment only, and not with an error
 * of the next: they would pass for its result.
 */
function useLastData<T>({ path, searched }: { path: string; searched: string }, query: Query<T>): Query<T> {
  const before = useRef<Last<T> | undefined>(undefined)
  const { data, updatedAt, error } = query
  if (data !== undefined) before.current = { path, searched, data, updatedAt }
  const last = before.current?.path === path ? before.current : undefined
  const isOfOtherText = last !== undefined && last.searched !== searched
  const isLate = useLate(isOfOtherText ? searched : null)
  if (!last || (isOfOtherText && (isLate || error))) return query
  return { ...query, data: last.data, updatedAt: last.updatedAt }
}

/** A list with server-side search, loaded page by page while scrolling. */
export function useSearch<T>(path: string, text: string): SearchQuery<T> {
  const q = useDebounced(text.trim())
  const searched = withParams(path, { q })
  const [read, setRead] = useState({ searched, rows: PAGE })
  const rows = read.searched === searched ? read.rows : PAGE
  const query = useQuery(`${searched}#${rows}`, () => readAll<T>(searched, api, rows))
  const count = useQuery(q === "" ? null : `${path}#count`, () => api<List<T>>(withParams(path, { limit: 1 })))
  const lastData = useLastData({ path, searched }, query)
  const total = lastData.data?.total_count ?? 0
  return {
    ...lastData,
    all: q === "" ? lastData.data?.total_count : count.data?.total_count,
    onEnd: () => {
      const more = Math.min(MAX_ROWS, rows * 2)
      if (query.error) query.refresh()
      else if (query.data && rows < total && more > rows) setRead({ searched, rows: more })
    },
  }
}
