import { isInteger, isObject, type Json } from "../../support/text/json.ts"
import { addFields } from "../../formats/responses/call-fields.ts"
import type { ChatRequest } from "../../formats/schemas.ts"
import { isRun } from "../../formats/tools/server-tool-detail.ts"

type Assistant = Extract<ChatRequest["messages"][number], { role: "assistant" }>

/**
 * Restores server tool runs in earlier responses of the conversation as calls and results. Only runs of tools that the
 * request still has: providers reject a call of a tool that is not declared.
 */
export function replayServerTools(
  messages: ChatRequest["messages"],
  names: ReadonlySet<string>,
): ChatRequest["messages"] {
  const replayed: Json[] = []
  for (const message of messages) {
    const hasRuns = message.role === "assistant" && message.reasoning_details?.some(isRun) === true
    if (hasRuns) replay(message, names, replayed)
    else replayed.push(message)
  }
  return replayed as ChatRequest["messages"]
}

type Run = { call: Json; result: string; round: unknown; isPending: boolean; contentLength: unknown }
/** A turn with server tools: its reasoning and its tool runs. */
type Round = { thoughts: Json[]; runs: Run[] }

/** Splits a response into its turns, each with reasoning, content, calls and results. */
function replay(message: Assistant, names: ReadonlySet<string>, replayed: Json[]): void {
  const { reasoning_details: details, reasoning, tool_calls: awaited, content, ...plain } = message
  const { rounds, rest } = roundsOf(details ?? [], names)
  const isThought = (details ?? []).some((detail) => textOf(detail) !== "")
  const toThoughts = (thoughts: Json[]) => {
    const text = reasoning == null ? "" : thoughts.map(textOf).join("")
    return { ...(text !== "" && { reasoning: text }), ...(thoughts.length > 0 && { reasoning_details: thoughts }) }
  }
  const last = rounds.at(-1)
  // The last turn may have both server tool calls and the client's calls.
  const sharedRound = awaited?.length && rest.length === 0 && last?.runs.every(sharesTurn) ? rounds.pop() : undefined
  let start = 0
  for (const { thoughts, runs } of rounds) {
    const end = endOf(runs, content, start)
    const quoted = typeof content === "string" && end > start ? content.slice(start, end) : null
    start = end
    const turn = {
      role: "assistant",
      content: quoted,
      ...toThoughts(thoughts),
      tool_calls: runs.map(({ call }) => call),
    }
    pushTurn(replayed, turn)
    replayed.push(...runs.map(toResult))
  }
  const remaining = typeof content === "string" ? content.slice(start) : content
  const final: Json = {
    ...plain,
    content: remaining === "" && awaited ? null : remaining,
    ...(!isThought && reasoning != null && { reasoning }),
    ...toThoughts(sharedRound?.thoughts ?? rest),
    ...(awaited && { tool_calls: [...(sharedRound?.runs.map(({ call }) => call) ?? []), ...awaited] }),
  }
  if (rounds.length === 0 || !isEmptyMessage(final)) replayed.push(final)
  if (sharedRound) replayed.push(...sharedRound.runs.map(toResult))
}

function roundsOf(details: readonly Json[], names: ReadonlySet<string>): { rounds: Round[]; rest: Json[] } {
  const rounds: Round[] = []
  let thoughts: Json[] = []
  details.forEach((detail, index) => {
    if (!isRun(detail)) {
      thoughts.push(detail)
      return
    }
    const name = typeof detail["tool_name"] === "string" ? detail["tool_name"] : ""
    if (!names.has(name)) return
    const run = toRun(detail, name, index)
    const last = rounds.at(-1)
    if (last && thoughts.length === 0 && last.runs[0]?.round === run.round) last.runs.push(run)
    else rounds.push({ thoughts, runs: [run] })
    thoughts = []
  })
  return { rounds, rest: thoughts }
}

function toRun(detail: Json, name: string, index: number): Run {
  const {
    tool_call_id: reported,
    round,
    is_pending: isPending,
    content_length: contentLength,
    call_fields: fields,
  } = detail
  const id = typeof reported === "string" ? reported : `call_${index}`
  const call = { id, type: "function", function: { name, arguments: stringify(detail["arguments"]) || "{}" } }
  addFields(call, fields)
  return { call, result: stringify(detail["result"]), round, isPending: isPending === true, contentLength }
}

/**
 * Clients may drop `is_pending` and `round`; the turn then stays one message that starts with its reasoning.
 */
function sharesTurn({ isPending, round }: Run): boolean {
  return isPending || round === undefined
}

/** The end of the content of a turn, as an offset into the content of the response. */
function endOf([run]: readonly Run[], content: unknown, start: number): number {
  const end = run?.contentLength
  if (typeof content !== "string" || !isInteger(end)) return start
  return end >= start && end <= content.length ? end : start
}

/** Adds the calls of a turn to the preceding message if that has the content of the turn. */
function pushTurn(replayed: Json[], turn: Json): void {
  const before = replayed.at(-1)
  const isSeparateTurn = turn["content"] !== null || turn["reasoning_details"] !== undefined
  if (before?.["role"] !== "assistant" || before["tool_calls"] != null || isSeparateTurn) replayed.push(turn)
  else replayed[replayed.length - 1] = { ...before, tool_calls: turn["tool_calls"] }
}

function isEmptyMessage({ content, tool_calls: calls, reasoning_details: details, refusal }: Json): boolean {
  const isEmpty = content == null || content === "" || (Array.isArray(content) && content.length === 0)
  return isEmpty && calls == null && details == null && refusal == null
}

function toResult({ call, result }: Run): Json {
  return { role: "tool", tool_call_id: call["id"], content: result }
}

function textOf(detail: Json): string {
  const text = detail["text"] ?? detail["summary"]
  return typeof text === "string" ? text : ""
}

function stringify(value: unknown): string {
  if (typeof value === "string") return value
  return isObject(value) ? JSON.stringify(value) : ""
}
