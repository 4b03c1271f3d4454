import { newHexId } from "../../support/ids.ts"
import { BASE_PATH } from "../../http/paths.ts"
import { FrameSplitter, dataOf, DONE } from "../../formats/sse/frames.ts"
import { type PartialChoice, mergeChoice } from "../../formats/chat/to-result.ts"
import { record } from "../run/acp/acp-values.ts"
import type { ToolCall } from "./tools.ts"

export type ModelMessage = { role: string; content: string | null; tool_calls?: ToolCall[]; tool_call_id?: string }
export type ModelRequest = { model: string | null; messages: readonly ModelMessage[]; tools: readonly unknown[] }

/** Tokens and USD of one call. */
export type CallUsage = { prompt: number; cached: number; completion: number; cost: number }

/** The charged usage of a call. */
export type CountedCall = { usage: CallUsage; model: string | null }

export type ModelResponse =
  | ({ is: "message"; message: ModelMessage } & CountedCall)
  /** `counted`: absent if nothing was charged or the stream ended without usage. */
  | { is: "failure"; status: number; message: string; counted?: CountedCall }

export type CallGateway = (request: Request) => Promise<Response>

type ModelStreamHandlers = {
  text: (text: string, model: string | null) => void
  thought: (text: string, model: string | null) => void
}

type ModelCall = {
  key: string
  request: ModelRequest
  signal: AbortSignal
  handlers: ModelStreamHandlers
}

/**
 * Calls the gateway's chat endpoint with the intern's key, through the same pipeline as every call: budgets,
 * guardrails, routing, charges.
 */
export async function callModel(
  callGateway: CallGateway,
  { key, request: { model, messages, tools }, signal, handlers }: ModelCall,
): Promise<ModelResponse> {
  const request = new Request(`https://gateway.internal${BASE_PATH}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-title": "Intern" },
    body: JSON.stringify({ ...(model !== null && { model }), messages, tools, stream: true, usage: { include: true } }),
    signal,
  })
  const response = await callGateway(request)
  if (!response.ok || !response.body) {
    const { error } = await response.json<{ error?: { message?: string } }>().catch(() => ({ error: undefined }))
    return {
      is: "failure",
      status: response.status,
      message: error?.message ?? `The gateway returned status ${response.status}.`,
    }
  }
  return readResponse(response.body, handlers, callIdsOf(messages))
}

function callIdsOf(messages: readonly ModelMessage[]): Set<string> {
  return new Set(messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id)))
}

/** USD of a recorded call; 0 while its record cannot be read. */
export async function readCost(callGateway: CallGateway, key: string, generation: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` }
  const url = `https://gateway.internal${BASE_PATH}/generation?id=${encodeURIComponent(generation)}`
  const response = await callGateway(new Request(url, { headers })).catch(() => undefined)
  const body: unknown = response?.ok === true ? await response.json().catch(() => undefined) : undefined
  return number(record(record(body)["data"])["total_cost"])
}

/** `callIds`: ids of earlier calls. */
async function readResponse(
  body: ReadableStream<Uint8Array>,
  handlers: ModelStreamHandlers,
  callIds: Set<string>,
): Promise<ModelResponse> {
  const splitter = new FrameSplitter()
  const choices = new Map<number, PartialChoice>()
  const usage: CallUsage = { prompt: 0, cached: 0, completion: 0, cost: 0 }
  let model: string | null = null
  for await (const bytes of body) {
    for (const frame of splitter.push(bytes)) {
      const data = dataOf(frame)
      if (data === undefined || data === DONE) continue
      const chunk = record(JSON.parse(data))
      if (typeof chunk["model"] === "string") model = chunk["model"]
      if (chunk["usage"]) readUsage(usage, record(chunk["usage"]))
      const { code, message } = record(chunk["error"])
      if (typeof message === "string") {
        const status = typeof code === "number" ? code : 502
        return { is: "failure", status, message, ...(chunk["usage"] ? { counted: { usage, model } } : {}) }
      }
      const [choice] = Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : []
      if (choice === undefined) continue
      const delta = record(record(choice)["delta"])
      if (typeof delta["content"] === "string" && delta["content"] !== "") handlers.text(delta["content"], model)
      if (typeof delta["reasoning"] === "string" && delta["reasoning"] !== "")
        handlers.thought(delta["reasoning"], model)
      mergeChoice(choices, { index: 0, ...record(choice) })
    }
  }
  const message = toMessage(choices.get(0)?.choice.message ?? {}, callIds)
  return { is: "message", message, usage, model }
}

/** Some models repeat ids. A call is found by its id, and providers reject a conversation in which two are equal. */
function toMessage(spoken: Record<string, unknown>, callIds: Set<string>): ModelMessage {
  const calls = Array.isArray(spoken["tool_calls"]) ? (spoken["tool_calls"] as ToolCall[]) : []
  const toolCalls = calls.map((call) => {
    const { name, arguments: json } = call.function
    const id = call.id === "" || callIds.has(call.id) ? `call_${newHexId()}` : call.id
    callIds.add(id)
    return { id, type: "function", function: { name, arguments: json } }
  })
  const content = typeof spoken["content"] === "string" ? spoken["content"] : null
  return { role: "assistant", content, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) }
}

function readUsage(usage: CallUsage, result: Record<string, unknown>): void {
  usage.prompt = number(result["prompt_tokens"])
  usage.completion = number(result["completion_tokens"])
  usage.cached = number(record(result["prompt_tokens_details"])["cached_tokens"])
  usage.cost = number(result["cost"])
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0
}
