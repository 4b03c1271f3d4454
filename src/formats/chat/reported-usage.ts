import { isArray, isObject, type Json } from "../../support/text/json.ts"

/** The usage in a chunk or a document. Groq and Moonshot report it below other fields as well, or only there. */
export function reportedUsage(response: Json): unknown {
  if (isObject(response["usage"])) return inSnakeCase(response["usage"])
  const { x_groq: groq, choices } = response
  if (isObject(groq) && isObject(groq["usage"])) return groq["usage"]
  if (!isArray(choices)) return undefined
  // Called for each chunk: without arrays of its choices.
  for (const choice of choices) if (isObject(choice) && isObject(choice["usage"])) return choice["usage"]
  return undefined
}

/** The usage with the names of the chat format if a provider sends `promptTokens` or `inputTokens`. */
function inSnakeCase(usage: Json): Json {
  if (!("promptTokens" in usage || "inputTokens" in usage)) return usage
  return renameFields(usage, (details) => (isObject(details) ? renameFields(details, (count) => count) : details))
}

function renameFields(fields: Json, map: (value: unknown) => unknown): Json {
  const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [toSnakeCase(name), map(value)]))
}
