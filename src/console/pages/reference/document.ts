import { api } from "../../api/client.ts"
import { type Query, useQuery } from "../../api/query.ts"

/** The part of JSON Schema that the page reads. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  const?: unknown
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  additionalProperties?: Schema | boolean
  format?: string
  pattern?: string
  default?: unknown
  example?: unknown
  examples?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  deprecated?: boolean
}

export type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}
type Media = { schema?: Schema; example?: unknown; examples?: Record<string, { value?: unknown }> }
type Content = Record<string, Media>

export type Operation = {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, { description: string; content?: Content; headers?: Record<string, unknown> }>
  security?: unknown[]
  servers?: { url: string }[]
}

export type Document = {
  info: { title: string; version: string; description?: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

export type Entry = { id: string; method: string; path: string; tag: string; operation: Operation }

const METHODS = ["get", "post", "put", "patch", "delete"]

export function entriesOf({ paths }: Document): Entry[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = operations[method]
      if (!operation) return []
      const id = operation.operationId ?? `${method}${path.replaceAll(/[^\w]+/g, "-")}`
      const tag = operation.tags?.[0] ?? "Other"
      return [{ id, method, path, tag: tag[0]?.toUpperCase() + tag.slice(1), operation }]
    }),
  )
}

/** Tags that are shown first. */
const FIRST = [
  "Chat",
  "Responses",
  "Messages",
  "Gemini",
  "Completions",
  "Embeddings",
  "Media",
  "Models",
  "Endpoints",
  "Providers",
  "Generations",
  "Calls",
  "API keys",
]

/** Operations by tag, most used tags first. */
export function groupsOf(entries: readonly Entry[]): [string, Entry[]][] {
  const rank = (tag: string) => (FIRST.includes(tag) ? FIRST.indexOf(tag) : FIRST.length)
  return [...Map.groupBy(entries, ({ tag }) => tag)].sort(([a], [b]) => rank(a) - rank(b))
}

export function useDocument(): Query<Document> {
  return useQuery("/openapi.json", () => api<Document>("/openapi.json"))
}

export function resolve(schema: Schema, document: Document): Schema {
  const name = schema.$ref?.split("/").at(-1)
  const found = name === undefined ? undefined : document.components.schemas[name]
  return found ? { ...found, ...(schema.description && { description: schema.description }) } : schema
}

export function nameOf(schema: Schema): string | undefined {
  return schema.$ref?.split("/").at(-1)
}

/** Short description of a field's type. */
export function typeOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema) ?? "object"
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum)
    return schema.enum
      .slice(0, 12)
      .map((each) => JSON.stringify(each))
      .join(" | ")
  const choices = schema.oneOf ?? schema.anyOf
  if (choices) return [...new Set(choices.map(typeOf))].slice(0, 6).join(" | ")
  if (schema.type === "array" || schema.items) return `${schema.items ? typeOf(schema.items) : "any"}[]`
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : schema.type
  return schema.format === undefined ? (type ?? "any") : `${type} (${schema.format})`
}

export function limitsOf({ minimum, maximum, minLength, maxLength, pattern, default: fallback }: Schema): string {
  const parts = [
    describeRange(minimum, maximum),
    maxLength === undefined ? "" : `${minLength ?? 0} to ${maxLength} characters`,
    fallback === undefined ? "" : `default ${JSON.stringify(fallback)}`,
    pattern === undefined || pattern.length > 60 ? "" : `matches ${pattern}`,
  ]
  return parts.filter(Boolean).join(", ")
}

/** Schemas of integers have the largest safe integer as their maximum, which is not shown. */
function describeRange(minimum: number | undefined, maximum: number | undefined): string {
  const [min, max] = [minimum, maximum].map((bound) =>
    bound === undefined || Math.abs(bound) === Number.MAX_SAFE_INTEGER ? undefined : bound,
  )
  if (min === undefined) return max === undefined ? "" : `at most ${max}`
  return max === undefined ? `at least ${min}` : `${min} to ${max}`
}

const MAX_DEPTH = 6

/** A sample value of a schema: its example, or the required fields. */
export function sampleOf(schema: Schema, document: Document, depth = 0): unknown {
  const example = schema.example ?? schema.examples?.[0]
  if (example !== undefined) return example
  if (depth > MAX_DEPTH) return null
  const resolved = resolve(schema, document)
  if (resolved !== schema && (resolved.example ?? resolved.examples?.[0]) !== undefined)
    return resolved.example ?? resolved.examples?.[0]
  if (resolved.const !== undefined) return resolved.const
  if (resolved.enum) return resolved.enum[0]
  if (resolved.default !== undefined) return resolved.default
  const choice = resolved.oneOf?.[0] ?? resolved.anyOf?.[0]
  if (choice) return sampleOf(choice, document, depth + 1)
  const type = Array.isArray(resolved.type) ? resolved.type[0] : resolved.type
  if (type === "object" || resolved.properties) {
    const required = resolved.required ?? []
    const requiredFields = Object.entries(resolved.properties ?? {}).filter(([name]) => required.includes(name))
    return Object.fromEntries(requiredFields.map(([name, each]) => [name, sampleOf(each, document, depth + 1)]))
  }
  if (type === "array") return resolved.items ? [sampleOf(resolved.items, document, depth + 1)] : []
  if (type === "integer" || type === "number") return resolved.minimum ?? 0
  if (type === "boolean") return false
  return type === "null" ? null : "text"
}

export function bodyExample(operation: Operation, document: Document): unknown {
  const media = operation.requestBody?.content["application/json"]
  if (!media) return undefined
  const example = Object.values(media.examples ?? {})[0]?.value
  return media.example ?? example ?? (media.schema ? sampleOf(media.schema, document) : {})
}
