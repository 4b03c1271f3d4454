import type { Filter } from "scim2-parse-filter"
import {
  type Attribute,
  CORE_ATTRIBUTES,
  ENTERPRISE_ATTRIBUTES,
  ENTERPRISE_SCHEMA,
  GROUP_SCHEMA,
  USER_SCHEMA,
} from "./attributes.ts"
import { invalid } from "./errors.ts"
import { readFilter } from "./read-filter.ts"
import { asciiLower, spellingsOf } from "./spellings.ts"

/** An SQL condition or order, built from constants of this file only; input is in `values`. */
export type Clause = { sql: string; values: (string | number)[] }

/** Fields that a filter can use. A multi-valued attribute is filtered by its parts, `value` by default. */
type Field =
  | { kind: "text" | "exact" | "flag" | "instant"; sql: string }
  /** Complex attributes accept only `pr`; with a `value` (in SQL), comparisons are with that part. */
  | { kind: "complex"; sql: string; value?: string }
  | { kind: "list"; from: string; of: string; parts: Readonly<Record<string, Field>> }
type List = Extract<Field, { kind: "list" }>
export type Fields = Readonly<Record<string, Field>>

const text = (sql: string): Field => ({ kind: "text", sql })
const exact = (sql: string): Field => ({ kind: "exact", sql })

const META: Fields = {
  id: exact("id"),
  externalid: exact("external_id"),
  meta: { kind: "complex", sql: "id" },
  "meta.version": exact("'W/\"' || version || '\"'"),
  "meta.created": { kind: "instant", sql: "created_at" },
  "meta.lastmodified": { kind: "instant", sql: "updated_at" },
}

const schemas = (array: string): Field => ({
  kind: "list",
  from: `json_each(${array}) item`,
  of: "1",
  parts: { value: text("item.value") },
})

const list = ({ name, parts = [] }: Attribute): Field => ({
  kind: "list",
  from: `json_each(attributes, '$.${name}') item`,
  of: "1",
  parts: Object.fromEntries(
    parts.map(({ name: part, type }) => [
      part.toLowerCase(),
      { kind: type === "boolean" ? "flag" : "text", sql: `item.value ->> '$.${part}'` },
    ]),
  ),
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
  ...Object.fromEntries(lists.map((attribute) => [attribute.name.toLowerCase(), list(attribute)])),
  ...Object.fromEntries(
    enterprise.map(({ name }) => [
      `${ENTERPRISE_SCHEMA}:${name}`.toLowerCase(),
      text(`attributes ->> '$."${ENTERPRISE_SCHEMA}".${name}'`),
    ]),
  ),
  ...META,
  schemas: schemas(
    `json_array('${USER_SCHEMA}', iif(attributes -> '$."${ENTERPRISE_SCHEMA}"' IS NULL, NULL, '${ENTERPRISE_SCHEMA}'))`,
  ),
  name: { kind: "complex", sql: "attributes ->> '$.name'" },
  [`${ENTERPRISE_SCHEMA}:manager`.toLowerCase()]: {
    kind: "complex",
    sql: `attributes ->> '$."${ENTERPRISE_SCHEMA}".manager'`,
    value: `attributes ->> '$."${ENTERPRISE_SCHEMA}".manager.value'`,
  },
  ...Object.fromEntries(
    ["value", "displayName"].map((part) => [
      `${ENTERPRISE_SCHEMA}:manager.${part}`.toLowerCase(),
      text(`attributes ->> '$."${ENTERPRISE_SCHEMA}".manager.${part}'`),
    ]),
  ),
  "meta.resourcetype": text("'User'"),
  username: text("user_name"),
  active: { kind: "flag", sql: "active" },
  groups: {
    kind: "list",
    from: "scim_group_members item JOIN scim_groups of_group ON of_group.id = item.group_id",
    of: "item.organization_id = scim_users.organization_id AND item.user_id = scim_users.id",
    parts: { value: exact("item.group_id"), display: text("of_group.display_name") },
  },
}

export const GROUP_FIELDS: Fields = {
  ...META,
  schemas: schemas(`json_array('${GROUP_SCHEMA}')`),
  displayname: text("display_name"),
  "meta.resourcetype": text("'Group'"),
  members: {
    kind: "list",
    from: `scim_group_members item JOIN scim_users of_user
      ON of_user.organization_id = item.organization_id AND of_user.id = item.user_id`,
    of: "item.group_id = scim_groups.id",
    parts: { value: exact("item.user_id"), display: text("of_user.user_name"), type: text("'User'") },
  },
}

/** A comparison binds at most two values and a statement takes 100; more would also exceed D1's expression depth. */
const MAX_COMPARISONS = 40
const EVERYTHING: Clause = { sql: "1", values: [] }

/** The SQL condition of a filter; always true without one. */
export function toCondition(rule: string | undefined, fields: Fields): Clause {
  if (rule === undefined) return EVERYTHING
  const filter = readFilter(rule)
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
      return 1 + comparisonsIn(filter.filter)
    case "[]":
      return comparisonsIn(filter.valFilter)
    default:
      return 1
  }
}

