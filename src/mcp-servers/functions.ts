import { isObject, type Json, objectsOf } from "../support/text/json.ts"

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

/** The text of a result. Models would read base64 as text, so only the type and size of binary content are stated. */
export function textOfResult({ content, structuredContent }: Json): string {
  const parts = objectsOf(content).map((part) => {
    if (typeof part["text"] === "string") return part["text"]
    return descriptionOfBytes(isObject(part["resource"]) ? part["resource"] : part) ?? JSON.stringify(part)
  })
  if (parts.length > 0) return parts.join("\n")
  return isObject(structuredContent) ? JSON.stringify(structuredContent) : ""
}

function descriptionOfBytes({ data, blob, mimeType, uri }: Json): string | undefined {
  const base64 = [data, blob].find((value) => typeof value === "string")
  if (base64 === undefined) return undefined
  const size = Math.floor((base64.replace(/=+$/, "").length * 3) / 4)
  const subject = [uri, mimeType].filter((value) => typeof value === "string").join(", ")
  return `[${subject || "binary data"}, ${size} bytes, not shown]`
}
