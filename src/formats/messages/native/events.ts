import { isArray, isInteger, isObject, type Json, objectsOf, withoutNulls } from "../../../support/text/json.ts"
import { normalizeBlock } from "./message.ts"

/** A block that has started. `index`: for clients. `input`: complete at the start, sent if no delta has it. */
type OpenBlock = { index: number; type: unknown; input: Json | undefined }

/** The type of the block that a delta belongs to; undefined for the input of a tool, whose name is in the start. */
const BLOCK_TYPES: Readonly<Record<string, "text" | "thinking">> = {
  text_delta: "text",
  citations_delta: "text",
  thinking_delta: "thinking",
  signature_delta: "thinking",
}

/**
 * Normalizes the events of a Messages stream: servers that are compatible with the format leave out events and indexes
 * that clients need. A conforming event is returned unchanged.
 */
export class MessageEvents {
  readonly #newMessage: () => Json
  #isStarted = false
  /** By the provider's index. */
  readonly #open = new Map<number, OpenBlock>()
  /** The provider's index of the last block, and the client's of the next. */
  #latest = 0
  #next = 0
  hasCall = false

  /** `newMessage`: the message of `message_start`, for a server that sends none. */
  constructor(newMessage: () => Json) {
    this.#newMessage = newMessage
  }

  take(event: Json): Json[] {
    switch (event["type"]) {
      case "message_start":
        return this.#start(event)
      case "content_block_start":
        return [...this.#begin(), ...this.#startBlock(event)]
      case "content_block_delta":
        return [...this.#begin(), ...this.#append(event)]
      case "content_block_stop":
        return this.#stop(this.#indexOf(event), event)
      case "message_delta":
      case "message_stop":
        return [...this.#begin(), ...[...this.#open.keys()].flatMap((index) => this.#stop(index)), event]
      // Some servers repeat the complete message at the end.
      case "message":
        return []
      default:
        return [event]
    }
  }

  #begin(): Json[] {
    return this.#isStarted ? [] : this.#start({ type: "message_start", message: this.#newMessage() })
  }

  #start(event: Json): Json[] {
    if (this.#isStarted) return []
    this.#isStarted = true
    const message = isObject(event["message"]) ? event["message"] : {}
    const blocks = objectsOf(message["content"])
    const started = this.#toMessage(message)
    const complete = blocks.flatMap((block, index) => [
      ...this.#startBlock({ type: "content_block_start", index, content_block: block }),
      ...this.#stop(index),
    ])
    return [started === event["message"] ? event : { ...event, message: started }, ...complete]
  }

  #toMessage(message: Json): Json {
    const { id, type, role, content, usage } = message
    const isComplete = typeof id === "string" && type === "message" && role === "assistant"
    const counts = isObject(usage) ? usage : {}
    const isCounted = isInteger(counts["input_tokens"]) && isInteger(counts["output_tokens"])
    if (isComplete && isCounted && isArray(content) && content.length === 0) return message
    const start = this.#newMessage()
    const startCounts = isObject(start["usage"]) ? start["usage"] : {}
    return { ...start, ...withoutNulls(message), content: [], usage: { ...startCounts, ...withoutNulls(counts) } }
  }

  /** Servers without indexes send one block after the other. */
  #indexOf({ index }: Json): number {
    return isInteger(index) ? index : this.#latest
  }

  #startBlock(event: Json): Json[] {
    const index = isInteger(event["index"]) ? event["index"] : this.#next
    // Some servers do not stop their blocks. Only tools may be called in parallel.
    const ended = [...this.#open].filter(([at, { type }]) => at === index || isText(type)).map(([at]) => at)
    const before = ended.flatMap((at) => this.#stop(at))
    const block = isObject(event["content_block"]) ? event["content_block"] : {}
    const { start, input } = withoutInput(normalizeBlock(block))
    const opened = { index: this.#next, type: block["type"], input }
    this.#open.set(index, opened)
    this.#latest = index
    this.#next += 1
    this.hasCall ||= block["type"] === "tool_use"
    const isNormal = start === block && event["index"] === opened.index
    return [...before, isNormal ? event : { ...event, index: opened.index, content_block: start }]
  }

  #append(event: Json): Json[] {
    const index = this.#indexOf(event)
    const delta = isObject(event["delta"]) ? event["delta"] : {}
    const type = BLOCK_TYPES[String(delta["type"])]
    const isOther = type !== undefined && BLOCK_TYPES[`${String(this.#open.get(index)?.type)}_delta`] !== type
    const before = isOther ? this.#startBlock({ type: "content_block_start", index, content_block: { type } }) : []
    const block = this.#open.get(index)
    if (!block) return before
    if (delta["type"] === "input_json_delta" && delta["partial_json"] !== "") block.input = undefined
    return [...before, event["index"] === block.index ? event : { ...event, index: block.index }]
  }

  #stop(index: number, event: Json = { type: "content_block_stop" }): Json[] {
    const block = this.#open.get(index)
    if (!block) return []
    this.#open.delete(index)
    const { input, index: position } = block
    const delta = input && { type: "input_json_delta", partial_json: JSON.stringify(input) }
    const rest = delta ? [{ type: "content_block_delta", index: position, delta }] : []
    return [...rest, event["index"] === position ? event : { ...event, index: position }]
  }
}

function isText(type: unknown): boolean {
  return type === "text" || type === "thinking"
}

/** The start of a block of a tool. Many clients read the input only from deltas. */
function withoutInput(block: Json): { start: Json; input: Json | undefined } {
  const { type, input } = block
  const hasInput = type === "tool_use" && isObject(input) && Object.keys(input).length > 0
  return hasInput ? { start: { ...block, input: {} }, input } : { start: block, input: undefined }
}
