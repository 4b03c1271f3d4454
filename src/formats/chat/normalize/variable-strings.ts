import { isObject, type Json } from "../../../support/text/json.ts"
import type { VariableString } from "../../sse/frame-shape.ts"
import { REASONING_KEYS } from "./provider-spellings.ts"

/** Fields of a delta that the gateway inspects. */
const FOLLOWED = ["tool_calls", "function_call", "refusal", "images", "audio", "annotations"] as const
const DELTA = ["choices", 0, "delta"] as const

/** The strings that vary between text chunks; undefined for a chunk with other content. */
export function variableStrings(chunk: Json): VariableString[] | undefined {
  const { choices, usage, error, obfuscation } = chunk
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined
  if (!isObject(choice) || !isObject(choice["delta"])) return undefined
  const { delta } = choice
  const isPlain = [usage, error, choice["finish_reason"], choice["logprobs"], ...FOLLOWED.map((key) => delta[key])]
  if (isPlain.some((value) => value !== undefined && value !== null)) return undefined
  const strings = textStrings(delta)
  if (!strings || strings.length === 0) return undefined
  return typeof obfuscation === "string"
    ? [...strings, { path: ["obfuscation"], isMetered: false, mayBeEmpty: true }]
    : strings
}

/** Only the first non-empty reasoning field is metered. An empty one may have text in another chunk. */
function textStrings(delta: Json): VariableString[] | undefined {
  const found: VariableString[] = []
  if (isText(delta["content"])) found.push({ path: [...DELTA, "content"], isMetered: true, transcript: "content" })
  else if (Array.isArray(delta["content"])) return undefined
  const reasoning = REASONING_KEYS.filter((key) => isText(delta[key]))
  for (const [index, key] of reasoning.entries()) {
    found.push({ path: [...DELTA, key], isMetered: index === 0, transcript: "reasoning" })
  }
  const details: unknown = delta["reasoning_details"]
  if (details === undefined || details === null) return found
  const detail: unknown = Array.isArray(details) && details.length === 1 ? details[0] : undefined
  const isPlain = isObject(detail) && isText(detail["text"]) && detail["signature"] == null && detail["data"] == null
  if (!isPlain) return undefined
  const isOnly = reasoning.length === 0 && detail["type"] === "reasoning.text"
  const metered = isOnly ? { isMetered: true, transcript: "reasoning" as const } : { isMetered: false }
  return [...found, { path: [...DELTA, "reasoning_details", 0, "text"], ...metered }]
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== ""
}
