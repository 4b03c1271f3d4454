import type { Filter } from "scim2-parse-filter"
import * as z from "zod"
import { invalid } from "./errors.ts"
import { issue, message, rule } from "./message.ts"
import { readFilter } from "./read-filter.ts"

const MAX_OPERATIONS = 1_000
const NO_OPERATIONS = "must be an array of at least one operation"

/** Entra capitalizes the names of operations. */
const lowerCase = (value: unknown) => (typeof value === "string" ? value.toLowerCase() : value)

const Operation = message(
  {
    op: z.preprocess(lowerCase, z.enum(["add", "remove", "replace"], { error: "accepts add, remove and replace" })),
    path: rule<string>("invalidPath", "must be a string", (value) => typeof value === "string")
      .nullish()
      .transform((path) => path || undefined),
    value: z.unknown().optional(),
  },
  "must be an object",
).superRefine(({ op, path, value }, context) => {
  if (op === "remove" && path === undefined) context.addIssue(issue("noTarget", ["path"], "is required by remove"))
  if (op !== "remove" && value === undefined) {
    context.addIssue(issue("invalidValue", ["value"], `is required by ${op}`))
  }
})
export type Operation = z.infer<typeof Operation>

export const PatchRequest = message({
  Operations: z
    .array(z.unknown(), { error: NO_OPERATIONS })
    .min(1, NO_OPERATIONS)
    .max(MAX_OPERATIONS, `takes at most ${MAX_OPERATIONS}`)
    .pipe(z.array(Operation)),
})

export type Path = { name: string; filter: Filter | undefined; part: string | undefined }

/** Whether a path names its schema. */
export const isUrn = (path: string) => /^urn:/i.test(path)

const PATH = /^([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/s

/** Reads a path such as `emails[type eq "work"].value`, without a schema prefix. */
export function readPath(path: string): Path {
  const [, name, filter, part] = PATH.exec(path) ?? []
  if (name === undefined) throw invalid("invalidPath", `path: ${path.slice(0, 100)} is not a path.`)
  return { name, filter: filter === undefined ? undefined : readFilter(filter), part }
}
