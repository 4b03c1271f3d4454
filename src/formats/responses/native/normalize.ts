import { newHexId } from "../../../support/ids.ts"
import { isArray, isObject, type Json, withoutNulls } from "../../../support/text/json.ts"

/**
 * Providers of the Responses format send null for fields that they do not use. Strict clients accept only their
 * absence, and drop the item or the event, or reject the response. Each function returns the same object if it already
 * conforms.
 */

/** Fields of a response that are never null. Most are required, so that the gateway's own value takes their place. */
const NEVER_NULL = new Set(
  "created_at error_type output output_text parallel_tool_calls status store text tool_choice tools".split(" "),
)

/** The fields of a response that have a valid value. */
export function normalizeResponse(response: Json): Json {
  const valid = Object.entries(response).filter(
    ([key, value]) => value !== undefined && !(value === null && NEVER_NULL.has(key)),
  )
  const fields = Object.fromEntries(valid)
  for (const key of ["created_at", "completed_at"]) {
    if (typeof fields[key] === "number") fields[key] = Math.trunc(fields[key])
  }
  if ("output" in fields) fields["output"] = eachObject(fields["output"], normalizeItem)
  return fields
}

export function normalizeItem(item: Json): Json {
  const fixed = compact(item)
  const { type, content, summary } = fixed
  if (type === "message" && typeof content === "string") {
    return { ...fixed, content: [{ type: "output_text", text: content, annotations: [] }] }
  }
  // Clients answer a call by this id.
  if (type === "function_call" && !("call_id" in fixed)) return { ...fixed, call_id: fixed["id"] ?? newCallId() }
  const parts = eachObject(content, normalizePart)
  if (type === "message" && !isArray(content)) return { ...fixed, content: [] }
  if (type === "reasoning" && !isArray(summary)) return { ...fixed, content: parts, summary: [] }
  return parts === content ? fixed : { ...fixed, content: parts }
}

function newCallId(): string {
  return `call_${newHexId()}`
}

function normalizePart(part: Json): Json {
  const fixed = compact(part)
  // The type of text in the chat format.
  if (fixed["type"] === "text" && typeof fixed["text"] === "string") {
    return normalizePart({ annotations: [], ...fixed, type: "output_text" })
  }
  const annotations = eachObject(fixed["annotations"], normalizeAnnotation)
  return annotations === fixed["annotations"] ? fixed : { ...fixed, annotations }
}

/** A citation without title or positions has empty ones, as those of chat responses have. */
function normalizeAnnotation(annotation: Json): Json {
  const fixed = compact(annotation)
  if (fixed["type"] !== "url_citation") return fixed
  const isComplete = ["title", "start_index", "end_index"].every((key) => key in fixed)
  return isComplete ? fixed : { title: "", start_index: 0, end_index: 0, ...fixed }
}

/** An event other than a snapshot of the response. `calls`: names of the function calls, by position in the output. */
export function normalizeEvent(event: Json, calls: Map<unknown, string>): Json {
  const { type, item, part, annotation, logprobs, output_index: position } = event
  if (isObject(item)) {
    if (item["type"] === "function_call" && typeof item["name"] === "string") calls.set(position, item["name"])
    return withField(event, "item", normalizeItem(item))
  }
  if (isObject(part)) return withField(event, "part", normalizePart(part))
  if (isObject(annotation)) return withField(event, "annotation", normalizeAnnotation(annotation))
  if (HAS_LOGPROBS.has(type) && !isArray(logprobs)) return { ...event, logprobs: [] }
  if (type === "response.function_call_arguments.done" && typeof event["name"] !== "string") {
    const name = calls.get(position)
    return name === undefined ? event : { ...event, name }
  }
  return event
}

const HAS_LOGPROBS = new Set<unknown>(["response.output_text.delta", "response.output_text.done"])

function withField(event: Json, key: string, value: Json): Json {
  return event[key] === value ? event : { ...event, [key]: value }
}

function compact(fields: Json): Json {
  return Object.values(fields).includes(null) ? withoutNulls(fields) : fields
}

/** The list with its objects normalized; the same list, or any other value, if nothing changes. */
function eachObject(list: unknown, normalize: (one: Json) => Json): unknown {
  if (!isArray(list)) return list
  const normal = list.map((one) => (isObject(one) ? normalize(one) : one))
  return normal.every((one, at) => one === list[at]) ? list : normal
}
