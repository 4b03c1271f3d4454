import { GATEWAY_FIELDS } from "../../../formats/upstream.ts"
import { isArray, isObject, type Json } from "../../../support/text/json.ts"
import { mapNumber } from "./json-texts.ts"
import { isBase64, isDataUrl, mapBase64, mapDataUrl, mapUrl, URL_FIELD } from "./encoded-text.ts"

/**
 * Author of a text: the role of its message, or a default by field. `NAMES`: a name or an id, which nothing may change.
 */
export type Role = string
export const NAMES: Role = "names"
/** `json`: the text is a JSON document. */
export type Visit = (text: string, role: Role, form: "plain" | "json") => string

/** Request fields with messages or text, and the role of their author. Other fields have free text of the user. */
const TEXT_FIELDS: Readonly<Record<string, Role>> = {
  messages: "user",
  input: "user",
  instructions: "system",
  system: "system",
  prompt: "user",
  suffix: "user",
  query: "user",
  prediction: "assistant",
  stop: "user",
  stop_sequences: "user",
}

/** Fields with schemas, tools and settings: keywords, names, and text. */
const SCHEMA_FIELDS = new Set(
  "tools functions tool_choice function_call response_format text output_format output_config audio".split(" "),
)

/** Fields that no provider receives, and fields with ids. `names`: of messages of other protocols. */
const NAME_FIELDS = new Set([...GATEWAY_FIELDS, "prompt_cache_key", "voice", "logit_bias", "names"])

/** Fields with names or bytes, which are never redacted. */
const IDENTIFIER_FIELDS = new Set(
  (
    "type role id call_id tool_call_id tool_use_id item_id name model file_id signature thought_signature " +
    "encrypted_content format media_type mime_type detail status b64_json server_label"
  ).split(" "),
)

/** Maps every text of a request; returns the same object if nothing changed. */
export function mapRequest<T extends object>(request: T, visit: Visit): T {
  return mapFields(request, (key, value) => mapTopLevel(key, value, visit))
}

/**
 * Maps the texts that people, models and tools wrote: messages, prompts, and documents to rank. Leaves out definitions of
 * tools, settings and names. Returns the same object if nothing changed.
 */
export function mapConversation<T extends object>(request: T, visit: Visit): T {
  return mapFields(request, (key, value) => {
    const role = key === "documents" ? "user" : TEXT_FIELDS[key]
    return role === undefined ? value : mapTexts(value, role, visit)
  })
}

/** Maps the fields of an object; returns the same object if nothing changed. */
function mapFields<T extends object>(value: T, map: (key: string, one: unknown) => unknown): T {
  const fields: [string, unknown][] = Object.entries(value)
  const mapped = fields.map(([key, one]) => [key, map(key, one)] as const)
  return mapped.every(([, one], at) => one === fields[at]?.[1]) ? value : { ...value, ...Object.fromEntries(mapped) }
}

function mapTopLevel(key: string, value: unknown, visit: Visit): unknown {
  const role = TEXT_FIELDS[key]
  if (role !== undefined) return mapTexts(value, role, visit)
  if (SCHEMA_FIELDS.has(key)) return mapSchema(key, value, visit)
  if (NAME_FIELDS.has(key)) return mapNames(key, value, visit)
  return typeof value === "number" ? value : mapValues(key, value, "user", visit)
}

/** Maps every text of a value. Drops the signature of changed reasoning, which no longer matches. */
export function mapTexts(value: unknown, role: Role, visit: Visit): unknown {
  if (typeof value === "string") return visit(value, role, "plain")
  if (isArray(value)) {
    return mapAdjacent(
      mapList(value, (one) => mapTexts(one, role, visit)),
      visit,
    )
  }
  if (!isObject(value)) return value
  const current = roleOf(value) ?? role
  const mapped = mapFields(value, (key, one) => mapField([key, one], value, current, visit))
  if (mapped === value) return value
  const { signature: _, ...rest } = mapped
  return rest
}

/** Texts that their authors wrote as several parts. */
export const PARTS: Role = "parts"
const TEXT_PART = /^(?:input_|output_)?text$/

/** Models read adjacent text parts as one text. Parts with a match across them become one part. */
function mapAdjacent(list: readonly unknown[], visit: Visit): readonly unknown[] {
  const merged: unknown[] = []
  let run: TextPart[] = []
  const endRun = () => {
    const text = run.map((part) => part.text).join("")
    const mapped = run.length > 1 ? visit(text, PARTS, "plain") : text
    merged.push(...(mapped === text ? run : [{ ...run[0], ...run.at(-1), text: mapped }]))
    run = []
  }
  for (const part of list) {
    if (isTextPart(part)) run.push(part)
    else {
      endRun()
      merged.push(part)
    }
  }
  endRun()
  return merged.length === list.length ? list : merged
}

type TextPart = Json & { text: string }

function isTextPart(part: unknown): part is TextPart {
  return isObject(part) && TEXT_PART.test(String(part["type"])) && typeof part["text"] === "string"
}

/** Maps every text of an object except in the named fields; returns the same object if nothing changed. */
export function mapOtherFields<T extends Json>(value: T, names: ReadonlySet<string>, visit: Visit): T {
  return mapFields(value, (key, one) => (names.has(key) ? one : mapTexts(one, "assistant", visit)))
}

/** Standard fields of a chat response and of its choices; providers may add others. */
export const RESULT_FIELDS: ReadonlySet<string> = new Set(
  "id object created model choices usage error provider service_tier system_fingerprint".split(" "),
)
export const CHOICE_FIELDS: ReadonlySet<string> = new Set(
  "index delta message finish_reason native_finish_reason logprobs".split(" "),
)

