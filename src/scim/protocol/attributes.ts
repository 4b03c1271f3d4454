import { isObject } from "../../support/text/json.ts"
import { isPrintableLine, toPrintableLine } from "../../support/text/printable.ts"
import { invalid } from "./errors.ts"

/**
 * Stored attributes of a user, after RFC 7643, sections 4.1 and 4.3. Bodies, PATCH and /Schemas are all driven by this
 * table.
 */
export type Attribute = {
  name: string
  type: "string" | "boolean" | "complex" | "reference"
  multiValued?: boolean
  required?: boolean
  unique?: boolean
  mutability?: "readOnly" | "immutable"
  /** Whether values are compared case-sensitively. */
  caseExact?: boolean
  /** Identifies a person: it is not changed, but rejected with control characters. */
  isIdentifier?: boolean
  /** Whether values may have line breaks. */
  isMultiLine?: boolean
  /** Suggested values. */
  canonicalValues?: readonly string[]
  parts?: readonly Attribute[]
}

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User"
export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group"
export const ENTERPRISE_SCHEMA = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

const text = (name: string): Attribute => ({ name, type: "string" })
const texts = (...names: string[]) => names.map(text)
const complex = (name: string, parts: readonly Attribute[]): Attribute => ({ name, type: "complex", parts })
const reference = (name: string): Attribute => ({ name, type: "reference", caseExact: true })
/** Parts of addresses, which may have line breaks (RFC 7643, section 4.1.2). */
const LINES = ["formatted", "streetAddress"]
const many = (name: string, ...parts: string[]): Attribute => ({
  name,
  type: "complex",
  multiValued: true,
  parts: [
    { ...text("value"), isIdentifier: name === "emails" },
    ...texts("display", "type"),
    ...parts.map((part) => (LINES.includes(part) ? { ...text(part), isMultiLine: true } : text(part))),
    { name: "primary", type: "boolean" },
  ],
})

export const ENTERPRISE_ATTRIBUTES: readonly Attribute[] = [
  ...texts("employeeNumber", "costCenter", "organization", "division", "department"),
  complex("manager", [...texts("value", "displayName"), reference("$ref")]),
]

export const CORE_ATTRIBUTES: readonly Attribute[] = [
  { name: "userName", type: "string", required: true, unique: true, isIdentifier: true },
  complex("name", texts("formatted", "familyName", "givenName", "middleName", "honorificPrefix", "honorificSuffix")),
  ...texts("displayName", "nickName", "profileUrl", "title", "userType", "preferredLanguage", "locale", "timezone"),
  { name: "active", type: "boolean" },
  many("emails"),
  many("phoneNumbers"),
  many("addresses", "formatted", "streetAddress", "locality", "region", "postalCode", "country"),
  many("roles"),
  many("entitlements"),
]

/** As stored in a user's document: the extension is an attribute with the name of its schema. */
export const USER_ATTRIBUTES: readonly Attribute[] = [
  { ...text("externalId"), isIdentifier: true },
  ...CORE_ATTRIBUTES,
  complex(ENTERPRISE_SCHEMA, ENTERPRISE_ATTRIBUTES),
]

export type Value = string | boolean | Document | Value[]
export type Document = { [name: string]: Value }

export function isDocument(value: Value): value is Document {
  return isObject(value)
}

/** Attributes of a reference in a list: set when it is added and immutable; the display name is derived. */
const links = (mutability: "readOnly" | "immutable", canonicalValues: readonly string[]): readonly Attribute[] => [
  { ...text("value"), caseExact: true, mutability },
  { ...text("display"), mutability: "readOnly" },
  { ...text("type"), mutability, canonicalValues },
  { ...reference("$ref"), mutability },
]

/** Attributes of a user that are derived from its groups. */
export const DERIVED_ATTRIBUTES: readonly Attribute[] = [
  { name: "groups", type: "complex", multiValued: true, mutability: "readOnly", parts: links("readOnly", ["direct"]) },
]

