import { zValidator } from "@hono/zod-validator"
import type { ValidationTargets } from "hono"
import type * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { isObject } from "../support/text/json.ts"
import { explain } from "./schema.ts"

export type Fault = { issues: readonly z.core.$ZodIssue[] }

const toGatewayError = (fault: Fault): Error => new GatewayError("invalid_request", explain(fault))

/**
 * Validates a part of a request to a route outside the OpenAPI document. `toError` creates the error to throw.
 */
export function validate<Target extends keyof ValidationTargets, Schema extends z.ZodType>(
  target: Target,
  schema: Schema,
  toError = toGatewayError,
) {
  return zValidator(target, schema, (result) => {
    if (!result.success) throw toError(result.error)
  })
}

/** Hono collects the values of a repeated field in an array. The first one counts. */
export function firstValue(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

/** The fields of a form or a query, each with its first value. */
export function firstValues(fields: unknown): Record<string, unknown> {
  const entries = isObject(fields) ? Object.entries(fields) : []
  return Object.fromEntries(entries.map(([name, value]) => [name, firstValue(value)]))
}
