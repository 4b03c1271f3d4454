import { isObject, type Json, objectsOf, textIn } from "../../../support/text/json.ts"
import { parseArguments } from "../../tools/tool-arguments.ts"
import { normalizeBlock } from "../native/message.ts"
import { CLAUDE_FORMAT, type ServerCall, toServerDetail } from "../thinking.ts"
import { type OpenBlock, pushDelta, type Turn } from "./turn.ts"

/** Converts the content block events of a response to chat deltas. */

export function startBlock(turn: Turn, index: number, block: Json): void {
  stopBlock(turn, index)
  const newBlock = open(turn, normalizeBlock(block))
  turn.state.blocks = new Map(turn.state.blocks).set(index, newBlock)
}

function open(turn: Turn, block: Json): OpenBlock {
  const { state } = turn
  const type = textIn(block, "type")
  if (type === "text") {
    const citations = objectsOf(block["citations"])
    const openBlock: OpenBlock = { kind: "text", startsAt: state.length, citations }
    emitText(turn, textIn(block, "text"))
    return openBlock
  }
  if (type === "thinking") {
    const openBlock: OpenBlock = { kind: "thinking", detailIndex: nextDetailIndex(turn) }
    emitThought(turn, openBlock.detailIndex, textIn(block, "thinking"), textIn(block, "signature"))
    return openBlock
  }
  if (type === "redacted_thinking") {
    const data = textIn(block, "data")
    if (data !== "")
      emitDetail(turn, { type: "reasoning.encrypted", data, format: CLAUDE_FORMAT }, nextDetailIndex(turn))
    return { kind: "other" }
  }
  if (type === "tool_use") {
    const callIndex = state.calls
    state.calls += 1
    const fn = { name: textIn(block, "name"), arguments: "" }
    pushDelta(turn, { tool_calls: [{ index: callIndex, id: block["id"], type: "function", function: fn }] })
    return { kind: "tool", callIndex, input: block["input"], hasArguments: false }
  }
  if (type === "server_tool_use") {
    const { input } = block
    return { kind: "server tool", id: textIn(block, "id"), name: textIn(block, "name"), input, encoded: "" }
  }
  if (type.endsWith("_tool_result")) emitResult(turn, textIn(block, "tool_use_id"), block["content"])
  return { kind: "other" }
}

export function appendBlockDelta(turn: Turn, index: number, delta: Json): void {
  const type = textIn(delta, "type")
  if (!turn.state.blocks.has(index)) startBlock(turn, index, { type: type.replace(/_delta$/, "") })
  const block = turn.state.blocks.get(index)
  if (block?.kind === "text" && type === "text_delta") emitText(turn, textIn(delta, "text"))
  if (block?.kind === "text" && type === "citations_delta" && isObject(delta["citation"])) {
    replace(turn, index, { ...block, citations: [...block.citations, delta["citation"]] })
  }
  if (block?.kind === "thinking")
    emitThought(turn, block.detailIndex, textIn(delta, "thinking"), textIn(delta, "signature"))
  if (type !== "input_json_delta") return
  const piece = textIn(delta, "partial_json")
  if (piece === "") return
  if (block?.kind === "tool") {
    emitArguments(turn, block.callIndex, piece)
    if (!block.hasArguments) replace(turn, index, { ...block, hasArguments: true })
  }
  if (block?.kind === "server tool") replace(turn, index, { ...block, encoded: block.encoded + piece })
}

function replace({ state }: Turn, index: number, block: OpenBlock): void {
  state.blocks = new Map(state.blocks).set(index, block)
}

export function stopBlock(turn: Turn, index: number): void {
  const { state } = turn
  const block = state.blocks.get(index)
  if (!block) return
  const remaining = new Map(state.blocks)
  remaining.delete(index)
  state.blocks = remaining
  if (block.kind === "text") emitCitations(turn, block.startsAt, block.citations)
  // The input was complete in the start event, or missing: a chat call needs arguments in any case.
  if (block.kind === "tool" && !block.hasArguments)
    emitArguments(turn, block.callIndex, JSON.stringify(block.input ?? {}))
  if (block.kind === "server tool") {
    const { id, name } = block
    state.serverCalls = [...state.serverCalls, { id, name, input: toInput(block), result: null }]
  }
}

export function stopAll(turn: Turn): void {
  for (const index of turn.state.blocks.keys()) stopBlock(turn, index)
}

/** Emits calls of server tools whose results arrive in a later response. */
export function emitUnanswered(turn: Turn): void {
  const { serverCalls } = turn.state
  turn.state.serverCalls = []
  for (const call of serverCalls) emitDetail(turn, toServerDetail(call), nextDetailIndex(turn))
}

function toInput({ encoded, input }: { encoded: string; input: unknown }): Json {
  if (encoded !== "") return parseArguments(encoded) ?? {}
  return isObject(input) ? input : {}
}

function emitText(turn: Turn, text: string): void {
  if (text === "") return
  turn.state.length += text.length
  pushDelta(turn, { content: text })
}

function emitThought(turn: Turn, index: number, text: string, signature: string): void {
  if (text === "" && signature === "") return
  const message = { ...(text !== "" && { text }), ...(signature !== "" && { signature }) }
  const detail = { type: "reasoning.text", ...message, format: CLAUDE_FORMAT, index }
  pushDelta(turn, { ...(text !== "" && { reasoning: text }), reasoning_details: [detail] })
}

function emitDetail(turn: Turn, detail: Json, index: number): void {
  pushDelta(turn, { reasoning_details: [{ ...detail, index }] })
}

function nextDetailIndex({ state }: Turn): number {
  state.details += 1
  return state.details - 1
}

function emitArguments(turn: Turn, index: number, piece: string): void {
  pushDelta(turn, { tool_calls: [{ index, function: { arguments: piece } }] })
}

function emitResult(turn: Turn, id: string, result: unknown): void {
  const { state } = turn
  const call: ServerCall | undefined = state.serverCalls.find((one) => one.id === id)
  if (!call) return
  state.serverCalls = state.serverCalls.filter((one) => one !== call)
  emitDetail(turn, toServerDetail({ ...call, result }), nextDetailIndex(turn))
}

/** Called at the end of a block, when both ends of the cited text are known. Chat has no document citations. */
function emitCitations(turn: Turn, startsAt: number, citations: readonly Json[]): void {
  const annotations = citations.flatMap(({ url, title, cited_text: cited }) => {
    if (typeof url !== "string") return []
    const source = {
      ...(typeof title === "string" && { title }),
      ...(typeof cited === "string" && { content: cited }),
    }
    const range = { start_index: startsAt, end_index: turn.state.length }
    return [{ type: "url_citation", url_citation: { url, ...source, ...range } }]
  })
  if (annotations.length > 0) pushDelta(turn, { annotations })
}
