import type { Filter } from "scim2-parse-filter"
import { isObject } from "./attributes.ts"
import { invalid } from "./errors.ts"
import { readFilter } from "./read-filter.ts"
import { foldNames } from "./wire.ts"

export type Operation = { op: "add" | "remove" | "replace"; path: string | undefined; value: unknown }

const MAX_OPERATIONS = 1_000

/** The operations of a PATCH. Entra writes their names with a capital. */
export function readOperations(body: Record<string, unknown>): Operation[] {
  const operations = foldNames(body)["operations"]
  if (!Array.isArray(operations) || operations.length === 0) {
    throw invalid("invalidSyntax", "Operations: must be an array of at least one operation.")
  }
  if (operations.length > MAX_OPERATIONS) {
    throw invalid("tooMany", `Operations: takes at most ${MAX_OPERATIONS}.`)
  }
  return operations.map(readOperation)
}

function readOperation(input: unknown): Operation {
  if (!isObject(input)) throw invalid("invalidSyntax", "Operations: each must be an object.")
  const { op: word, path: at, value } = foldNames(input)
  const op = typeof word === "string" ? word.toLowerCase() : ""
  if (op !== "add" && op !== "remove" && op !== "replace") {
    throw invalid("invalidSyntax", "op: accepts add, remove and replace.")
  }
  const path = at ?? undefined
  if (path !== undefined && typeof path !== "string") throw invalid("invalidPath", "path: must be a string.")
  if (op === "remove" && !path) throw invalid("noTarget", "path: is required by remove.")
  if (op !== "remove" && value === undefined) throw invalid("invalidValue", `value: is required by ${op}.`)
  return { op, path: path || undefined, value }
}

export type Path = { name: string; filter: Filter | undefined; part: string | undefined }

const PATH = /^([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/s

/** `emails[type eq "work"].value`, without the schema that may stand before it. */
export function readPath(path: string): Path {
  const [, name, filter, part] = PATH.exec(path) ?? []
  if (name === undefined) throw invalid("invalidPath", `path: ${path.slice(0, 100)} is not a path.`)
  return { name, filter: filter === undefined ? undefined : readFilter(filter), part }
}
