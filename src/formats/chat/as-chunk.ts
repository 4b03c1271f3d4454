import { documentMessageOf } from "./normalize/provider-spellings.ts"
import { isObject, type Json, listOf, objectsOf } from "../../support/text/json.ts"

/** Converts a chat completion to one equivalent chunk. */
export function toSingleChunk(result: Json): Json {
  const choices = listOf(result["choices"])
  return { ...result, choices: choices.filter(isObject).map((choice) => ({ ...choice, delta: toDelta(choice) })) }
}

/** Adds indexes to the parts of a document. A call with an id that was used before gets an empty id. */
function toDelta(choice: Json): Json {
  const message = documentMessageOf(choice)
  const calls = objectsOf(message["tool_calls"])
  const ids = calls.map((call) => call["id"])
  const placed = calls.map((call, index) => ({
    ...call,
    index,
    id: ids.indexOf(call["id"]) === index ? call["id"] : "",
  }))
  const details = listOf(message["reasoning_details"])
  const numbered = details.filter(isObject).map((detail, index) => ({ index, ...detail }))
  return {
    ...message,
    ...("tool_calls" in message && { tool_calls: placed }),
    ...("reasoning_details" in message && { reasoning_details: numbered }),
  }
}
