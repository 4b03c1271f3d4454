import type { Filter } from "scim2-parse-filter"
import { CORE_ATTRIBUTES, ENTERPRISE_ATTRIBUTES, ENTERPRISE_SCHEMA, GROUP_SCHEMA, USER_SCHEMA } from "./attributes.ts"
import { invalid } from "./errors.ts"
import { readFilter } from "./patch.ts"

/** A condition or an order of SQL, made of the constants of this file; what comes from outside is in `values`. */
export type Clause = { sql: string; values: (string | number)[] }

/** What of a resource can be asked for. A list is asked by its parts, `value` where none is named. */
type Field =
  | { kind: "text" | "exact" | "flag" | "instant"; sql: string }
  | { kind: "list"; from: string; parts: Readonly<Record<string, Field>> }
type Fields = Readonly<Record<string, Field>>

const text = (sql: string): Field => ({ kind: "text", sql })
const exact = (sql: string): Field => ({ kind: "exact", sql })

const META: Fields = {
  id: exact("id"),
  externalid: exact("external_id"),
  "meta.created": { kind: "instant", sql: "created_at" },
  "meta.lastmodified": { kind: "instant", sql: "updated_at" },
}

const list = (name: string): Field => ({
  kind: "list",
  from: `json_each(attributes, '$.${name}') item`,
  parts: {
    value: text("item.value ->> '$.value'"),
    type: text("item.value ->> '$.type'"),
    display: text("item.value ->> '$.display'"),
    primary: { kind: "flag", sql: "item.value ->> '$.primary'" },
  },
})

const strings = CORE_ATTRIBUTES.filter(({ type }) => type === "string")
const nameParts = CORE_ATTRIBUTES.find(({ name }) => name === "name")?.parts ?? []
const lists = CORE_ATTRIBUTES.filter(({ multiValued }) => multiValued)
const enterprise = ENTERPRISE_ATTRIBUTES.filter(({ type }) => type === "string")

export const USER_FIELDS: Fields = {
  ...Object.fromEntries(strings.map(({ name }) => [name.toLowerCase(), text(`attributes ->> '$.${name}'`)])),
  ...Object.fromEntries(
    nameParts.map(({ name }) => [`name.${name.toLowerCase()}`, text(`attributes ->> '$.name.${name}'`)]),
  ),
  ...Object.fromEntries(lists.map(({ name }) => [name.toLowerCase(), list(name)])),
  ...Object.fromEntries(
    enterprise.map(({ name }) => [
      `${ENTERPRISE_SCHEMA}:${name}`.toLowerCase(),
      text(`attributes ->> '$."${ENTERPRISE_SCHEMA}".${name}'`),
    ]),
  ),
  ...META,
  username: text("user_name"),
  active: { kind: "flag", sql: "active" },
}

export const GROUP_FIELDS: Fields = {
  ...META,
  displayname: text("display_name"),
  members: {
    kind: "list",
    from: "scim_group_members item",
    parts: { value: exact("iif(item.group_id = scim_groups.id, item.user_id, NULL)") },
  },
}

/** Each binds at most two values, and a statement takes a hundred. */
const MAX_COMPARISONS = 40
const EVERYTHING: Clause = { sql: "1", values: [] }

/** The condition that a filter means; without one, everything. */
export function toCondition(words: string | undefined, fields: Fields): Clause {
  if (words === undefined) return EVERYTHING
  const filter = readFilter(words)
  if (comparisonsIn(filter) > MAX_COMPARISONS) {
    throw invalid("invalidFilter", `filter: takes at most ${MAX_COMPARISONS} comparisons.`)
  }
  return compile(filter, fields)
}

function comparisonsIn(filter: Filter): number {
  switch (filter.op) {
    case "and":
    case "or":
      return filter.filters.reduce((sum, one) => sum + comparisonsIn(one), 0)
    case "not":
      return comparisonsIn(filter.filter)
    case "[]":
      return comparisonsIn(filter.valFilter)
    default:
      return 1
  }
}

/** What a list is sorted by; the oldest first where nothing is named. */
export function toOrder(sortBy: string | undefined, descending: boolean, fields: Fields): string {
  const direction = descending ? "DESC" : "ASC"
  if (sortBy === undefined) return `created_at ${direction}, id`
  const field = fields[bare(sortBy)]
  if (!field || field.kind === "list")
    throw invalid("invalidPath", "sortBy: resources cannot be sorted by this attribute.")
  return `${field.kind === "text" ? `lower(${field.sql})` : field.sql} ${direction}, id`
}

