import { toRecord } from "./chat-request.ts"

type Schema = Record<string, unknown>

/** Depth at which a recursive schema ends with `null`, which such schemas allow there. */
const MAX_DEPTH = 12

/** A deterministic value that matches a JSON schema: strings are `text`, numbers 42, enums their first value. */
export function toSchemaValue(root: unknown, text: string): unknown {
  return valueOf(toRecord(root), 0)

  function valueOf(input: Schema, depth: number): unknown {
    if (depth > MAX_DEPTH) return null
    if (typeof input.$ref === "string") return valueOf(findByPointer(root, input.$ref), depth + 1)
    const schema = merge(input)
    if ("const" in schema) return schema.const
    if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0]
    const options = schema.anyOf ?? schema.oneOf
    if (Array.isArray(options) && options.length > 0) return valueOf(toRecord(options[0]), depth + 1)
    switch (typeOf(schema)) {
      case "object":
        return objectOf(schema, depth)
      case "array":
        return Array.from({ length: toNumber(schema.minItems, 0) }, () => valueOf(toRecord(schema.items), depth + 1))
      case "integer":
      case "number":
        return numberOf(schema)
      case "boolean":
        return true
      case "null":
        return null
      default:
        return stringOf(schema, text)
    }
  }

  function objectOf(schema: Schema, depth: number): Schema {
    const properties = toRecord(schema.properties)
    const required = Array.isArray(schema.required) ? schema.required.map(String) : []
    const names = new Set([...Object.keys(properties), ...required])
    return Object.fromEntries([...names].map((name) => [name, valueOf(toRecord(properties[name]), depth + 1)]))
  }

  function merge(schema: Schema): Schema {
    if (!Array.isArray(schema.allOf)) return schema
    return schema.allOf.map(toRecord).reduce((merged: Schema, branch: Schema) => {
      const part = typeof branch.$ref === "string" ? findByPointer(root, branch.$ref) : branch
      return {
        ...merged,
        ...part,
        properties: { ...toRecord(merged.properties), ...toRecord(part.properties) },
        required: [merged.required ?? [], part.required ?? []].flat(),
      }
    }, schema)
  }
}

function findByPointer(root: unknown, pointer: string): Schema {
  const names = pointer.replace(/^#\/?/, "").split("/").filter(Boolean)
  return toRecord(names.reduce((at, name) => toRecord(at)[name.replaceAll("~1", "/").replaceAll("~0", "~")], root))
}

function typeOf(schema: Schema): unknown {
  if (Array.isArray(schema.type)) return schema.type.find((type) => type !== "null") ?? "null"
  if (schema.type !== undefined) return schema.type
  if (schema.properties !== undefined) return "object"
  return schema.items === undefined ? "string" : "array"
}

function numberOf(schema: Schema): number {
  const min = toNumber(schema.minimum, -Infinity)
  const max = toNumber(schema.maximum, Infinity)
  const above = toNumber(schema.exclusiveMinimum, -Infinity)
  const below = toNumber(schema.exclusiveMaximum, Infinity)
  const low = Math.max(min, above)
  const high = Math.min(max, below)
  const candidates = [42, high, low, high - 1, low + 1, (low + high) / 2].filter(Number.isFinite)
  const numbers = schema.type === "integer" ? candidates.map(Math.floor) : candidates
  return numbers.find((number) => number >= min && number <= max && number > above && number < below) ?? 42
}

function stringOf(schema: Schema, text: string): string {
  const shortest = toNumber(schema.minLength, 0)
  return text.slice(0, toNumber(schema.maxLength, Infinity)).padEnd(shortest, ".").toWellFormed()
}

function toNumber(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise
}
