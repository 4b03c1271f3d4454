import { isArray, isObject, type Json } from "../../support/json.ts"
import { isBytes, mapBase64, mapDataUrl, mapUrl, TEXT_TYPE, URL_FIELD } from "./encoded-text.ts"

/**
 * Author of a text: the role of its message, or a default by field. `NAMES`: a name or an id, which nothing may change.
 */
export type Role = string
export const NAMES: Role = "names"
/** `json`: the text is a JSON document. */
export type Visit = (text: string, role: Role, form: "plain" | "json") => string

/** Request fields with text, and the role of their author. */
const TEXT_FIELDS: Readonly<Record<string, Role>> = {
  messages: "user",
  input: "user",
  instructions: "system",
  system: "system",
  prompt: "user",
  suffix: "user",
  negative_prompt: "user",
  query: "user",
  documents: "user",
  prediction: "assistant",
  stop: "user",
  stop_sequences: "user",
}

/** Fields that contain text only in descriptions. */
const SCHEMA_FIELDS = new Set(["tools", "functions", "response_format", "text", "output_format", "output_config"])

/** Fields with names or bytes, which are never scanned. */
const IDENTIFIER_FIELDS = new Set(
  (
    "type role id call_id tool_call_id tool_use_id item_id name model file_data file_id signature " +
    "encrypted_content format media_type mime_type detail status cache_control b64_json server_label"
  ).split(" "),
)

/** Maps every text of a request; returns the same object if nothing changed. */
export function mapRequest<T extends object>(request: T, visit: Visit): T {
  const changed: Json = {}
  const fields: [string, unknown][] = Object.entries(request)
  for (const [key, value] of fields) {
    const role = TEXT_FIELDS[key]
    const mapped = SCHEMA_FIELDS.has(key)
      ? mapDescriptions(value, visit)
      : role === undefined
        ? mapNames(key, value, visit)
        : key === "documents"
          ? mapValues(value, role, visit)
          : mapTexts(value, role, visit)
    if (mapped !== value) changed[key] = mapped
  }
  return Object.keys(changed).length === 0 ? request : { ...request, ...changed }
}

/** Maps every text of a value. Drops the signature of changed reasoning, which no longer matches. */
export function mapTexts(value: unknown, role: Role, visit: Visit): unknown {
  if (typeof value === "string") return visit(value, role, "plain")
  if (isArray(value)) return mapList(value, (one) => mapTexts(one, role, visit))
  if (!isObject(value)) return value
  const current = roleOf(value) ?? role
  const changed: Json = {}
  for (const [key, one] of Object.entries(value)) {
    const mapped = mapField([key, one], value, current, visit)
    if (mapped !== one) changed[key] = mapped
  }
  if (Object.keys(changed).length === 0) return value
  const { signature: _, ...rest } = { ...value, ...changed }
  return rest
}

/** Maps every text of an object except in the named fields; returns the same object if nothing changed. */
export function mapOtherFields<T extends Json>(value: T, names: ReadonlySet<string>, visit: Visit): T {
  const others = Object.entries(value).filter(([key]) => !names.has(key))
  const mapped = others.map(([key, one]) => [key, mapTexts(one, "assistant", visit)] as const)
  return mapped.some(([key, one]) => one !== value[key]) ? { ...value, ...Object.fromEntries(mapped) } : value
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
  if (key === "input" && isObject(value) && CALLS.test(String(parent["type"]))) return mapValues(value, role, visit)
  // Base64 bytes, except in the text of a document.
  if (typeof value === "string" && key !== "text" && key !== "content" && isBytes(value)) {
    return mapDataUrl(value, (text) => visit(text, role, "plain"))
  }
  if (key === "data" && parent["type"] !== "text") {
    const isText = typeof value === "string" && TEXT_TYPE.test(String(parent["media_type"]))
    return isText ? mapBase64(value, (text) => visit(text, role, "plain")) : value
  }
  if (IDENTIFIER_FIELDS.has(key) && (typeof value === "string" || key === "cache_control"))
    return mapNames(key, value, visit)
  if (typeof value === "string" && URL_FIELD.test(key)) return mapUrl(value, (text) => visit(text, role, "plain"))
  return mapTexts(value, role, visit)
}

/** Keywords of the request format, which are never scanned. */
const PROTOCOL_KEYWORDS = new Set("role type model models object detail status format media_type mime_type".split(" "))

/** Visits names, ids and arbitrary field names. Returns the value unchanged. */
function mapNames<T>(key: string, value: T, visit: Visit): T {
  if (PROTOCOL_KEYWORDS.has(key)) return value
  if (typeof value === "string") {
    if (!isBytes(value)) visit(value, NAMES, "plain")
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
/** Maps every text of a value with arbitrary field names. */
function mapValues(value: unknown, role: Role, visit: Visit): unknown {
  if (typeof value === "string") return isBytes(value) ? value : visit(value, role, "plain")
  if (isArray(value)) return mapList(value, (one) => mapValues(one, role, visit))
  if (!isObject(value)) return value
  const mapped = Object.entries(value).map(([key, one]) => {
    visit(key, NAMES, "plain")
    return [key, mapValues(one, role, visit)] as const
  })
  return mapped.some(([key, one]) => one !== value[key]) ? Object.fromEntries(mapped) : value
}

function roleOf({ role, type }: Json): Role | undefined {
  if (typeof role === "string") return role
  return type === "function_call_output" || type === "tool_result" || type === "custom_tool_call_output"
    ? "tool"
    : undefined
}

/** Fields of a schema with texts. */
const SCHEMA_TEXT_FIELDS = new Set("description title enum const default examples example".split(" "))

/** Maps the texts of a tool and of its schema. Names are visited, but stay unchanged. */
function mapDescriptions(value: unknown, visit: Visit): unknown {
  if (isArray(value)) return mapList(value, (one) => mapDescriptions(one, visit))
  if (typeof value === "string") return mapNames("", value, visit)
  if (!isObject(value)) return value
  const changed: Json = {}
  for (const [key, one] of Object.entries(value)) {
    visit(key, NAMES, "plain")
    const mapped =
      SCHEMA_TEXT_FIELDS.has(key) && !isSchema(one)
        ? mapValues(one, "system", visit)
        : typeof one === "string"
          ? mapNames(key, one, visit)
          : mapDescriptions(one, visit)
    if (mapped !== one) changed[key] = mapped
  }
  return Object.keys(changed).length === 0 ? value : { ...value, ...changed }
}

/** A property of a tool can have the name of a field of a schema. */
function isSchema(value: unknown): boolean {
  return isObject(value) && typeof value["type"] === "string"
}

function mapList(list: readonly unknown[], map: (one: unknown) => unknown): readonly unknown[] {
  const mapped = list.map(map)
  return mapped.some((one, at) => one !== list[at]) ? mapped : list
}
