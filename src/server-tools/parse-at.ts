import type * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { explain } from "../http/schema.ts"

/** Parses a part of a request; throws an error that names the field by its path in the request. */
export function parseAt<T extends z.ZodType>(schema: T, value: unknown, path: readonly PropertyKey[]): z.output<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }))
  throw new GatewayError("invalid_request", explain({ issues }))
}

export function rejectAt(path: string, message: string): GatewayError {
  return new GatewayError("invalid_request", `${path}: ${message}.`)
}
