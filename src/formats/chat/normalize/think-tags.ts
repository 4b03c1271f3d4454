import type { Json } from "../../../support/text/json.ts"

/**
 * Reasoning that a server leaves in the content, as `<think>…</think>` at its beginning: model servers without a
 * reasoning parser send it so.
 */

type Tag = { open: string; close: string; mayBePrompted?: true }

/** The tags of models. `mayBePrompted`: prompts of clients also use this one, and the clients read it themselves. */
const TAGS: readonly Tag[] = [
  { open: "<think>", close: "</think>" },
  { open: "<seed:think>", close: "</seed:think>" },
  { open: "[THINK]", close: "[/THINK]" },
  ...["thought", "thinking", "reasoning"].map((name) => ({
    open: `<${name}>`,
    close: `</${name}>`,
    mayBePrompted: true as const,
  })),
]

/**
 * How far the content of a choice was read. `start`: no text yet; `inside`: between the tags; `after`: the text has not
 * begun again; `off`: ordinary text. `held`: what may be a part of a tag. `close`: the tag that ends the reasoning.
 */
export type ThinkState = {
  phase: "start" | "inside" | "after" | "off"
  held: string
  close: string
  isPrompted: (tag: string) => boolean
}

/** `isPrompted`: whether the prompt has a tag. */
export function newThinkState(isPrompted: (tag: string) => boolean = () => false): ThinkState {
  return { phase: "start", held: "", close: "", isPrompted }
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
  const tag = tagAt(trimmed, state)
  if (tag) {
    state.phase = "inside"
    state.close = tag.close
    return think(state, trimmed.slice(tag.open.length))
  }
  if (TAGS.some(({ open }) => open.startsWith(trimmed))) {
    state.held = text
    return { content: "", reasoning: "" }
  }
  state.phase = "off"
  return { content: text, reasoning: "" }
}

function tagAt(text: string, { isPrompted }: ThinkState): Tag | undefined {
  return TAGS.find(({ open, mayBePrompted }) => text.startsWith(open) && !(mayBePrompted && isPrompted(open)))
}

function think(state: ThinkState, text: string): Read {
  const { close } = state
  const end = text.indexOf(close)
  if (end !== -1) {
    state.phase = "after"
    return { ...speak(state, text.slice(end + close.length)), reasoning: text.slice(0, end) }
  }
  const kept = partAtEnd(text, close)
  state.held = text.slice(text.length - kept)
  return { content: "", reasoning: text.slice(0, text.length - kept) }
}

/** The length of the longest end of the text with which the closing tag may begin. */
function partAtEnd(text: string, close: string): number {
  for (let length = Math.min(text.length, close.length - 1); length > 0; length -= 1) {
    if (text.endsWith(close.slice(0, length))) return length
  }
  return 0
}

function speak(state: ThinkState, text: string): Read {
  const content = text.trimStart()
  if (content !== "") state.phase = "off"
  return { content, reasoning: "" }
}

/** The complete message with its reasoning in `reasoning`. Without the closing tag, only a limit can have cut it. */
export function withoutThinkTagsInMessage(message: Json, isCut: boolean, isPrompted: ThinkState["isPrompted"]): Json {
  const { content, reasoning } = message
  if (typeof content !== "string" || (typeof reasoning === "string" && reasoning !== "")) return message
  const state = newThinkState(isPrompted)
  const tag = tagAt(content.trimStart(), state)
  if (!tag || (!isCut && !content.includes(tag.close))) return message
  const read = readText(state, content, true)
  return { ...message, content: read.content, ...reasoningFields(read.reasoning) }
}
