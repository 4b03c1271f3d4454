import { isObject, type Json, objectsOf } from "../support/json.ts"

/** Tools of servers as functions of a model. */

const MAX_FUNCTION_NAME = 64

/** Names of functions are shorter than names of tools. */
export function newFunctionName(wanted: string, takenNames: Set<string>): string {
  const base = wanted.replaceAll(/[^\w-]/g, "_")
  let name = base.slice(0, MAX_FUNCTION_NAME)
  for (let number = 2; takenNames.has(name); number++) {
    const suffix = `_${number}`
    name = base.slice(0, MAX_FUNCTION_NAME - suffix.length) + suffix
  }
  takenNames.add(name)
  return name
}

/** The text of a result; other content as JSON. */
export function textOfResult({ content, structuredContent }: Json): string {
  const parts = objectsOf(content).map((part) =>
    typeof part["text"] === "string" ? part["text"] : JSON.stringify(part),
  )
  if (parts.length > 0) return parts.join("\n")
  return isObject(structuredContent) ? JSON.stringify(structuredContent) : ""
}
