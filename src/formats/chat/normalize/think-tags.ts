import type { Json } from "../../../support/text/json.ts"

/**
 * Reasoning that a server leaves in the content, as `<think>…</think>` at its beginning: model servers without a
 * reasoning parser send it so.
 */

const OPEN = "<think>"
const CLOSE = "</think>"

/**
 * How far the content of a choice was read. `start`: no text yet; `inside`: between the tags; `after`: the text has not
 * begun again; `off`: ordinary text. `held`: what may be a part of a tag.
 */
export type ThinkState = { phase: "start" | "inside" | "after" | "off"; held: string }

export function newThinkState(): ThinkState {
  return { phase: "start", held: "" }
}

/** Moves the reasoning of a delta to `reasoning`; returns the same object if its content has none. Updates `state`. */
export function withoutThinkTags(delta: Json, state: ThinkState, isLast: boolean): Json {
  if (state.phase === "off") return delta
  const { content, reasoning, tool_calls: calls } = delta
  const isElsewhere = typeof reasoning === "string" && reasoning !== "" && state.phase === "start"
  const text = typeof content === "string" ? content : ""
  if (text === "" && !isElsewhere && calls === undefined && !isLast) return delta
  const isEnd = isLast || isElsewhere || calls !== undefined
  const read = readText(state, text, isEnd)
  if (read.content === text && read.reasoning === "") return delta
  return { ...delta, content: read.content, ...reasoningFields(read.reasoning) }
}

function reasoningFields(text: string): Json {
  return text === "" ? {} : { reasoning: text, reasoning_details: [{ type: "reasoning.text", text, index: 0 }] }
}

type Read = { content: string; reasoning: string }

function readText(state: ThinkState, text: string, isEnd: boolean): Read {
  const read = step(state, state.held + text)
  if (!isEnd) return read
  const { phase, held } = state
  Object.assign(state, { phase: "off", held: "" })
  if (phase === "inside") return { ...read, reasoning: read.reasoning + held }
  return { ...read, content: read.content + held }
}

function step(state: ThinkState, text: string): Read {
  state.held = ""
  if (state.phase === "start") return begin(state, text)
  if (state.phase === "inside") return think(state, text)
  return speak(state, text)
}

function begin(state: ThinkState, text: string): Read {
  const trimmed = text.trimStart()
  if (trimmed === "") return { content: text, reasoning: "" }
  if (trimmed.startsWith(OPEN)) {
    state.phase = "inside"
    return think(state, trimmed.slice(OPEN.length))
  }
  if (OPEN.startsWith(trimmed)) {
    state.held = text
    return { content: "", reasoning: "" }
  }
  state.phase = "off"
  return { content: text, reasoning: "" }
}

function think(state: ThinkState, text: string): Read {
  const end = text.indexOf(CLOSE)
  if (end !== -1) {
    state.phase = "after"
    return { ...speak(state, text.slice(end + CLOSE.length)), reasoning: text.slice(0, end) }
  }
  const kept = partAtEnd(text)
  state.held = text.slice(text.length - kept)
  return { content: "", reasoning: text.slice(0, text.length - kept) }
}

/** The length of the longest end of the text with which the closing tag may begin. */
function partAtEnd(text: string): number {
  for (let length = Math.min(text.length, CLOSE.length - 1); length > 0; length -= 1) {
    if (text.endsWith(CLOSE.slice(0, length))) return length
  }
  return 0
}

function speak(state: ThinkState, text: string): Read {
  const content = text.trimStart()
  if (content !== "") state.phase = "off"
  return { content, reasoning: "" }
}

/** The complete message with its reasoning in `reasoning`. Without the closing tag, only a limit can have cut it. */
export function withoutThinkTagsInMessage(message: Json, isCut: boolean): Json {
  const { content, reasoning } = message
  const hasReasoning = typeof reasoning === "string" && reasoning !== ""
  if (typeof content !== "string" || hasReasoning || !content.trimStart().startsWith(OPEN)) return message
  if (!isCut && !content.includes(CLOSE)) return message
  const read = readText(newThinkState(), content, true)
  return { ...message, content: read.content, ...reasoningFields(read.reasoning) }
}
