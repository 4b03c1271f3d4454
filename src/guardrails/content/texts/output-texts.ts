import { mergeDetails } from "../../../formats/chat/normalize/merge-details.ts"
import { flattenContent, messageOf } from "../../../formats/chat/normalize/provider-spellings.ts"
import { isArray, isObject, type Json, objectsOf } from "../../../support/text/json.ts"
import { CHOICE_FIELDS, mapOtherFields, mapTexts, RESULT_FIELDS, type Visit } from "./request-texts.ts"

/** Only a stream has a standard `delta`. */
const DOCUMENT_FIELDS = new Set([...CHOICE_FIELDS].filter((name) => name !== "delta"))

/** Maps every text of a response: choices of chat, a transcription, or the text beside media, vectors and ranks. */
export function mapOutput(result: Json, visit: Visit, redacts: boolean): Json {
  if (isArray(result["choices"])) return mapChoices(result, visit, redacts)
  return typeof result["text"] === "string" ? mapTranscription(result, visit) : mapFields(result, visit)
}

function mapChoices(result: Json, visit: Visit, redacts: boolean): Json {
  const choices = objectsOf(result["choices"]).map((choice) => {
    const message = messageOf(choice)
    return {
      ...mapOtherFields(choice, DOCUMENT_FIELDS, visit),
      message: mapTexts(message ? joinTexts(message) : null, "assistant", visit),
      ...(redacts && choice["logprobs"] != null && { logprobs: null }),
    }
  })
  return { ...mapOtherFields(result, RESULT_FIELDS, visit), choices }
}

/** Clients receive the parts of a text, and the pieces of a thought, as one text: a match may cross them. */
function joinTexts(message: Json): Json {
  const flat = flattenContent(message)
  const details = flat["reasoning_details"]
  return isArray(details) ? { ...flat, reasoning_details: mergeDetails(details) } : flat
}

/** Fields of a transcription beside its text. Others, such as words and log probabilities, repeat it in pieces. */
const ABOUT_TRANSCRIPTION = new Set("task language duration usage model id object created".split(" "))

function mapTranscription(result: Json, visit: Visit): Json {
  const text = visit(String(result["text"]), "assistant", "plain")
  if (text === result["text"]) return mapFields(result, visit)
  return { ...Object.fromEntries(Object.entries(result).filter(([key]) => ABOUT_TRANSCRIPTION.has(key))), text }
}

/** Media, their addresses, which may be signed, vectors, ids and keywords. */
const NO_TEXT = new Set("b64_json url embedding usage id object model status created task language".split(" "))

function mapFields(value: Json, visit: Visit): Json {
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, NO_TEXT.has(key) ? one : mapFree(one, visit)]),
  )
}

function mapFree(value: unknown, visit: Visit): unknown {
  if (typeof value === "string") return visit(value, "assistant", "plain")
  if (isArray(value)) return value.map((one) => mapFree(one, visit))
  return isObject(value) ? mapFields(value, visit) : value
}