/** The sort order of a list; oldest first by default. */
export function toOrder(sortBy: string | undefined, descending: boolean, fields: Fields): string {
  const direction = descending ? "DESC" : "ASC"
  if (sortBy === undefined) return `created_at ${direction}, id`
  const side = sortValue(bare(sortBy), fields)
  if (side === undefined) throw invalid("invalidPath", "sortBy: resources cannot be sorted by this attribute.")
  // Resources without a value sort last, or first in descending order: RFC 7644, section 3.4.2.3.
  return `${side} ${direction} NULLS ${descending ? "FIRST" : "LAST"}, id`
}

/** The field of a path. Attributes of the extension may be named without its schema, as Entra does. */
function fieldAt(path: string, fields: Fields): Field | undefined {
  const name = [path, `${ENTERPRISE_SCHEMA.toLowerCase()}:${path}`].find((one) => Object.hasOwn(fields, one))
  return name === undefined ? undefined : fields[name]
}

/** Compares the primary value of a multi-valued attribute, otherwise the first. */
function sortValue(path: string, fields: Fields): string | undefined {
  const field = fieldAt(path, fields)
  if (field?.kind === "list") return sortValue("value", field.parts) && firstOf(field, "value")
  if (field) return field.kind === "complex" ? undefined : folded(field)
  const dot = path.lastIndexOf(".")
  const parent = fieldAt(path.slice(0, dot), fields)
  return parent?.kind === "list" ? firstOf(parent, path.slice(dot + 1)) : undefined
}

function firstOf({ from, of, parts }: List, name: string): string | undefined {
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined
  if (!part || part.kind === "list" || part.kind === "complex") return undefined
  const primary = parts["primary"]?.kind === "flag" ? `${parts["primary"].sql} DESC` : folded(part)
  return `(SELECT ${folded(part)} FROM ${from} WHERE ${of} ORDER BY ${primary} LIMIT 1)`
}

const folded = ({ kind, sql }: Exclude<Field, List>) => (kind === "text" ? `lower(${sql})` : sql)

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
      const field = fieldAt(bare(filter.attrPath), fields)
      if (field?.kind !== "list") throw unknown(filter.attrPath)
      return within(field, compile(filter.valFilter, field.parts))
    }
    default:
      return compare(bare(filter.attrPath), filter, fields)
  }
}

function join(clauses: readonly Clause[], operator: string): Clause {
  return { sql: `(${clauses.map(({ sql }) => sql).join(operator)})`, values: clauses.flatMap(({ values }) => values) }
}

function within({ from, of }: List, { sql, values }: Clause): Clause {
  return { sql: `EXISTS (SELECT 1 FROM ${from} WHERE ${of} AND ${sql})`, values }
}

function unknown(path: string): Error {
  return invalid("invalidFilter", `filter: resources cannot be found by ${path.slice(0, 100)}.`)
}

type Comparison = Extract<Filter, { op: "pr" | "eq" | "ne" | "co" | "sw" | "ew" | "gt" | "lt" | "ge" | "le" }>

function compare(path: string, filter: Comparison, fields: Fields): Clause {
  const field = fieldAt(path, fields)
  if (field?.kind === "list") return within(field, compare("value", filter, field.parts))
  if (field) return compareField(field, filter)
  const dot = path.lastIndexOf(".")
  const parent = fieldAt(path.slice(0, dot), fields)
  if (parent?.kind !== "list") throw unknown(filter.attrPath)
  return within(parent, compare(path.slice(dot + 1), filter, parent.parts))
}

const SIGNS = { gt: ">", ge: ">=", lt: "<", le: "<=" } as const

function compareField(field: Exclude<Field, List>, filter: Comparison): Clause {
  const { kind, sql } = field
  if (filter.op === "pr") return { sql: `(${sql} IS NOT NULL AND ${sql} <> '')`, values: [] }
  if (kind === "complex" && field.value) return compareField({ kind: "text", sql: field.value }, filter)
  if (kind === "complex") throw invalid("invalidFilter", `filter: ${filter.attrPath} has parts. Name one, or use pr.`)
  const value = toValue(kind, filter)
  // Both sides fold only ASCII letters, as SQLite's lower() does.
  const side = kind === "text" ? `lower(${sql})` : sql
  if (value === null) return { sql: `${sql} IS ${filter.op === "ne" ? "NOT NULL" : "NULL"}`, values: [] }
  const spellings = kind === "text" ? spellingsOf(String(value)) : undefined
  switch (filter.op) {
    case "eq":
      if (spellings) return { sql: `${side} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(spellings)] }
      return { sql: `${side} = ?`, values: [value] }
    case "ne":
      if (spellings) {
        const isOne = `coalesce(${side}, '') IN (SELECT value FROM json_each(?))`
        return { sql: `NOT ${isOne}`, values: [JSON.stringify(spellings)] }
      }
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
    if (filter.op !== "eq" && filter.op !== "ne") {
      throw invalid("invalidFilter", `filter: ${attrPath} is a boolean and accepts eq and ne.`)
    }
    const rule = String(value).toLowerCase()
    if (rule !== "true" && rule !== "false") throw invalid("invalidFilter", `filter: ${attrPath} is true or false.`)
    return rule === "true" ? 1 : 0
  }
  if (kind === "instant") {
    const instant = Date.parse(String(value))
    if (!Number.isFinite(instant)) throw invalid("invalidFilter", `filter: ${attrPath} is an ISO 8601 date-time.`)
    return instant
  }
  return kind === "text" ? asciiLower(String(value)) : String(value)
}
