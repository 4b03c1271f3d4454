import { GatewayError } from "../../errors/errors.ts"
import type { Json } from "../../support/text/json.ts"
import { toChatName } from "../tools/tool-aliases.ts"
import { addFields } from "../responses/call-fields.ts"
import type { ReasoningDetail } from "../reasoning-detail.ts"
import { joinTextParts, toContentParts, simplest } from "./parts.ts"
import type { GeminiContent, GeminiPart, GeminiRequest } from "./schemas.ts"
import { readSignature } from "./signatures.ts"

/** Converts `systemInstruction` and `contents` to chat messages. */
export function toMessages({
  systemInstruction,
  contents,
}: Pick<GeminiRequest, "systemInstruction" | "contents">): Json[] {
  const instructions = (systemInstruction?.parts ?? []).flatMap((part, at) =>
    toContentParts(part, `systemInstruction.parts[${at}]`),
  )
  const calls = new OpenCalls()
  const messages = instructions.length === 0 ? [] : [{ role: "system", content: joinTextParts(instructions, "\n\n") }]
  return [...messages, ...turnsOf(contents).flatMap((turn) => toTurn(turn, calls))]
}

type Located = { part: GeminiPart; path: string }
type Turn = { isModel: boolean; parts: Located[] }

/** Clients that stream keep each chunk as a content, so contents of the model in a row are one turn. */
function turnsOf(contents: readonly GeminiContent[]): Turn[] {
  const turns: Turn[] = []
  contents.forEach(({ role, parts }, at) => {
    const isModel = role === "model"
    const located = (parts ?? []).map((part, index) => ({ part, path: `contents[${at}].parts[${index}]` }))
    const last = turns.at(-1)
    if (isModel && last?.isModel) last.parts.push(...located)
    else turns.push({ isModel, parts: located })
  })
  return turns
}

function toTurn({ isModel, parts }: Turn, calls: OpenCalls): Json[] {
  if (isModel) return [toAssistantMessage(parts, calls)]
  const results: Json[] = []
  const content: Json[] = []
  for (const { part, path } of parts) {
    if (part.functionCall) throw misplacedFieldError(path, "functionCall", "model")
    if (part.functionResponse) results.push(toToolMessage(part.functionResponse, path, calls))
    else content.push(...toContentParts(part, path))
  }
  if (content.length === 0 && results.length > 0) return results
  return [...results, { role: "user", content: simplest(content) }]
}

function toAssistantMessage(parts: readonly Located[], calls: OpenCalls): Json {
  const details: ReasoningDetail[] = []
  const content: Json[] = []
  const toolCalls: Json[] = []
  for (const { part, path } of parts) {
    const { functionCall, thoughtSignature } = part
    if (part.functionResponse) throw misplacedFieldError(path, "functionResponse", "user")
    const signed = thoughtSignature ? readSignature(thoughtSignature) : undefined
    details.push(...(signed?.details ?? []))
    if (!functionCall) {
      content.push(...toContentParts(part, path))
      continue
    }
    const { id, name, args } = functionCall
    const fn = { name: toChatName(name), arguments: JSON.stringify(args ?? {}) }
    const call: Json = { id: calls.open(name, id), type: "function", function: fn }
    addFields(call, signed?.callFields)
    toolCalls.push(call)
  }
  return {
    role: "assistant",
    content: content.length > 0 || toolCalls.length === 0 ? joinTextParts(content) : null,
    ...(details.length > 0 && { reasoning_details: details.map((detail, index) => ({ ...detail, index })) }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  }
}

type FunctionResponse = NonNullable<GeminiPart["functionResponse"]>

function toToolMessage({ id, name, response, parts }: FunctionResponse, path: string, calls: OpenCalls): Json {
  const callId = calls.close(name, id)
  if (callId === undefined) {
    const rule = `answers no functionCall ${name} of the turns before it`
    throw new GatewayError("invalid_request", `${path}.functionResponse: ${rule}.`)
  }
  const text = { type: "text", text: JSON.stringify(response ?? {}) }
  const media = (parts ?? []).flatMap((part, at) => toContentParts(part, `${path}.functionResponse.parts[${at}]`))
  return { role: "tool", tool_call_id: callId, content: simplest([text, ...media]) }
}

/** The calls without a response so far. The API has ids of calls only optionally; without one, the name decides. */
class OpenCalls {
  readonly #open: { id: string; name: string }[] = []
  #count = 0

  open(name: string, id: string | null | undefined): string {
    const call = { id: id || `call_${this.#count}`, name }
    this.#count += 1
    this.#open.push(call)
    return call.id
  }

  /** The id of the call that a response answers. */
  close(name: string, id: string | null | undefined): string | undefined {
    const byId = id ? this.#open.findIndex((call) => call.id === id) : -1
    const at = byId === -1 ? this.#open.findIndex((call) => call.name === name) : byId
    const [call] = at === -1 ? [] : this.#open.splice(at, 1)
    return call?.id
  }
}

function misplacedFieldError(path: string, field: string, role: string): GatewayError {
  return new GatewayError("invalid_request", `${path}.${field}: must be in a content with the role ${role}.`)
}
