import * as z from "zod"
import type { Fault } from "../../http/validate.ts"
import { isObject } from "../../support/text/json.ts"
import { ScimError } from "./errors.ts"
import { issue, message, rule, toScimError } from "./message.ts"

/** Bulk operations and their order (RFC 7644, section 3.7). */

/** An operation needs at most three queries, and a Worker may run 1,000 queries in one request. */
export const MAX_BULK_OPERATIONS = 300
export const MAX_BULK_BYTES = 1_048_576

/** No resource has more than five levels. */
const MAX_DEPTH = 20
const MAX_NAME_LENGTH = 200
const NO_OPERATIONS = "must be an array of at least one operation"

const METHODS = ["POST", "PUT", "PATCH", "DELETE"] as const
const upperCase = (value: unknown) => (typeof value === "string" ? value.toUpperCase() : value)

const name = z
  .string({ error: `must be a string of at most ${MAX_NAME_LENGTH} characters` })
  .refine((text) => text !== "" && text.length <= MAX_NAME_LENGTH, {
    error: `must be a string of at most ${MAX_NAME_LENGTH} characters`,
  })
  .nullish()
  .transform((text) => text ?? undefined)

const BulkOperation = message(
  {
    method: z.preprocess(upperCase, z.enum(METHODS, { error: `accepts ${METHODS.join(", ")}` })),
    path: z.string({ error: "must be a string" }),
    bulkId: name,
    version: name,
    data: z.unknown().optional(),
  },
  "must be an object",
)
  .superRefine(({ method, bulkId, data }, context) => {
    const fail = (path: string, text: string) => context.addIssue(issue("invalidSyntax", [path], text))
    if (method === "POST" && bulkId === undefined) fail("bulkId", "is required by POST")
    if (method !== "DELETE" && !isObject(data)) fail("data", "must be an object")
    if (isDeeper(data, MAX_DEPTH)) fail("data", `is nested more than ${MAX_DEPTH} levels deep`)
  })
  .transform((operation) => ({ ...operation, data: isObject(operation.data) ? operation.data : undefined }))
export type BulkOperation = z.infer<typeof BulkOperation>

export const BulkRequest = message({
  Operations: z
    .array(z.unknown(), { error: NO_OPERATIONS })
    .min(1, NO_OPERATIONS)
    .max(MAX_BULK_OPERATIONS, `a bulk takes at most ${MAX_BULK_OPERATIONS} (maxOperations)`)
    .pipe(z.array(BulkOperation))
    .superRefine((operations, context) => {
      const ids = operations.flatMap(({ bulkId, method }) =>
        bulkId !== undefined && method === "POST" ? [bulkId] : [],
      )
      const repeated = ids.find((bulkId, index) => ids.indexOf(bulkId) !== index)
      if (repeated === undefined) return
      context.addIssue(issue("invalidValue", [], `bulkId ${repeated.slice(0, 100)} is used by two resources`))
    }),
  failOnErrors: rule<number>("invalidValue", "must be an integer of at least 1", isCount)
    .nullish()
    .transform((count) => count ?? Infinity),
})
export type Bulk = z.infer<typeof BulkRequest>

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1
}

/** RFC 7644, section 3.7.4: more operations than the service accepts fail with 413. */
export function toBulkError(fault: Fault): ScimError {
  const error = toScimError(fault)
  return error.scimType === "tooMany" ? new ScimError(413, error.message) : error
}

/** Level by level, since recursion into deeply nested data would overflow the stack. */
function isDeeper(value: unknown, maxDepth: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? (Object.values(one) as unknown[]) : []))
  }
  return false
}

const REFERENCE = /^bulkId:(.+)$/s
const IN_PATH = /(?<=\/)bulkId:([^/]+)$/

/** Replaces every `bulkId:` reference of an operation, in its path and its data. */
export function mapReferences(operation: BulkOperation, replace: (bulkId: string) => string): BulkOperation {
  const map = (value: unknown): unknown => {
    if (typeof value === "string") {
      const bulkId = REFERENCE.exec(value)?.[1]
      return bulkId === undefined ? value : replace(bulkId)
    }
    if (Array.isArray(value)) return value.map(map)
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, map(inner)]))
    return value
  }
  const path = operation.path.replace(IN_PATH, (_, bulkId: string) => encodeURIComponent(replace(bulkId)))
  const data = map(operation.data)
  return { ...operation, path, data: isObject(data) ? data : undefined }
}

/**
 * Keeps the order of the request, but moves an operation that creates a resource before those that refer to it.
 * `circular`: operations that refer to each other, so that none can run first.
 */
export function orderOf(operations: readonly BulkOperation[]): {
  order: readonly BulkOperation[]
  circular: ReadonlySet<BulkOperation>
} {
  const makers = new Map(operations.flatMap((one) => (one.method === "POST" ? [[one.bulkId ?? "", one]] : [])))
  const order = new Set<BulkOperation>()
  const circular = new Set<BulkOperation>()
  const visit = (operation: BulkOperation, waiting: readonly BulkOperation[]): void => {
    if (order.has(operation)) return
    const round = waiting.indexOf(operation)
    if (round >= 0) {
      for (const remaining of waiting.slice(round)) circular.add(remaining)
      return
    }
    mapReferences(operation, (bulkId) => {
      const maker = makers.get(bulkId)
      if (maker) visit(maker, [...waiting, operation])
      return ""
    })
    order.add(operation)
  }
  for (const operation of operations) visit(operation, [])
  return { order: [...order], circular }
}
