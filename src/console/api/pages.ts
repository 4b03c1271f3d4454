import { api } from "./client.ts"
import { type Query, useQuery } from "./query.ts"
import type { List } from "./types.ts"

const PAGE = 100
/** More rows than a person looks through; the foot of a list says how many there are in all. */
const MAX_ROWS = 5_000
const AT_ONCE = 4

type Read = <T>(path: string) => Promise<T>

/** Every row of a list that is paged by offset, so that a filter finds any and a count is the count of all. */
export async function readAll<T>(path: string, read: Read = api): Promise<List<T>> {
  const joint = path.includes("?") ? "&" : "?"
  const readPage = (offset: number) => read<List<T>>(`${path}${joint}limit=${PAGE}&offset=${offset}`)
  const first = await readPage(0)
  const total = first.total_count ?? (first.data.length < PAGE ? first.data.length : MAX_ROWS)
  const pages = [first]
  while (pages.length * PAGE < Math.min(total, MAX_ROWS)) {
    const missing = Math.ceil(Math.min(total, MAX_ROWS) / PAGE) - pages.length
    const offsets = Array.from({ length: Math.min(AT_ONCE, missing) }, (_, index) => (pages.length + index) * PAGE)
    const next = await Promise.all(offsets.map(readPage))
    pages.push(...next)
    // Rows were deleted meanwhile, or the list does not say how many it has.
    if (next.some(({ data }) => data.length < PAGE)) break
  }
  return { ...first, data: pages.flatMap(({ data }) => data) }
}

/** The same, with the cache of queries. `path` null reads nothing. */
export function useAll<T>(path: string | null): Query<List<T>> {
  return useQuery(path === null ? null : `${path}#all`, () => readAll<T>(path ?? ""))
}