export const GROUP_ATTRIBUTES: readonly Attribute[] = [
  { name: "displayName", type: "string", required: true },
  { name: "members", type: "complex", multiValued: true, parts: links("immutable", ["User"]) },
]

const MAX_TEXT_LENGTH = 1_024
const MAX_VALUES = 100

/** Attribute names are case-insensitive. */
export function findAttribute(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const folded = name.toLowerCase()
  return attributes.find((attribute) => attribute.name.toLowerCase() === folded)
}

/**
 * Reads these attributes from a body. Unknown attributes are ignored, as section 3.3 of RFC 7644 allows, passwords
 * included.
 */
export function readDocument(attributes: readonly Attribute[], input: Record<string, unknown>, path = ""): Document {
  const read: Document = {}
  for (const [name, value] of Object.entries(input)) {
    const attribute = findAttribute(attributes, name)
    if (!attribute) continue
    const parsed = readValue(attribute, value, `${path}${attribute.name}`)
    if (parsed !== undefined) read[attribute.name] = parsed
  }
  return read
}

/** The value of an attribute; undefined for null and for empty values. */
export function readValue(attribute: Attribute, input: unknown, path: string): Value | undefined {
  const value = attribute.multiValued ? input : unwrap(input, attribute.type === "complex")
  if (value === null || value === undefined) return undefined
  if (!attribute.multiValued) return readOne(attribute, value, path)
  const values = Array.isArray(value) ? value : [value]
  if (values.length > MAX_VALUES) throw invalid("tooMany", `${path}: takes at most ${MAX_VALUES} values.`)
  const read = values.map((one) => readOne(attribute, one, path)).filter((one) => one !== undefined)
  return read.length > 0 ? onePrimary(read) : undefined
}

/** Some clients send a single value in an array, Entra as `[{"$ref": null, "value": "Ada"}]`. */
export function unwrap(value: unknown, isComplex: boolean): unknown {
  if (!Array.isArray(value) || value.length !== 1) return value
  const only: unknown = value[0]
  if (isComplex) return only
  return isObject(only) && "value" in only ? only["value"] : value
}

function readOne(attribute: Attribute, value: unknown, path: string): Value | undefined {
  if (attribute.type === "boolean") return readBoolean(value, path)
  if (attribute.type === "complex") {
    // Entra sends a manager as only the id.
    const input = typeof value === "string" && findAttribute(attribute.parts ?? [], "value") ? { value } : value
    if (!isObject(input)) throw invalid("invalidValue", `${path}: must be an object.`)
    const read = readDocument(attribute.parts ?? [], input, `${path}.`)
    return Object.keys(read).length > 0 ? read : undefined
  }
  if (typeof value !== "string" && typeof value !== "number")
    throw invalid("invalidValue", `${path}: must be a string.`)
  const message = String(value)
  if (message.length > MAX_TEXT_LENGTH) {
    throw invalid("invalidValue", `${path}: must have at most ${MAX_TEXT_LENGTH} characters.`)
  }
  if (attribute.isMultiLine)
    return message
      .split(/\r\n?|\n/)
      .map(toPrintableLine)
      .join("\n")
  if (isPrintableLine(message)) return message
  if (attribute.isIdentifier) throw invalid("invalidValue", `${path}: ${ONE_LINE}`)
  const line = toPrintableLine(message)
  return line === "" ? undefined : line
}

export const ONE_LINE = "must be one line without control characters."

/** Entra sends booleans as "True" and "False". */
function readBoolean(value: unknown, path: string): boolean {
  if (typeof value === "boolean") return value
  const message = typeof value === "string" ? value.toLowerCase() : ""
  if (message === "true" || message === "false") return message === "true"
  throw invalid("invalidValue", `${path}: must be true or false.`)
}

/** The last of several primary values stays primary: it was set last. */
function onePrimary(values: Value[]): Value[] {
  const last = values.findLastIndex((value) => isObject(value) && value["primary"] === true)
  return values.map((value, index) =>
    isObject(value) && value["primary"] === true && index !== last ? { ...value, primary: false } : value,
  )
}
