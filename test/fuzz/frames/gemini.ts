/** Reads responses of the Gemini API like a strict client, and returns their faults. */

type Json = Record<string, unknown>
type Receipt = { total_cost: number; tokens_prompt: number; tokens_completion: number }

/** Formats of calls that no provider has: a stream of events, and of the elements of an array. */
export const GEMINI_FORMATS = ["gemini", "gemini array"] as const
export type GeminiFormat = (typeof GEMINI_FORMATS)[number]

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const list = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [])
const number = (value: unknown) => (typeof value === "number" ? value : Number.NaN)

/** Exactly one of them is the data of a part. */
const DATA = ["text", "functionCall", "inlineData", "fileData"]

/** The objects of a response, in the order of a stream. */
export function objectsOf(format: GeminiFormat, isStreamed: boolean, text: string): Json[] {
  if (!isStreamed) return [JSON.parse(text) as Json]
  if (format === "gemini array") return JSON.parse(text) as Json[]
  // As Google's clients: split at blank lines, with data in one line.
  return text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((event) => {
    const trimmed = event.trim()
    if (trimmed === "") return []
    if (!trimmed.startsWith("data:")) throw new Error(`no data in ${trimmed.slice(0, 40)}`)
    return [JSON.parse(trimmed.slice("data:".length)) as Json]
  })
}

export function geminiFaults(format: GeminiFormat, isStreamed: boolean, text: string): string[] {
  let objects: Json[]
  try {
    objects = objectsOf(format, isStreamed, text)
  } catch (thrown) {
    return [`unreadable: ${String(thrown)}`]
  }
  const last = objects.at(-1)
  if (!last) return ["no object"]
  const faults = objects.flatMap((one, at) => objectFaults(one, at === objects.length - 1))
  const ids = new Set(objects.flatMap(({ responseId: id }) => (id === undefined ? [] : [id])))
  if (ids.size > 1) faults.push("more than one responseId")
  return [...new Set(faults)]
}

function objectFaults(object: Json, isLast: boolean): string[] {
  const { candidates, error, usageMetadata: usage, modelVersion } = object
  if (error !== undefined) {
    if (!isLast) return ["an object after the error"]
    const isError = isObject(error) && typeof error["message"] === "string" && typeof error["status"] === "string"
    return isError && Number.isInteger(error["code"]) ? [] : ["an error without its fields"]
  }
  const faults = typeof modelVersion === "string" ? [] : ["no modelVersion"]
  const reasons = list(candidates).map((one) => isObject(one) && typeof one["finishReason"] === "string")
  if (reasons.length === 0) faults.push("no candidate")
  if (reasons.includes(true) !== isLast)
    faults.push(isLast ? "no finish reason at the end" : "a finish reason before the end")
  if (isLast && reasons.includes(false)) faults.push("a candidate without an end")
  if (isObject(usage) !== isLast) faults.push("usage not in the last object alone")
  for (const candidate of list(candidates)) faults.push(...candidateFaults(candidate))
  return faults
}

function candidateFaults(candidate: unknown): string[] {
  if (!isObject(candidate) || !isObject(candidate["content"])) return ["a candidate without content"]
  const { role, parts } = candidate["content"]
  const faults = role === "model" ? [] : [`the role ${String(role)}`]
  if (!Number.isInteger(candidate["index"])) faults.push(`the index ${String(candidate["index"])}`)
  if (list(parts).length === 0) faults.push("no parts")
  for (const part of list(parts)) {
    const data = isObject(part) ? DATA.filter((name) => name in part) : []
    if (!isObject(part) || data.length !== 1) faults.push(`a part with ${data.join()}`)
    else if (data[0] === "text" && typeof part["text"] !== "string") faults.push("a text that is no text")
    else if (data[0] === "functionCall") faults.push(...callFaults(part["functionCall"]))
  }
  return faults
}

function callFaults(call: unknown): string[] {
  if (!isObject(call) || typeof call["name"] !== "string") return ["a call without a name"]
  if ("id" in call && typeof call["id"] !== "string") return ["an id of a call that is no text"]
  return isObject(call["args"]) ? [] : ["args that are no object"]
}

/** Faults of the charge of a response with usage. */
export function geminiChargeFaults(objects: readonly Json[], receipt: Receipt): string[] {
  const usage = objects.findLast(({ usageMetadata: one }) => one !== undefined)?.["usageMetadata"]
  if (!isObject(usage)) return []
  const completion = number(usage["candidatesTokenCount"]) + number(usage["thoughtsTokenCount"] ?? 0)
  const [prompt, cost] = [number(usage["promptTokenCount"]), number(usage["cost"])]
  const { total_cost: charged, tokens_prompt: input, tokens_completion: output } = receipt
  if (prompt === input && completion === output && cost === charged) return []
  return [`${prompt} + ${completion} tokens for ${cost}, recorded as ${input} + ${output} for ${charged}`]
}
