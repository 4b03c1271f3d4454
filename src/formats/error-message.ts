import { isArray, isObject, type Json, listOf, parseJson } from "../support/text/json.ts"

const MAX_DEPTH = 5
const MAX_ISSUES = 3
/** The fields with messages, in order; after them titles, which are the same for many errors. */
const FIELDS =
  "message Message msg error Error errors detail status_msg description error_msg error_message errorMessage".split(" ")
const TITLES = ["error_description", "title"]

/** The message in an error of a provider, which has a different shape at each of them. Not redacted. */
export function errorMessageIn(error: unknown): string | undefined {
  return messageIn(error, MAX_DEPTH)
}

/** `depth`: how many levels to search. */
function messageIn(value: unknown, depth: number): string | undefined {
  if (depth === 0) return undefined
  if (typeof value === "string") return unwrapError(value, depth)
  if (isArray(value)) return joinIssues(value.map((one) => issueIn(one, depth - 1)))
  if (!isObject(value)) return undefined
  // An object or a list in `error` is the error; a string may be its title.
  const first = typeof value["error"] === "object" ? [value["error"]] : []
  return (
    firstMessage([...first, ...FIELDS.map((name) => value[name])], depth - 1) ??
    (isObject(value["errors"]) ? issuesByField(value["errors"], depth - 1) : undefined) ??
    firstMessage(
      TITLES.map((name) => value[name]),
      depth - 1,
    )
  )
}

function firstMessage(values: readonly unknown[], depth: number): string | undefined {
  for (const value of values) {
    const found = messageIn(value, depth)
    if (found !== undefined) return found
  }
  return undefined
}

/** Providers behind another one have its error as JSON in their message. */
function unwrapError(text: string, depth: number): string | undefined {
  if (text.trim() === "") return undefined
  const inner = text.startsWith("{") ? parseJson(text) : undefined
  return (isObject(inner) ? messageIn(inner, depth - 1) : undefined) ?? text
}

/** An issue of a validation, `{"loc":["body","seed"],"msg":"…"}`, or another message in a list. */
function issueIn(issue: unknown, depth: number): string | undefined {
  const message = messageIn(issue, depth)
  if (message === undefined || !isObject(issue)) return message
  const path = listOf(issue["loc"]).filter(
    (name) => typeof name === "number" || (typeof name === "string" && name !== "body"),
  )
  return path.length === 0 ? message : `${path.join(".")}: ${message}`
}

/** `{"temperature":["must be less than 2"]}` */
function issuesByField(errors: Json, depth: number): string | undefined {
  return joinIssues(
    Object.entries(errors).map(([name, value]) => {
      const message = messageIn(value, depth)
      return message === undefined ? undefined : `${name}: ${message}`
    }),
  )
}

function joinIssues(issues: readonly (string | undefined)[]): string | undefined {
  const known = issues.filter((issue) => issue !== undefined)
  return known.length === 0 ? undefined : known.slice(0, MAX_ISSUES).join(" ")
}

/** The element of a list that is an error, as Google sends it: `[{"error":{…}}]`. Undefined for another value. */
export function errorInList(value: unknown): Json | undefined {
  const [first] = listOf(value)
  return isObject(first) && isObject(first["error"]) ? first : undefined
}
