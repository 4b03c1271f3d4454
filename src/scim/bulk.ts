import { isObject } from "./attributes.ts"
import { invalid, ScimError } from "./errors.ts"
import { foldNames } from "./wire.ts"

/** RFC 7644, section 3.7: what a bulk asks for, and in which order it is done. */

/**
 * Each asks the database three times at most, which a Worker may a thousand times for one request. 1,000 of them would
 * be three thousand.
 */
export const MAX_BULK_OPERATIONS = 300
export const MAX_BULK_BYTES = 1_048_576

/** No resource has more than five. */
const MAX_DEPTH = 20

const METHODS = ["POST", "PUT", "PATCH", "DELETE"] as const

export type BulkOperation = {
  method: (typeof METHODS)[number]
  bulkId: string | undefined
  version: string | undefined
  path: string
  data: Record<string, unknown> | undefined
}

export type Bulk = { operations: readonly BulkOperation[]; failOnErrors: number }

export function readBulk(body: Record<string, unknown>): Bulk {
  const { operations, failonerrors } = foldNames(body)
  if (!Array.isArray(operations) || operations.length === 0) {
    throw invalid("invalidSyntax", "Operations: must be an array of at least one operation.")
  }
  if (operations.length > MAX_BULK_OPERATIONS) {
    throw new ScimError(413, `Operations: a bulk takes at most ${MAX_BULK_OPERATIONS} (maxOperations).`)
  }
  const isCount = typeof failonerrors === "number" && Number.isInteger(failonerrors) && failonerrors >= 1
  if (failonerrors !== undefined && failonerrors !== null && !isCount) {
    throw invalid("invalidValue", "failOnErrors: must be an integer of at least 1.")
  }
  const read = operations.map(readOperation)
  const named = read.flatMap(({ bulkId, method }) => (bulkId !== undefined && method === "POST" ? [bulkId] : []))
  const twice = named.find((bulkId, index) => named.indexOf(bulkId) !== index)
  if (twice !== undefined) throw invalid("invalidValue", `bulkId: ${twice.slice(0, 100)} is given to two resources.`)
  return { operations: read, failOnErrors: isCount ? failonerrors : Infinity }
}

function readOperation(input: unknown, index: number): BulkOperation {
  if (!isObject(input)) throw invalid("invalidSyntax", `Operations[${index}]: must be an object.`)
  const { method: verb, bulkid, version, path, data } = foldNames(input)
  const method = METHODS.find((one) => typeof verb === "string" && one === verb.toUpperCase())
  if (!method) throw invalid("invalidSyntax", `Operations[${index}].method: accepts ${METHODS.join(", ")}.`)
  if (typeof path !== "string") throw invalid("invalidSyntax", `Operations[${index}].path: must be a string.`)
  const bulkId = readName(bulkid, `Operations[${index}].bulkId`)
  if (method === "POST" && bulkId === undefined) {
    throw invalid("invalidSyntax", `Operations[${index}].bulkId: is required by POST.`)
  }
  if (method !== "DELETE" && !isObject(data)) {
    throw invalid("invalidSyntax", `Operations[${index}].data: must be an object.`)
  }
  if (isDeeper(data, MAX_DEPTH)) {
    throw invalid("invalidSyntax", `Operations[${index}].data: is nested more than ${MAX_DEPTH} levels deep.`)
  }
  const result = readName(version, `Operations[${index}].version`)
  return { method, bulkId, version: result, path, data: isObject(data) ? data : undefined }
}

/** Level by level: what is nested deeply enough would overflow the stack. */
function isDeeper(value: unknown, most: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? (Object.values(one) as unknown[]) : []))
  }
  return false
}

function readName(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === "string" && value !== "" && value.length <= 200) return value
  throw invalid("invalidSyntax", `${path}: must be a string of at most 200 characters.`)
}

const REFERENCE = /^bulkId:(.+)$/s
const IN_PATH = /(?<=\/)bulkId:([^/]+)$/

/** The operation with `replace` in the place of every `bulkId:`, in its path and anywhere in its data. */
export function mapReferences(operation: BulkOperation, replace: (bulkId: string) => string): BulkOperation {
  const map = (value: unknown): unknown => {
    if (typeof value === "string") {
      const bulkId = REFERENCE.exec(value)?.[1]
      return bulkId === undefined ? value : replace(bulkId)
    }
    if (Array.isArray(value)) return value.map(map)
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one)]))
    return value
  }
  const path = operation.path.replace(IN_PATH, (_, bulkId: string) => encodeURIComponent(replace(bulkId)))
  return { ...operation, path, data: map(operation.data) as BulkOperation["data"] }
}

/**
 * As they were sent, but what makes a resource comes before what refers to it. `circular`: those that refer to each
 * other, none of which can be the first.
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
      for (const one of waiting.slice(round)) circular.add(one)
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