/** In lower case, and without the schema of the resource. */
function bare(path: string): string {
  const folded = path.toLowerCase()
  const schema = [USER_SCHEMA, GROUP_SCHEMA].find((one) => folded.startsWith(`${one.toLowerCase()}:`))
  return schema ? folded.slice(schema.length + 1) : folded
}

function compile(filter: Filter, fields: Fields): Clause {
  switch (filter.op) {
    case "and":
    case "or":
      return join(
        filter.filters.map((one) => compile(one, fields)),
        filter.op === "and" ? " AND " : " OR ",
      )
    case "not": {
      const { sql, values } = compile(filter.filter, fields)
      return { sql: `NOT coalesce(${sql}, 0)`, values }
    }
    case "[]": {
      const field = fields[bare(filter.attrPath)]
      if (field?.kind !== "list") throw unknown(filter.attrPath)
      return within(field.from, compile(filter.valFilter, field.parts))
    }
    default:
      return compare(bare(filter.attrPath), filter, fields)
  }
}

function join(clauses: readonly Clause[], word: string): Clause {
  return { sql: `(${clauses.map(({ sql }) => sql).join(word)})`, values: clauses.flatMap(({ values }) => values) }
}

function within(from: string, { sql, values }: Clause): Clause {
  return { sql: `EXISTS (SELECT 1 FROM ${from} WHERE ${sql})`, values }
}

function unknown(path: string): Error {
  return invalid("invalidFilter", `filter: resources cannot be found by ${path.slice(0, 100)}.`)
}

type Comparison = Extract<Filter, { op: "pr" | "eq" | "ne" | "co" | "sw" | "ew" | "gt" | "lt" | "ge" | "le" }>

function compare(path: string, filter: Comparison, fields: Fields): Clause {
  const field = Object.hasOwn(fields, path) ? fields[path] : undefined
  if (field?.kind === "list") return within(field.from, compare("value", filter, field.parts))
  if (field) return compareField(field, filter)
  const dot = path.lastIndexOf(".")
  const whole = Object.hasOwn(fields, path.slice(0, dot)) ? fields[path.slice(0, dot)] : undefined
  if (whole?.kind !== "list") throw unknown(filter.attrPath)
  return within(whole.from, compare(path.slice(dot + 1), filter, whole.parts))
}

const SIGNS = { gt: ">", ge: ">=", lt: "<", le: "<=" } as const

function compareField({ kind, sql }: Exclude<Field, { kind: "list" }>, filter: Comparison): Clause {
  if (filter.op === "pr") return { sql: `(${sql} IS NOT NULL AND ${sql} <> '')`, values: [] }
  const value = toValue(kind, filter)
  // Both sides fold the letters of ASCII only: it is what SQLite's lower() does.
  const side = kind === "text" ? `lower(${sql})` : sql
  if (value === null) return { sql: `${sql} IS ${filter.op === "ne" ? "NOT NULL" : "NULL"}`, values: [] }
  switch (filter.op) {
    case "eq":
      return { sql: `${side} = ?`, values: [value] }
    case "ne":
      return { sql: `${side} IS NOT ?`, values: [value] }
    case "co":
      return { sql: `instr(${side}, ?) > 0`, values: [value] }
    case "sw":
      return { sql: `substr(${side}, 1, length(?)) = ?`, values: [value, value] }
    case "ew":
      return value === ""
        ? { sql: `${sql} IS NOT NULL`, values: [] }
        : { sql: `substr(${side}, -length(?)) = ?`, values: [value, value] }
    default:
      return { sql: `${side} ${SIGNS[filter.op]} ?`, values: [value] }
  }
}

function toValue(kind: "text" | "exact" | "flag" | "instant", filter: Exclude<Comparison, { op: "pr" }>) {
  const { compValue: value, attrPath } = filter
  if (value === null) return null
  if (kind === "flag") {
    const words = String(value).toLowerCase()
    if (words !== "true" && words !== "false") throw invalid("invalidFilter", `filter: ${attrPath} is true or false.`)
    return words === "true" ? 1 : 0
  }
  if (kind === "instant") {
    const instant = Date.parse(String(value))
    if (!Number.isFinite(instant)) throw invalid("invalidFilter", `filter: ${attrPath} is an ISO 8601 date-time.`)
    return instant
  }
  return kind === "text" ? String(value).replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) : String(value)
}
