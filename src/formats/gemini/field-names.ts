import { isArray, isObject, type Json } from "../../support/text/json.ts"

/**
 * The JSON form of protocol buffers: a field may have its name in camel case or in snake case. Fields of the gateway
 * are in snake case in every format.
 */

/** Fields whose values belong to the client: their keys are not field names. */
const OPAQUE = new Set([
  "args",
  "response",
  "parameters",
  "parametersJsonSchema",
  "responseSchema",
  "responseJsonSchema",
  "labels",
])

/** The body with the names of Google's API in camel case. `unchanged`: top-level fields that keep their name. */
export function withCamelCaseNames(body: Json, unchanged: ReadonlySet<string>): Json {
  const entries = Object.entries(body).map(([name, value]) =>
    unchanged.has(name) ? [name, value] : toEntry(name, value),
  )
  return Object.fromEntries(entries) as Json
}

function toEntry(name: string, value: unknown): [string, unknown] {
  const camelCase = name.replaceAll(/(?<=[a-z\d])_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
  return [camelCase, OPAQUE.has(camelCase) ? value : rename(value)]
}

function rename(value: unknown): unknown {
  if (isArray(value)) return value.map(rename)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => toEntry(name, inner)))
}
