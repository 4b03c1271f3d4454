export type Json = Record<string, unknown>

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function isArray(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

/** The elements of an array; empty for any other value. */
export function listOf(value: unknown): unknown[] {
  return isArray(value) ? value : []
}

export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

export function isCount(value: unknown): value is number {
  return isInteger(value) && value >= 0
}

/** The objects in an array; empty for any other value. */
export function objectsOf(value: unknown): Json[] {
  return isArray(value) ? value.filter(isObject) : []
}

/** The text of a field; empty if it has another type or is missing. */
export function textIn(object: Json, key: string): string {
  const value = object[key]
  return typeof value === "string" ? value : ""
}

/** The object without its null and undefined fields; clients send null for what they omit. */
export function withoutNulls(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
}

/** The value without null and undefined fields in its objects, at any depth. */
export function withoutNullFields(value: unknown): unknown {
  if (isArray(value)) return value.map(withoutNullFields)
  if (!isObject(value)) return value
  const fields = Object.entries(value).filter(([, field]) => field !== null && field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNullFields(field)]))
}

/** Parses a column or value that only this code base writes: its shape is not checked again. */
export function parseStored<T>(json: string): Readonly<T> {
  return JSON.parse(json) as T
}
