import type { Format } from "./conversation.ts"

/** Content that a client reads from a response, in any API format. */

type Json = Record<string, unknown>

export type Answer = {
  text: string
  reasoning: string
  calls: { name: string; args: unknown }[]
  finish: string
  prompt: number
  completion: number
  cached: number
  cost: number
}

export function readAnswer(format: Format, body: string, isStreamed: boolean): Answer {
  const answer = isStreamed ? READ_STREAM[format](eventsIn(body)) : readDocument(format, JSON.parse(body) as Json)
  return { ...answer, calls: answer.calls.map(({ name, args }) => ({ name, args: parsed(args) })) }
}

/** A document with its arguments unchanged, or its usage alone. */
export const readDocument = (format: Format, document: Json) => READ_DOCUMENT[format](document)

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null
const list = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : [])
const object = (value: unknown) => (isObject(value) ? value : {})
const text = (value: unknown) => (typeof value === "string" ? value : "")
const number = (value: unknown) => (typeof value === "number" ? value : 0)

/** Arguments by their value: the Messages format sends them as an object. */
function parsed(args: unknown): unknown {
  if (typeof args !== "string") return JSON.stringify(args)
  return args === "" ? "{}" : JSON.stringify(JSON.parse(args))
}

function eventsIn(body: string): Json[] {
  const data = body.split("\n\n").map((frame) => frame.split("\n").find((line) => line.startsWith("data:")))
  const texts = data.flatMap((line) => (line === undefined ? [] : [line.slice("data:".length).trim()]))
  return texts.filter((line) => line !== "[DONE]").map((line) => JSON.parse(line) as Json)
}

const READ_DOCUMENT: Readonly<Record<Format, (document: Json) => Answer>> = {
  chat: (document) => {
    const [choice = {}] = list(document["choices"])
    const message = object(choice["message"])
    return {
      text: text(message["content"]),
      reasoning: text(message["reasoning"]),
      calls: list(message["tool_calls"]).map(chatCall),
      finish: text(choice["finish_reason"]),
      ...chatUsage(object(document["usage"])),
    }
  },
  responses: (document) => {
    const items = list(document["output"])
    const calls = items.filter(({ type }) => type === "function_call")
    const usage = object(document["usage"])
    return {
      text: partsOf(items, "message", "content"),
      reasoning: partsOf(items, "reasoning", "content") || partsOf(items, "reasoning", "summary"),
      calls: calls.map(({ name, arguments: args }) => ({ name: text(name), args })),
      finish: responsesFinish(document, calls.length > 0),
      prompt: number(usage["input_tokens"]),
      completion: number(usage["output_tokens"]),
      cached: number(object(usage["input_tokens_details"])["cached_tokens"]),
      cost: number(usage["cost"]),
    }
  },
  messages: (document) => {
    const blocks = list(document["content"])
    const textIn = (type: string) => blocks.map((block) => (block["type"] === type ? text(block[type]) : "")).join("")
    return {
      text: textIn("text"),
      reasoning: textIn("thinking"),
      calls: blocks
        .filter(({ type }) => type === "tool_use")
        .map(({ name, input }) => ({ name: text(name), args: input })),
      finish: STOP_REASONS.get(text(document["stop_reason"])) ?? text(document["stop_reason"]),
      ...messagesUsage(object(document["usage"])),
    }
  },
}

const chatCall = ({ function: called }: Json) => {
  const { name, arguments: args } = object(called)
  return { name: text(name), args }
}

function chatUsage(usage: Json) {
  return {
    prompt: number(usage["prompt_tokens"]),
    completion: number(usage["completion_tokens"]),
    cached: number(object(usage["prompt_tokens_details"])["cached_tokens"]),
    cost: number(usage["cost"]),
  }
}

function messagesUsage(usage: Json) {
  const cached = number(usage["cache_read_input_tokens"])
  return {
    prompt: number(usage["input_tokens"]) + cached + number(usage["cache_creation_input_tokens"]),
    completion: number(usage["output_tokens"]),
    cached,
    cost: number(usage["cost"]),
  }
}

function partsOf(items: readonly Json[], type: string, field: string): string {
  const parts = items.filter((item) => item["type"] === type).flatMap((item) => list(item[field]))
  return parts.map((part) => text(part["text"])).join("")
}

function responsesFinish({ status, incomplete_details: details }: Json, hasCalls: boolean): string {
  if (status === "completed") return hasCalls ? "tool_calls" : "stop"
  const { reason } = object(details)
  return reason === "max_output_tokens" ? "length" : text(reason ?? status)
}

const STOP_REASONS = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
])

const READ_STREAM: Readonly<Record<Format, (events: Json[]) => Answer>> = {
  chat: (events) => {
    const message: { content: string; reasoning: string; tool_calls: Json[] } = {
      content: "",
      reasoning: "",
      tool_calls: [],
    }
    let usage: Json = {}
    let finish = ""
    for (const event of events) {
      usage = object(event["usage"] ?? usage)
      const [choice = {}] = list(event["choices"])
      finish = text(choice["finish_reason"] ?? finish)
      const delta = object(choice["delta"])
      message.content += text(delta["content"])
      message.reasoning += text(delta["reasoning"])
      for (const { index, function: called } of list(delta["tool_calls"])) {
        const { name, arguments: args } = object(called)
        const call = (message.tool_calls[number(index)] ??= { function: { name: "", arguments: "" } })
        const known = object(call["function"])
        known["name"] = text(known["name"]) + text(name)
        known["arguments"] = text(known["arguments"]) + text(args)
      }
    }
    return READ_DOCUMENT.chat({ choices: [{ message, finish_reason: finish }], usage })
  },
  responses: (events) => {
    const last = events.findLast(({ type }) => /^response\.(?:completed|incomplete|failed)$/.test(text(type))) ?? {}
    const answer = READ_DOCUMENT.responses(object(last["response"]))
    const deltas = events.filter(({ type }) => type === "response.output_text.delta")
    const streamed = deltas.map(({ delta }) => text(delta)).join("")
    if (streamed !== answer.text) throw new Error(`The deltas have ${streamed}, the last event ${answer.text}.`)
    return answer
  },
  messages: (events) => {
    const blocks: Json[] = []
    let document: Json = {}
    let usage: Json = {}
    for (const event of events) {
      const { type, index, message, content_block: block } = event
      if (type === "message_start") usage = object(object(message)["usage"])
      if (type === "content_block_start") blocks[number(index)] = { ...object(block), json: "" }
      if (type === "content_block_delta") addDelta(blocks[number(index)] ?? {}, object(event["delta"]))
      if (type === "message_delta") {
        document = object(event["delta"])
        usage = { ...usage, ...object(event["usage"]) }
      }
    }
    const content = blocks.map(({ json, ...block }) =>
      block["type"] === "tool_use" ? { ...block, input: JSON.parse(text(json) || "{}") as unknown } : block,
    )
    return READ_DOCUMENT.messages({ ...document, content, usage })
  },
}

function addDelta(block: Json, delta: Json): void {
  if (delta["type"] === "input_json_delta") block["json"] = text(block["json"]) + text(delta["partial_json"])
  if (delta["type"] === "text_delta") block["text"] = text(block["text"]) + text(delta["text"])
  if (delta["type"] === "thinking_delta") block["thinking"] = text(block["thinking"]) + text(delta["thinking"])
}
