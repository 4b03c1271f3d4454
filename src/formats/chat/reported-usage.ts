import { isObject, type Json, objectsOf } from "../../support/json.ts"

/** The usage in a chunk or a document. Groq and Moonshot report it below other fields as well, or only there. */
export function reportedUsage({ usage, choices, x_groq: groq }: Json): unknown {
  if (isObject(usage)) return usage
  if (isObject(groq) && isObject(groq["usage"])) return groq["usage"]
  return objectsOf(choices)
    .map((choice) => choice["usage"])
    .find(isObject)
}
