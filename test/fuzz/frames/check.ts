import type { Format } from "../differential/conversation.ts"
import { readDocument } from "../differential/answers.ts"
import type { Answer } from "../send.ts"
import { GEMINI_FORMATS, geminiChargeFaults, geminiFaults, type GeminiFormat, objectsOf } from "./gemini.ts"

type Json = Record<string, unknown>
export type Receipt = { total_cost: number; tokens_prompt: number; tokens_completion: number }

/** Statuses of a call for a failing provider, per the contract. */
const OF_PROVIDERS = new Set([502, 503, 504, 524, 529])

/** The API format of a call. */
export type CallFormat = Format | GeminiFormat

const isGemini = (format: CallFormat): format is GeminiFormat => GEMINI_FORMATS.some((one) => one === format)

/** `isNative`: the provider has the format of the call. */
type Expected = { format: CallFormat; isNative: boolean; isStreamed: boolean }

/** Faults of the response to a valid call, whatever the provider sent. */
export function faultsOf({ format, isNative, isStreamed }: Expected, answer: Answer | undefined): string[] {
  if (!answer) return ["no answer"]
  const { status, headers, text, isComplete } = answer
  if (!isComplete) return ["the answer did not end by itself"]
  if (status >= 500 && !OF_PROVIDERS.has(status)) return [`status ${status}`]
  if (status !== 200) return envelopeFaults(format, status, text)
  const isStream = headers["content-type"]?.startsWith("text/event-stream") ?? false
  if (isStream !== (isStreamed && format !== "gemini array")) return [`content type ${headers["content-type"]}`]
  if (isGemini(format)) return geminiFaults(format, isStreamed, text)
  if (!isStreamed) return parse(text) === undefined ? ["a body that is not JSON"] : []
  return STREAM_FAULTS[format](text, isNative)
}

