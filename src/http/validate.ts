import { zValidator } from "@hono/zod-validator"
import type { ValidationTargets } from "hono"
import type * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { explain } from "./schema.ts"

export type Fault = { issues: readonly z.core.$ZodIssue[] }

const toGatewayError = (fault: Fault): Error => new GatewayError("invalid_request", explain(fault))

/** Validates a part of a request to a route that is not in the OpenAPI document. `toError`: what is thrown for a fault. */
export function validate<Target extends keyof ValidationTargets, Schema extends z.ZodType>(
  target: Target,
  schema: Schema,
  toError = toGatewayError,
) {
  return zValidator(target, schema, (result) => {
    if (!result.success) throw toError(result.error)
  })
}
