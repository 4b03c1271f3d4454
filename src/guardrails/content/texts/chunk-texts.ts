import { isArray, isObject, type Json } from "../../../support/text/json.ts"
import { CHOICE_FIELDS, mapOtherFields, RESULT_FIELDS } from "./request-texts.ts"

/** A text of a delta. `name`: its channel in ResponseFilter. */
export type TextSlot = {
  name: string
  /** The delta with this text alone. */
  wrap: (text: string) => Json
}

/** Chunks of a stream that differ only in texts of the delta. */
export type ChunkTexts = {
  choice: number
  /** The fields of the chunk next to its choices. */
  head: Json
  /** In the order in which they are serialized. */
  slots: readonly TextSlot[]
  /** The chunk with these texts, where "" is delayed text; undefined if nothing is left of it. */
  withTexts: (texts: readonly string[]) => Json | undefined
}

/** Undefined if the chunk has anything else that must be filtered, or that ends its choice. */
export function chunkTextsOf(chunk: Json): ChunkTexts | undefined {
  const { choices, usage, error, ...head } = chunk
  const choice: unknown = isArray(choices) && choices.length === 1 ? choices[0] : undefined
  if (!isObject(choice) || !isObject(choice["delta"])) return undefined
  const { delta, index, finish_reason: finishReason, logprobs } = choice
  if ([usage, error, finishReason, logprobs].some((value) => value != null)) return undefined
  if (hasTexts(chunk, RESULT_FIELDS) || hasTexts(choice, CHOICE_FIELDS)) return undefined
  const slots = slotsOf(delta)
  if (!slots || slots.length === 0) return undefined
  return {
    choice: typeof index === "number" ? index : 0,
    head,
    slots,
    withTexts: (texts) => {
      const rest = deltaWith(delta, slots, texts)
      return Object.keys(rest).length === 0 ? undefined : { ...chunk, choices: [{ ...choice, delta: rest }] }
    },
  }
}

/** Random padding of each chunk. It hides the length of the text, which a filter changes. */
export function withoutPadding(chunk: Json): Json {
  if (!("obfuscation" in chunk)) return chunk
  const { obfuscation: _, ...rest } = chunk
  return rest
}

function hasTexts(value: Json, known: ReadonlySet<string>): boolean {
  let found = false
  mapOtherFields(value, known, (text) => {
    found = true
    return text
  })
  return found
}

const DETAILS = "reasoning_details"
const TEXT_FIELDS = new Set(["content", "refusal", "reasoning"])

function slotsOf(delta: Json): TextSlot[] | undefined {
  const slots: TextSlot[] = []
  for (const [key, value] of Object.entries(delta)) {
    if (key === "role" || value === null || value === "") continue
    if (typeof value === "string" && TEXT_FIELDS.has(key)) slots.push({ name: key, wrap: (text) => ({ [key]: text }) })
    else {
      const slot = key === DETAILS ? detailSlotOf(value) : undefined
      if (!slot) return undefined
      slots.push(slot)
    }
  }
  return slots
}

function detailSlotOf(details: unknown): TextSlot | undefined {
  const detail: unknown = isArray(details) && details.length === 1 ? details[0] : undefined
  if (!isObject(detail) || typeof detail["text"] !== "string" || detail["text"] === "") return undefined
  if (detail["summary"] != null || detail["signature"] != null) return undefined
  const index = typeof detail["index"] === "number" ? detail["index"] : 0
  return { name: detailName(index, "text"), wrap: (text) => wrapDetail(detail, index, { text }) }
}

export function detailName(index: number, field: string): string {
  return `detail ${index} ${field}`
}

/** The delta with the remaining text of a detail. */
export function wrapDetail({ type, format }: Json, index: number, text: Json): Json {
  return { [DETAILS]: [{ type, ...(format != null && { format }), index, ...text }] }
}

/** Delayed texts are left out, except in a detail. */
function deltaWith(delta: Json, slots: readonly TextSlot[], texts: readonly string[]): Json {
  const rest: Json = { ...delta }
  for (const [at, { name }] of slots.entries()) {
    const text = texts[at] ?? ""
    const details: unknown = delta[DETAILS]
    if (!(name in delta) && isArray(details)) {
      rest[DETAILS] = details.map((detail: unknown) => (isObject(detail) ? { ...detail, text } : detail))
    } else if (text === "") delete rest[name]
    else rest[name] = text
  }
  return rest
}