function envelopeFaults(format: CallFormat, status: number, text: string): string[] {
  const { type, error } = (parse(text) ?? {}) as { type?: unknown; error?: Json }
  if (typeof error?.["message"] !== "string" || error["message"] === "") return [`no error envelope with ${status}`]
  if (format === "messages")
    return type === "error" && typeof error["type"] === "string" ? [] : ["no type of the error"]
  return error["code"] === status ? [] : [`error.code ${String(error["code"])} with ${status}`]
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The events of a stream, parsed as the specification of event streams defines. */
function framesIn(text: string): { events: Json[]; dones: number; faults: string[] } {
  const faults: string[] = []
  const lines = text.replaceAll(/\r\n|\r/g, "\n")
  if (!lines.endsWith("\n\n")) faults.push("no blank line at the end")
  const frames = lines.split("\n\n").filter((frame) => /^data:/m.test(frame))
  const texts = frames.map((frame) => {
    const data = frame.split("\n").filter((line) => line.startsWith("data:"))
    return data.map((line) => line.slice("data:".length).trim()).join("\n")
  })
  const dones = texts.filter((one) => one === "[DONE]").length
  if (dones > 0 && texts.at(-1) !== "[DONE]") faults.push("a frame after [DONE]")
  const events = texts.filter((one) => one !== "[DONE]").map(parse)
  if (events.includes(undefined)) faults.push("a frame that is not JSON")
  return { events: events.filter((event) => event !== undefined) as Json[], dones, faults }
}

const STREAM_FAULTS: Readonly<Record<Format, (text: string, isNative: boolean) => string[]>> = {
  chat: (text) => {
    const { events, dones, faults } = framesIn(text)
    if (dones !== 1) faults.push(`${dones} [DONE]`)
    const choices = events.flatMap(({ choices: all }) => (Array.isArray(all) ? (all as Json[]) : []))
    const ofFirst = choices.filter(({ index }) => index === 0)
    const reasons = ofFirst.filter(({ finish_reason: reason }) => reason !== null)
    const errors = events.filter(({ error }) => error != null)
    // A failure after the finish reason sends another one.
    const most = errors.length > 0 ? 2 : 1
    if (reasons.length === 0 || reasons.length > most) faults.push(`${reasons.length} finish reasons`)
    const usages = events.filter(({ usage }) => usage != null)
    if (usages.length > 1) faults.push(`${usages.length} usages`)
    if (errors.length === 0 && usages.length === 0) faults.push("neither usage nor error")
    if (errors.length > 0 && reasons.at(-1)?.["finish_reason"] !== "error")
      faults.push("an error without its finish reason")
    if (new Set(events.map(({ id }) => id)).size > 1) faults.push("more than one id")
    if (events.some(({ object }) => object !== "chat.completion.chunk")) faults.push("another object")
    return faults
  },
  responses: (text) => {
    const { events, dones, faults } = framesIn(text)
    if (dones !== 1) faults.push(`${dones} [DONE]`)
    const types = events.map(({ type }) => String(type))
    const ends = types.filter((type) => /^response\.(?:completed|incomplete|failed)$/.test(type))
    if (ends.length !== 1) faults.push(`${ends.length} last events`)
    if (types.at(-1) !== ends[0]) faults.push(`${types.at(-1)} after the last event`)
    if (types[0] !== "response.created") faults.push(`${types[0]} first`)
    const numbers = events.map(({ sequence_number: number }) => number)
    if (numbers.some((number, at) => number !== at)) faults.push("a gap in the sequence numbers")
    return [...faults, ...(ends[0] === "response.failed" ? [] : itemFaults(events))]
  },
  messages: (text, isNative) => {
    const { events, dones, faults } = framesIn(text)
    if (dones !== 0) faults.push("a [DONE]")
    const types = events.map(({ type }) => String(type)).filter((type) => type !== "ping")
    const isError = types.at(-1) === "error"
    if (types.filter((type) => type === "message_start").length !== 1 && !isError) {
      faults.push("no one message_start")
    }
    if (types.at(-1) !== "message_stop" && !isError) faults.push(`${types.at(-1)} last`)
    if (types.slice(0, -1).some((type) => type === "message_stop" || type === "error")) faults.push("more than one end")
    const open = new Set<unknown>()
    for (const { type, index } of events) {
      // A provider may call several tools at once.
      if (type === "content_block_start" && open.size > 0 && !isNative) faults.push("a block in a block")
      if (type === "content_block_start") open.add(index)
      if (type === "content_block_delta" && !open.has(index)) faults.push("a delta outside its block")
      if (type === "content_block_stop" && !open.delete(index)) faults.push("a stop without a start")
    }
    if (open.size > 0 && !isError) faults.push("a block without an end")
    return [...new Set(faults)]
  },
}

/** Faults of the items of a Responses stream: each starts before its events, and ends. */
function itemFaults(events: readonly Json[]): string[] {
  const faults = new Set<string>()
  const open = new Map<unknown, unknown>()
  for (const { type, output_index: index, item, item_id: id } of events) {
    if (type === "response.output_item.added") {
      if (open.has(index)) faults.add("an item that starts twice")
      open.set(index, (item as Json)["id"])
    } else if (type === "response.output_item.done") {
      if (!open.delete(index)) faults.add("the end of an item without its start")
    } else if (String(type).endsWith(".delta") && open.get(index) !== id) faults.add("a delta outside its item")
  }
  if (open.size > 0) faults.add("an item without an end")
  return [...faults]
}

type Shape = { format: CallFormat; isStreamed: boolean }

/** Faults of the charge of a call whose response has a usage. */
export function chargeFaults({ format, isStreamed }: Shape, text: string, receipt: Receipt): string[] {
  if (isGemini(format)) return geminiChargeFaults(objectsOf(format, isStreamed, text), receipt)
  const document = isStreamed ? usageIn(format, framesIn(text).events) : (parse(text) as Json)
  if (document?.["usage"] == null) return isStreamed ? [] : ["no usage"]
  const { prompt, completion, cost, cached } = readDocument(format, document)
  const { total_cost: charged, tokens_prompt: input, tokens_completion: output } = receipt
  // For a provider that counts more cached than prompt tokens: one format counts the two separately.
  const isPrompt = prompt === input || (cached > input && prompt === cached)
  if (cost === charged && isPrompt && completion === output) return []
  return [`${prompt} + ${completion} tokens for ${cost}, recorded as ${input} + ${output} for ${charged}`]
}

/** An error that ends a stream may have none. */
function usageIn(format: Format, events: readonly Json[]): Json | undefined {
  if (format === "chat") return events.findLast(({ usage }) => usage != null)
  if (format === "responses") return events.findLast(({ response }) => response != null)?.["response"] as Json
  const start = events.find(({ type }) => type === "message_start")?.["message"] as Json | undefined
  const end = events.findLast(({ type }) => type === "message_delta")
  return end && { usage: { ...(start?.["usage"] as Json), ...(end["usage"] as Json) } }
}
