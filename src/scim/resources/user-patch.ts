import { type Filter, filter as toPredicate } from "scim2-parse-filter"
import { isObject } from "../../support/text/json.ts"
import {
  type Attribute,
  type Document,
  ENTERPRISE_ATTRIBUTES,
  ENTERPRISE_SCHEMA,
  findAttribute,
  isDocument,
  readValue,
  USER_ATTRIBUTES,
  USER_SCHEMA,
  type Value,
} from "../protocol/attributes.ts"
import { invalid } from "../protocol/errors.ts"
import { isUrn, type Operation, type Path, readPath } from "../protocol/patch.ts"

/** Attributes that clients may send and that are ignored, as in a complete user. A password is never stored. */
const IGNORED = ["password", "ims", "photos", "x509certificates"]
const READ_ONLY = ["id", "meta", "groups", "schemas"]

/** A user's document after these operations, in order. */
export function patchUser(document: Document, operations: readonly Operation[]): Document {
  let patched = document
  for (const operation of operations) patched = apply(patched, operation)
  return patched
}

function apply(document: Document, { op, path, value }: Operation): Document {
  if (path !== undefined) return applyAt(document, path, op, value)
  if (!isObject(value)) throw invalid("invalidValue", "value: must be an object where there is no path.")
  // Okta sends the complete resource, Entra attributes by path.
  let patched = document
  for (const [name, inner] of Object.entries(value)) {
    if (isKnown(name)) patched = applyAt(patched, name, inner === null ? "remove" : op, inner)
  }
  return patched
}

function isKnown(name: string): boolean {
  const { schema, rest } = split(name)
  return schema === ENTERPRISE_SCHEMA || findAttribute(USER_ATTRIBUTES, rootOf(rest)) !== undefined
}

