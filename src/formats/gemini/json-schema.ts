import { isArray, isObject, type Json } from "../../support/text/json.ts"

/**
 * Converts a `Schema` of the Gemini API, a subset of OpenAPI 3.0, to JSON Schema: types are in capitals, `nullable` is a
 * field, and 64-bit integers are strings. https://ai.google.dev/api/caching#Schema
 */
export function toJsonSchema(schema: Json): Json {
  const result: Json = {}
  let isNullable = false
  for (const [name, value] of Object.entries(schema)) {
    const key = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (key === "nullable") isNullable = value === true
    else if (key === "example") result["examples"] = [value]
    else if (!DROPPED.has(key)) result[key] = toValue(key, value)
  }
  return isNullable ? orNull(result) : result
}

const DROPPED = new Set(["propertyOrdering"])
const COUNTS = new Set(["minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"])

function toValue(key: string, value: unknown): unknown {
  if (key === "type" && typeof value === "string") return value.toLowerCase()
  if (COUNTS.has(key) && typeof value === "string") return Number(value)
  if (key === "properties" && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toSchema(inner)]))
  }
  if (key === "anyOf" && isArray(value)) return value.map(toSchema)
  return key === "items" ? toSchema(value) : value
}

function toSchema(value: unknown): unknown {
  return isObject(value) ? toJsonSchema(value) : value
}

function orNull(schema: Json): Json {
  const { type, enum: values, anyOf } = schema
  return {
    ...schema,
    ...(typeof type === "string" && { type: [type, "null"] }),
    ...(isArray(values) && { enum: [...values, null] }),
    ...(isArray(anyOf) && { anyOf: [...anyOf, { type: "null" }] }),
  }
}
