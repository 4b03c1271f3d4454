import { withParams } from "../../api/client.ts"
import { query, setQuery, withQuery } from "../../state/router.ts"
import { currentRange } from "../../ui/charts/range.tsx"

/** Filters of the API, by their name in the URL. Each may repeat; a leading `!` excludes. */
export const FILTERS = [
  "model",
  "requested_model",
  "provider",
  "key",
  "app",
  "workspace",
  "creator_user_id",
  "status",
  "session_id",
  "user",
  "guardrail",
  "preset",
] as const
export type FilterName = (typeof FILTERS)[number]

/** Labels of filters whose name in the URL is not a word. */
const LABELS: Partial<Record<FilterName, string>> = {
  creator_user_id: "member",
  requested_model: "requested",
  session_id: "session",
}

/** Filters whose values are ids, with the source of their names. */
const NAMED = { key: "keys", workspace: "workspaces", creator_user_id: "members", preset: "presets" } as const

export function namedListsOf(filters: readonly ActiveFilter[]) {
  return filters.flatMap(({ name }) => (name in NAMED ? [NAMED[name as keyof typeof NAMED]] : []))
}

/** A filter in readable form, with the name of the object instead of its id. */
export function describeFilter({ name, value, isExcluded }: ActiveFilter, names: ReadonlyMap<string, string>): string {
  return `${LABELS[name] ?? name} ${isExcluded ? "is not" : "is"} ${(names.get(value) ?? value).slice(0, 40)}`
}

export type ActiveFilter = { name: FilterName; value: string; isExcluded: boolean }

export function activeFilters(): ActiveFilter[] {
  return FILTERS.flatMap((name) =>
    query.value
      .getAll(name)
      .map((value) => ({ name, value: value.replace(/^!/, ""), isExcluded: value.startsWith("!") })),
  )
}

export function addFilter(name: FilterName, value: string, isExcluded: boolean): void {
  const others = query.value.getAll(name).filter((each) => each.replace(/^!/, "") !== value)
  setQuery({ [name]: [...others, isExcluded ? `!${value}` : value] })
}

export function removeFilter({ name, value }: ActiveFilter): void {
  setQuery({ [name]: query.value.getAll(name).filter((each) => each.replace(/^!/, "") !== value) })
}

const NO_FILTERS = { ...Object.fromEntries(FILTERS.map((name) => [name, null])), q: null }

export function clearFilters(): void {
  setQuery(NO_FILTERS)
}

/** For a link with a filter or an order that the list does not have. */
export function clearFiltersAndOrder(): void {
  setQuery({ ...NO_FILTERS, sort: null })
}

/** The path of the list without its page. A range that ends now has no end, so that it includes new calls. */
export function listPath(workspace: string | null): string {
  const { from, to, isLive } = currentRange("24h")
  const params = query.value
  return withParams("/calls", {
    from: new Date(from).toISOString(),
    to: isLive ? null : new Date(to).toISOString(),
    ...Object.fromEntries(FILTERS.map((name) => [name, params.getAll(name)])),
    ...(workspace !== null && !params.has("workspace") && { workspace }),
    q: params.get("q"),
    sort: params.get("sort"),
    limit: 200,
  })
}

/** The page of a call, with the filters of the list. */
export function callHref(id: string | null): string {
  const url = withQuery({})
  const search = url.includes("?") ? url.slice(url.indexOf("?")) : ""
  return `/calls${id === null ? "" : `/${id}`}${search}`
}

export function setStatus(value: string | null): void {
  setQuery({ status: value })
}
