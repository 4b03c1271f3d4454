import { isArray, isObject, type Json } from "../../../support/text/json.ts"

const NAMED_SCHEMAS = ["properties", "$defs", "definitions"]
const SCHEMAS = ["items", "anyOf", "allOf", "oneOf", "not"]
/** Constraints that the API rejects. The model reads them in the description instead. */
const CONSTRAINTS = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
]
/** The highest `minItems` that the API accepts. */
const MAX_MIN_ITEMS = 1

/**
 * A schema for structured output. The API requires `additionalProperties: false` on objects; a value set by the client
 * is kept.
 */
export function toOutputSchema(schema: Json): Json {
  const isOpen = schema["type"] === "object" && "properties" in schema && !("additionalProperties" in schema)
  const rejected = Object.entries(schema).filter(isRejected)
  const inside = Object.entries(schema)
    .filter((entry) => !rejected.some(([key]) => key === entry[0]))
    .map(([key, value]): [string, unknown] => [key, convertInside(key, value)])
  return {
    ...Object.fromEntries(inside),
    ...(rejected.length > 0 && { description: describe(schema["description"], rejected) }),
    ...(isOpen && { additionalProperties: false }),
  }
}

function isRejected([key, value]: [string, unknown]): boolean {
  return CONSTRAINTS.includes(key) || (key === "minItems" && typeof value === "number" && value > MAX_MIN_ITEMS)
}

function describe(description: unknown, rejected: readonly [string, unknown][]): string {
  const rules = rejected.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")
  return typeof description === "string" && description !== "" ? `${description} (${rules})` : rules
}

function convertInside(key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  if (NAMED_SCHEMAS.includes(key)) {
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, convertInside("items", schema)]))
  }
  if (!SCHEMAS.includes(key)) return value
  if (isArray(value)) return value.map((schema) => convertInside("items", schema))
  return isObject(value) ? toOutputSchema(value) : value
}
