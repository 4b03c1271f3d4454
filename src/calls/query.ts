import { GatewayError } from "../errors/errors.ts"
import { decodeBase64, toBase64Url } from "../support/text/encoding.ts"
import { isArray, parseJson } from "../support/text/json.ts"
import { CallsQuery, SORTS } from "./schemas.ts"

/** Values of one field: at least one of `included` if there are any, and none of `excluded`. */
export type Filter = { included: readonly string[]; excluded: readonly string[] }

export const FIELDS = [
  "model",
  "requested_model",
  "provider",
  "key",
  "app",
  "workspace",
  "status",
  "session_id",
  "creator_user_id",
  "user",
  "guardrail",
  "preset",
] as const
export type Field = (typeof FIELDS)[number]
export type Sort = (typeof SORTS)[number]

/** Position in a list. `value`: of the order; `to`: end of the range, which is fixed while a list is paged. */
export type Position = { value: number; id: string; to: number }

export type CallSearch = {
  /** Epoch milliseconds, end exclusive. */
  from: number
  to: number
  filters: ReadonlyMap<Field, Filter>
  text: string | null
  sort: Sort
  isDescending: boolean
  limit: number
  after: Position | undefined
}

export function toSearch(query: CallsQuery, now: number): CallSearch {
  const { from, to, q, sort, limit, cursor } = query
  const after = cursor === undefined ? undefined : readCursor(cursor, sort)
  const end = after?.to ?? (to === undefined ? now + 60_000 : Date.parse(to))
  const start = from === undefined ? 0 : Date.parse(from)
  if (start >= end) throw new GatewayError("invalid_request", "from: must be before to.")
  const filters = FIELDS.flatMap((field) => {
    const filter = toFilter(query[field])
    return filter ? [[field, filter] as const] : []
  })
  const isDescending = sort.startsWith("-")
  const name = SORTS.find((one) => one === sort.replace("-", "")) ?? "time"
  return {
    from: start,
    to: end,
    filters: new Map(filters),
    text: q === undefined || q.trim() === "" ? null : q.trim().toLowerCase(),
    sort: name,
    isDescending,
    limit,
    after,
  }
}

function toFilter(value: string | string[] | undefined): Filter | undefined {
  if (value === undefined) return undefined
  const values = isArray(value) ? value : [value]
  return {
    included: values.filter((one) => !one.startsWith("!")),
    excluded: values.filter((one) => one.startsWith("!")).map((one) => one.slice(1)),
  }
}

export function toCursor({ value, id, to }: Position, query: Pick<CallsQuery, "sort">): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([query.sort, value, id, to])))
}

function readCursor(cursor: string, sort: string): Position {
  const bytes = decodeBase64(cursor)
  const parts = bytes && parseJson(new TextDecoder().decode(bytes))
  const [order, value, id, to] = isArray(parts) ? parts : []
  if (order !== sort || typeof value !== "number" || typeof id !== "string" || typeof to !== "number") {
    throw new GatewayError("invalid_request", "cursor: must be the next_cursor of a page with the same sort.")
  }
  return { value, id, to }
}