function mapField([key, value]: readonly [string, unknown], parent: Json, role: Role, visit: Visit): unknown {
  if (key === "arguments" && typeof value === "string") return visit(value, role, "json")
  // In a message, the name of the author; in a tool, its identifier.
  if (key === "name" && typeof value === "string" && parent["role"] !== undefined && role !== "tool") {
    return visit(value, role, "plain")
  }
  // Arguments of a tool call: field names are arbitrary, and every value may be text.
  if (key === "input" && isObject(value) && CALLS.test(String(parent["type"])))
    return mapValues(key, value, role, visit)
  const map = (text: string) => visit(text, role, "plain")
  if (typeof value !== "string") return mapTexts(value, role, visit)
  if (key === "text" || key === "content") return map(value)
  if (isDataUrl(value)) return mapDataUrl(value, map)
  if (isFile(key, parent) && isBase64(value)) return mapBase64(value, { type: mediaTypeOf(parent) }, map)
  // Audio and encrypted reasoning.
  const isOpaque = key === "data" && parent["type"] !== "text" && isBase64(value)
  if (isOpaque && value.length > MAX_TEXT_IN_BASE64) return value
  if (isOpaque || IDENTIFIER_FIELDS.has(key)) return mapNames(key, value, visit)
  return mapLeaf(key, value, map)
}

function isFile(key: string, parent: Json): boolean {
  return key === "file_data" || (key === "data" && parent["type"] !== "text" && mediaTypeOf(parent) !== "")
}

function mediaTypeOf({ media_type: mediaType }: Json): string {
  return typeof mediaType === "string" ? mediaType : ""
}

const WEB = /^https?:\/\//i

/** Maps a text that may be a URL. */
function mapLeaf(key: string, value: string, map: (text: string) => string): string {
  if (isDataUrl(value)) return mapDataUrl(value, map)
  return URL_FIELD.test(key) || WEB.test(value) ? mapUrl(value, map) : map(value)
}

/** Keywords of the request format, which are never scanned. */
const PROTOCOL_KEYWORDS = new Set("role type model models object detail status format media_type mime_type".split(" "))

/** Visits names, ids and arbitrary field names. Returns the value unchanged. */
function mapNames<T>(key: string, value: T, visit: Visit): T {
  if (PROTOCOL_KEYWORDS.has(key)) return value
  if (typeof value === "string") {
    mapLeaf("", value, (text) => visit(text, NAMES, "plain"))
  } else if (isArray(value)) for (const one of value) mapNames("", one, visit)
  else if (isObject(value)) {
    for (const [name, one] of Object.entries(value)) {
      visit(name, NAMES, "plain")
      mapNames(name, one, visit)
    }
  }
  return value
}

const CALLS = /(?:^|_)tool_use$/

/** Fields whose values may be media in base64. */
const MEDIA_FIELD = /image|video|audio|file|mask|data|bytes|base64|b64/i
const MAX_TEXT_IN_BASE64 = 512

/** Maps every text of a value with arbitrary field names. */
function mapValues(key: string, value: unknown, role: Role, visit: Visit): unknown {
  const map = (text: string) => visit(text, role, "plain")
  if (typeof value === "string") {
    const isMedia = value.length > MAX_TEXT_IN_BASE64 && MEDIA_FIELD.test(key) && isBase64(value)
    return isMedia ? mapNames("", value, visit) : mapLeaf(key, value, map)
  }
  if (typeof value === "number") return mapNumber(value, map)
  if (isArray(value)) return mapList(value, (one) => mapValues(key, one, role, visit))
  if (!isObject(value)) return value
  return mapFields(value, (name, one) => {
    visit(name, NAMES, "plain")
    return mapValues(name, one, role, visit)
  })
}

function roleOf({ role, type }: Json): Role | undefined {
  if (typeof role === "string") return role
  return type === "function_call_output" || type === "tool_result" || type === "custom_tool_call_output"
    ? "tool"
    : undefined
}

/** Fields of a schema with values of its properties. */
const SCHEMA_VALUES = new Set("enum const default examples example input_examples".split(" "))
/** Names and keywords of schemas and tools. Every other string is text. */
const SCHEMA_NAMES = new Set(
  (
    "type role name id required propertyOrdering dependentRequired format strict syntax voice server_label " +
    "$ref $id $schema $anchor $dynamicRef $dynamicAnchor $recursiveRef"
  ).split(" "),
)
const ID = /_ids?$/

/** Maps the texts of a tool and of its schema. Names are visited, but stay unchanged. */
function mapSchema(key: string, value: unknown, visit: Visit): unknown {
  if (isArray(value)) return mapList(value, (one) => mapSchema(key, one, visit))
  if (typeof value === "string") {
    if (SCHEMA_NAMES.has(key) || ID.test(key)) return mapNames(key, value, visit)
    return mapLeaf(key, value, (text) => visit(text, "system", "plain"))
  }
  if (!isObject(value)) return value
  return mapFields(value, (name, one) => {
    visit(name, NAMES, "plain")
    const hasValues = SCHEMA_VALUES.has(name) && !isSchema(one)
    return hasValues ? mapValues(name, one, "system", visit) : mapSchema(name, one, visit)
  })
}

/** A property of a tool can have the name of a field of a schema. */
function isSchema(value: unknown): boolean {
  return isObject(value) && typeof value["type"] === "string"
}

function mapList(list: readonly unknown[], map: (one: unknown) => unknown): readonly unknown[] {
  const mapped = list.map(map)
  return mapped.some((one, at) => one !== list[at]) ? mapped : list
}