/** The attribute that a path begins with. */
const rootOf = (path: string) => path.split(/[.[]/)[0] ?? ""

/** The schema of a path, undefined if it is not served, and the path within it. */
function split(path: string): { schema: string | undefined; rest: string } {
  const folded = path.toLowerCase()
  for (const schema of [ENTERPRISE_SCHEMA, USER_SCHEMA]) {
    if (folded === schema.toLowerCase()) return { schema, rest: "" }
    if (folded.startsWith(`${schema.toLowerCase()}:`)) return { schema, rest: path.slice(schema.length + 1) }
  }
  if (isUrn(path)) return { schema: undefined, rest: path }
  // Entra's documentation has `manager` without the schema.
  const isEnterprise = findAttribute(ENTERPRISE_ATTRIBUTES, rootOf(path)) !== undefined
  return { schema: isEnterprise ? ENTERPRISE_SCHEMA : USER_SCHEMA, rest: path }
}

function applyAt(document: Document, path: string, op: Operation["op"], value: unknown): Document {
  const { schema, rest } = split(path)
  // Ignored as in a complete user: a mapping that is not stored must not stop a deactivation in the same request.
  if (schema === undefined) return document
  // The URI of the core schema means the complete user.
  if (schema === USER_SCHEMA && rest === "" && op !== "remove") {
    return apply(document, { op, path: undefined, value })
  }
  if (schema === USER_SCHEMA) {
    const at = readPath(rest)
    if (IGNORED.includes(at.name.toLowerCase())) return document
    if (READ_ONLY.includes(at.name.toLowerCase())) throw invalid("mutability", `${at.name}: is read-only.`)
    return set(document, { attributes: USER_ATTRIBUTES, path: at, op, value })
  }
  if (rest === "")
    return set(document, {
      attributes: USER_ATTRIBUTES,
      path: { name: ENTERPRISE_SCHEMA, ...COMPLETE_ATTRIBUTE },
      op,
      value,
    })
  const inner = isObject(document[ENTERPRISE_SCHEMA]) ? document[ENTERPRISE_SCHEMA] : {}
  const attributes = ENTERPRISE_ATTRIBUTES
  return withValue(document, ENTERPRISE_SCHEMA, set(inner, { attributes, path: readPath(rest), op, value }))
}

const COMPLETE_ATTRIBUTE = { filter: undefined, part: undefined }

function withValue(document: Document, name: string, value: Value | undefined): Document {
  const { [name]: _, ...others } = document
  const isEmpty = Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0
  return value === undefined || isEmpty ? others : { ...others, [name]: value }
}

function set(
  document: Document,
  {
    attributes,
    path,
    op,
    value,
  }: { attributes: readonly Attribute[]; path: Path; op: Operation["op"]; value: unknown },
): Document {
  const attribute = findAttribute(attributes, path.name)
  if (!attribute) throw invalid("invalidPath", `path: there is no attribute ${path.name.slice(0, 100)}.`)
  const { name } = attribute
  const before = document[name]
  if (attribute.multiValued) {
    const items = (Array.isArray(before) ? before : []).filter(isDocument)
    const after =
      path.filter || path.part ? setItems(items, { attribute, path, op, value }) : setAll(items, attribute, op, value)
    return withValue(document, name, readValue(attribute, after, name))
  }
  if (path.filter) throw invalid("invalidPath", `path: ${name} has a single value and takes no filter.`)
  if (path.part !== undefined) {
    const inner = isObject(before) ? before : {}
    return withValue(
      document,
      name,
      set(inner, { attributes: attribute.parts ?? [], path: { name: path.part, ...COMPLETE_ATTRIBUTE }, op, value }),
    )
  }
  if (op === "remove" && attribute.required) throw invalid("mutability", `${name}: is required, and cannot be removed.`)
  if (op === "remove") return withValue(document, name, undefined)
  const read = readValue(attribute, value, name)
  const isMerged = isObject(before) && isObject(read)
  return withValue(document, name, isMerged ? { ...before, ...read } : read)
}

/** Changes a multi-valued attribute. Without a filter, the value of a removal selects the items. */
function setAll(items: Document[], attribute: Attribute, op: Operation["op"], value: unknown): Document[] {
  const read = readValue(attribute, value, attribute.name)
  const documents = (Array.isArray(read) ? read : []).filter(isDocument)
  if (op === "replace") return documents
  if (op === "remove") {
    if (documents.length === 0) return []
    const removed = new Set(documents.map((item) => item["value"]))
    return items.filter((item) => !removed.has(item["value"]))
  }
  const existing = new Set(items.map((item) => JSON.stringify(sorted(item))))
  return [...items, ...documents.filter((item) => !existing.has(JSON.stringify(sorted(item))))]
}

const sorted = (item: Document) => Object.entries(item).toSorted(([one], [other]) => (one < other ? -1 : 1))

/**
 * Changes the items that match the filter, or all. A missing item is created from the `eq` conditions of its filter.
 */
function setItems(
  items: Document[],
  {
    attribute,
    path: { filter, part },
    op,
    value,
  }: { attribute: Attribute; path: Path; op: Operation["op"]; value: unknown },
): Document[] {
  const parts = attribute.parts ?? []
  const isChosen = filter ? matcher(filter) : () => true
  const change = (item: Document): Document => {
    if (part !== undefined)
      return set(item, { attributes: parts, path: { name: part, ...COMPLETE_ATTRIBUTE }, op, value })
    const read = readValue({ ...attribute, multiValued: false }, value, attribute.name)
    return isObject(read) ? { ...item, ...read } : item
  }
  if (op === "remove") {
    return part === undefined
      ? items.filter((item) => !isChosen(item))
      : items.map((item) => (isChosen(item) ? change(item) : item))
  }
  if (items.some(isChosen)) {
    // The item that is set last becomes the primary one.
    const [others, changedItems] = [items.filter((item) => !isChosen(item)), items.filter(isChosen).map(change)]
    return [...others, ...changedItems]
  }
  const start = filter ? startOf(filter, parts) : {}
  if (!start) throw invalid("noTarget", `path: no value of ${attribute.name} matches its filter.`)
  return [...items, change(start)]
}

/** The item that a filter of `eq` conditions describes. */
function startOf(filter: Filter, parts: readonly Attribute[]): Document | undefined {
  const equations = filter.op === "and" ? filter.filters : [filter]
  const start: Document = {}
  for (const equation of equations) {
    const part = equation.op === "eq" ? findAttribute(parts, equation.attrPath) : undefined
    if (!part || equation.op !== "eq") return undefined
    const value = readValue(part, equation.compValue, part.name)
    if (value !== undefined) start[part.name] = value
  }
  return start
}

/** Matches items of an attribute; names and values are compared case-insensitively. */
function matcher(filter: Filter): (item: Document) => boolean {
  const matches = toPredicate(folded(filter))
  return (item) =>
    matches(
      Object.fromEntries(
        Object.entries(item).map(([name, value]) => [
          name.toLowerCase(),
          typeof value === "string" ? value.toLowerCase() : value,
        ]),
      ),
    )
}

function folded(filter: Filter): Filter {
  switch (filter.op) {
    case "and":
    case "or":
      return { ...filter, filters: filter.filters.map(folded) }
    case "not":
      return { ...filter, filter: folded(filter.filter) }
    case "[]":
      throw invalid("invalidFilter", "filter: takes no filter within a filter.")
    case "pr":
      return { ...filter, attrPath: filter.attrPath.toLowerCase() }
    default: {
      const { attrPath, compValue } = filter
      const message = typeof compValue === "string" ? compValue.toLowerCase() : compValue
      const isFlag = attrPath.toLowerCase() === "primary" && (message === "true" || message === "false")
      return { ...filter, attrPath: attrPath.toLowerCase(), compValue: isFlag ? message === "true" : message }
    }
  }
}
