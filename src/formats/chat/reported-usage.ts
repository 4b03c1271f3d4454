import { isArray, isObject, type Json } from "../../support/text/json.ts"

/** The usage in a chunk or a document. Groq and Moonshot report it below other fields as well, or only there. */
export function reportedUsage(response: Json): unknown {
  if (isObject(response["usage"])) return response["usage"]
  const { x_groq: groq, choices } = response
  if (isObject(groq) && isObject(groq["usage"])) return groq["usage"]
  if (!isArray(choices)) return undefined
  // Called for each chunk: without arrays of its choices.
  for (const choice of choices) if (isObject(choice) && isObject(choice["usage"])) return choice["usage"]
  return undefined
}
