import { estimateTokens } from "../support/tokens.ts"
import { toRecord, toText, toUserText, type ChatRequest, type ToolFunction } from "./chat-request.ts"
import { findFault } from "./faults.ts"
import { guide } from "./guide/guide.ts"
import { toSchemaValue } from "./schema-value.ts"

/** A token of the response, or the start of a tool call, which counts no tokens. */
export type Part =
  | { type: "content" | "reasoning" | "refusal"; text: string }
  | { type: "arguments"; call: number; text: string }
  | { type: "call"; call: number; id: string; name: string }

export interface GeneratedChoice {
  parts: readonly Part[]
  finishReason: "stop" | "length" | "tool_calls"
}

const LONG_TEXT = Array.from({ length: 1_600 }, (_, i) => `word-${String(i + 1).padStart(4, "0")}`).join(" ")
const MAX_CALLS = 3

/**
 * The response of a model. Two choices of one response differ only in `seed`, which makes the ids of their tool calls.
 */
export function generateChoice(request: ChatRequest, seed: string): GeneratedChoice {
  const parts = textParts(request, seed)
  const limited = limit(parts, request.maxTokens)
  if (limited.length < parts.length) return { parts: limited, finishReason: "length" }
  return { parts, finishReason: parts.some((part) => part.type === "call") ? "tool_calls" : "stop" }
}

export function countTokens(parts: readonly Part[], type?: Part["type"]): number {
  return parts.filter((part) => part.type !== "call" && (type === undefined || part.type === type)).length
}

/**
 * Text in pieces of four UTF-16 units. A cut that would split a surrogate pair moves one unit to the left, so there are
 * always as many pieces as `estimateTokens` returns.
 */
export function toPieces(text: string): string[] {
  const pieces: string[] = []
  for (let start = 0, at = 4; start < text.length; at += 4) {
    const end = isInsidePair(text, at) ? at - 1 : at
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

/** Text repeated until it has at least `tokens` tokens. */
export function pad(text: string, tokens: number): string {
  const repeats = Math.ceil((tokens * 4) / (text.length + 1))
  return estimateTokens(text) >= tokens ? text : Array.from({ length: repeats }, () => text).join(" ")
}

function textParts(request: ChatRequest, seed: string): Part[] {
  const text = toUserText(request.messages)
  const content = (phrase: string) => toParts("content", toBeforeStop(phrase, request.stops))
  switch (request.model) {
    case "guide":
      return callNamedTool(request, text, seed) ?? content(toGuideText(request, text))
    case "paced":
      return content(pad(text, 100))
    case "long":
      return content(LONG_TEXT)
    case "tool-call":
    case "parallel-tools":
      return useTools(request, text, seed) ?? content(toolResultText(request.messages) ?? text)
    case "agent":
      return runCommand(request, text, seed) ?? content(toolResultText(request.messages) ?? text)
    case "json":
      return content(JSON.stringify(request.schema ? toSchemaValue(request.schema, text) : { echo: text, ok: true }))
    case "reasoning":
      return [...(request.reasons ? think(text) : []), ...content(text)]
    case "refusal":
      return toParts("refusal", "I can't help with that.")
    case "split-utf8":
      return content(pad(`héllo wörld 🌍 日本語 ${text}`, 20))
    default:
      return content(findFault(request.model) ? pad(text, 20) : text)
  }
}

/** In the requested format: Markdown, a JSON object, or a document of its schema. */
function toGuideText({ schema, wantsJson }: ChatRequest, question: string): string {
  const { text, sources } = guide(question)
  if (schema) return JSON.stringify(toSchemaValue(schema, text))
  return wantsJson ? JSON.stringify({ answer: text, sources }) : text
}

/** Calls the tools whose names occur in the question. */
function callNamedTool(request: ChatRequest, text: string, seed: string): Part[] | undefined {
  const tools = request.tools.filter(({ name }) => text.includes(name))
  return tools.length > 0 ? useTools({ ...request, tools }, text, seed) : undefined
}

function think(text: string): Part[] {
  return toParts("reasoning", `The user said: ${text}. I will repeat it.`)
}

function useTools(request: ChatRequest, text: string, seed: string): Part[] | undefined {
  if (request.tools.length === 0 || toolResultText(request.messages) !== undefined) return undefined
  return toCalled(request).flatMap(({ name, parameters }, call): Part[] => [
    { type: "call", call, id: `call_${seed}_${call}`, name },
    ...toPieces(JSON.stringify(toSchemaValue(parameters, text))).map((piece): Part => {
      return { type: "arguments", call, text: piece }
    }),
  ])
}

/** The last line: some agents put a preamble before it. */
const COMMAND = /(?:^|[\n>])\$ (.+)$/s
const COMMAND_FIELDS = ["command", "cmd"]

/** Calls the first tool that takes a command, with only its required arguments. */
function runCommand(request: ChatRequest, text: string, seed: string): Part[] | undefined {
  const fieldOf = ({ parameters }: ToolFunction) =>
    COMMAND_FIELDS.find((field) => field in toRecord(toRecord(parameters).properties))
  const shell = request.tools.find((tool) => fieldOf(tool) !== undefined)
  const command = COMMAND.exec(text)?.[1]
  if (!shell || command === undefined || toolResultText(request.messages) !== undefined) return undefined
  const { required, properties } = toRecord(shell.parameters)
  const names = Array.isArray(required) ? required.map(String) : []
  const parameters = { type: "object", properties: pick(toRecord(properties), [fieldOf(shell) ?? "", ...names]) }
  const input = toRecord(toSchemaValue(parameters, command))
  return [
    { type: "call", call: 0, id: `call_${seed}_0`, name: shell.name },
    { type: "arguments", call: 0, text: JSON.stringify({ ...input, ...escalation(toRecord(properties)) }) },
  ]
}

/** Codex instructs models to request this for commands that need the network; Codex then prompts the user. */
function escalation({ sandbox_permissions: field }: Record<string, unknown>): Record<string, unknown> {
  const { enum: values } = toRecord(field)
  const isOffered = Array.isArray(values) && values.includes("require_escalated")
  return isOffered ? { sandbox_permissions: "require_escalated", justification: "The command needs the network." } : {}
}

function pick(properties: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name)))
}

function toCalled({ model, tools, parallelToolCalls }: ChatRequest): readonly ToolFunction[] {
  if (model === "tool-call" || !parallelToolCalls) return tools.slice(0, 1)
  return tools.length === 1 ? Array.from({ length: MAX_CALLS }, () => tools).flat() : tools.slice(0, MAX_CALLS)
}

function toolResultText(messages: readonly unknown[]): string | undefined {
  const last = messages.at(-1)
  return toRecord(last).role === "tool" ? `The tool answered: ${toText(last)}` : undefined
}

function toParts(type: "content" | "reasoning" | "refusal", text: string): Part[] {
  return toPieces(text).map((piece) => ({ type, text: piece }))
}

function toBeforeStop(text: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
  return text.slice(0, Math.min(text.length, ...ends))
}

function limit(parts: readonly Part[], maxTokens: number): readonly Part[] {
  let tokens = 0
  const end = parts.findIndex((part) => (part.type === "call" ? tokens >= maxTokens : ++tokens > maxTokens))
  return end < 0 ? parts : parts.slice(0, end)
}

function isInsidePair(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at))
}
