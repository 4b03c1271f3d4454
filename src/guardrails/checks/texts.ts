import { type Json, parseJson } from "../../support/text/json.ts"
import { mapOutput } from "../content/texts/output-texts.ts"
import { mapConversation, mapTexts, NAMES, PARTS, type Visit } from "../content/texts/request-texts.ts"
import type { CheckedText } from "./formats.ts"

/** Calls `visit` for each text of a body; returns the body with the texts that it returned. */
type MapBody<Body> = (visit: Visit) => Body

export const requestTexts =
  <T extends object>(request: T): MapBody<T> =>
  (visit) =>
    mapConversation(request, visit)
export const toolTexts =
  (result: Json): MapBody<unknown> =>
  (visit) =>
    mapTexts(result, "tool", visit)
export const responseTexts =
  (result: Json): MapBody<Json> =>
  (visit) =>
    mapOutput(result, visit, false)

/** Names and ids are not texts; `PARTS` repeats texts of several parts as one. */
const isText = (text: string, role: string) => role !== NAMES && role !== PARTS && text.trim() !== ""

/** The texts of a body in their order. */
export function textsOf(map: MapBody<unknown>): CheckedText[] {
  const texts: CheckedText[] = []
  map((text, role) => {
    if (isText(text, role)) texts.push({ role, text })
    return text
  })
  return texts
}

/** The body with other texts, in the order of `textsOf`. Undefined if the text of a JSON document is not JSON. */
export function withTexts<Body>(map: MapBody<Body>, texts: readonly string[]): Body | undefined {
  let at = 0
  let isValid = true
  const body = map((text, role, form) => {
    if (!isText(text, role)) return text
    const changed = texts[at++] ?? text
    if (form === "json" && parseJson(text) !== undefined && parseJson(changed) === undefined) isValid = false
    return changed
  })
  return isValid ? body : undefined
}
