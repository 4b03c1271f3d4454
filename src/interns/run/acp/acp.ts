import type { Json } from "../../../support/text/json.ts"
import { list, record, text } from "./acp-values.ts"
import { type FieldDescriptor, fieldsOf } from "../form.ts"
import { type PermissionDetails, permissionDetails } from "../permission-details.ts"

/**
 * The part of the Agent Client Protocol, version 1, that a run needs: JSON-RPC 2.0 messages and their content. Agents
 * differ in what they send, so parsing is lenient. https://agentclientprotocol.com/protocol/overview
 */

export type RpcId = number | string

export type AcpMessage = {
  jsonrpc: "2.0"
  id?: RpcId
  method?: string
  params?: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

export const PERMISSION_KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"] as const
export type PermissionKind = (typeof PERMISSION_KINDS)[number]

export type PermissionOption = { id: string; kind: PermissionKind }

/** Usage of one model within a turn. `cost` in USD. */
export type ModelUsage = {
  model: string
  calls: number
  prompt_tokens: number
  completion_tokens: number
  cached_tokens?: number
  cost: number
}

/** Token usage of a turn in the field names of the API. `cost` in USD. */
export type TurnUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details?: { cached_tokens: number }
  cost?: number
  /** Present if the gateway recorded the calls. */
  by_model?: ModelUsage[]
}

/** Update of a tool call; missing values are null. `details`: its operation, as reported by the agent. */
export type ToolEvent = {
  is: "tool"
  acp: string
  id: string
  title: string | null
  status: string | null
  details: PermissionDetails
}

/** An ACP message as a run sees it. */
export type AcpEvent =
  | { is: "text" | "thought"; acp: string; text: string; model: string | null }
  | { is: "cost"; acp: string; usd: number }
  | ToolEvent
  | {
      is: "permission"
      acp: string
      rpc: RpcId
      operation: string | null
      options: PermissionOption[]
      details: PermissionDetails
    }
  | { is: "elicitation"; acp: string; rpc: RpcId; message: string; fields: FieldDescriptor[] }
  | { is: "result"; rpc: RpcId; result: Json }
  | { is: "failure"; rpc: RpcId; code: number; message: string; status: number | null; usage: TurnUsage | null }
  | { is: "request"; rpc: RpcId; method: string }
  | { is: "silent" }

const SILENT: AcpEvent = { is: "silent" }

export function parseAcp(message: AcpMessage): AcpEvent {
  const { id, method } = message
  if (method === undefined) return id === undefined ? SILENT : parseResponse(id, message)
  const params = record(message.params)
  const acp = text(params["sessionId"]) ?? ""
  if (method === "session/update") return parseUpdate(acp, record(params["update"]))
  if (id === undefined) return SILENT
  if (method === "session/request_permission") return parsePermission(id, acp, params)
  if (method === "elicitation/create") return parseElicitation(id, acp, params)
  return { is: "request", rpc: id, method }
}

function parseResponse(rpc: RpcId, { result, error }: AcpMessage): AcpEvent {
  if (error == null) return { is: "result", rpc, result: record(result) }
  const data = record(error.data)
  const texts = [
    text(error.message) ?? "The agent gave no reason.",
    text(data["details"]),
    text(data["message"]),
  ].filter((part) => part !== undefined)
  const status = data["status"]
  return {
    is: "failure",
    rpc,
    code: typeof error.code === "number" ? error.code : 0,
    message: texts.join(": "),
    status: isFailureStatus(status) ? status : null,
    usage: usageOf(data),
  }
}

/** Clients only accept HTTP error statuses, whatever number the agent sends. */
function isFailureStatus(status: unknown): status is number {
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 600
}

function parseUpdate(acp: string, update: Json): AcpEvent {
  const kind = update["sessionUpdate"]
  if (kind === "agent_message_chunk" || kind === "agent_thought_chunk") {
    const content = record(update["content"])
    const chunk = content["type"] === "text" ? text(content["text"]) : undefined
    // Some agents send empty text to transport other data.
    if (chunk === undefined || chunk === "") return SILENT
    const model = text(record(update["_meta"])["model"]) ?? null
    return { is: kind === "agent_message_chunk" ? "text" : "thought", acp, text: chunk, model }
  }
  if (kind === "tool_call" || kind === "tool_call_update") return parseToolCall(acp, update)
  if (kind === "usage_update") {
    const { amount, currency } = record(update["cost"])
    return typeof amount === "number" && currency === "USD" ? { is: "cost", acp, usd: amount } : SILENT
  }
  return SILENT
}

/** Parses an update with a title, a status or an input. Output of a call is ignored. */
function parseToolCall(acp: string, update: Json): AcpEvent {
  const [id, title, status] = [text(update["toolCallId"]), text(update["title"]), text(update["status"])]
  if (id === undefined) return SILENT
  const details = permissionDetails(update, title ?? null, { isCommandInTitle: false })
  if (title === undefined && status === undefined && Object.keys(details).length === 0) return SILENT
  return { is: "tool", acp, id, title: title?.slice(0, MAX_TITLE_LENGTH) ?? null, status: status ?? null, details }
}

const MAX_TITLE_LENGTH = 200

function parsePermission(rpc: RpcId, acp: string, params: Json): AcpEvent {
  const call = record(params["toolCall"])
  const operation = text(call["name"]) ?? text(call["title"]) ?? null
  const options = list(params["options"]).flatMap((option): PermissionOption[] => {
    const { optionId, kind } = record(option)
    const kindName = PERMISSION_KINDS.find((name) => name === kind)
    return kindName && typeof optionId === "string" ? [{ id: optionId, kind: kindName }] : []
  })
  const details = permissionDetails(call, operation, { cwd: text(record(params["_meta"])["cwd"]) })
  return { is: "permission", acp, rpc, operation, options, details }
}

function parseElicitation(rpc: RpcId, acp: string, params: Json): AcpEvent {
  const fields = fieldsOf(record(params["requestedSchema"]))
  return { is: "elicitation", acp, rpc, message: text(params["message"]) ?? "", fields }
}

/** Response to an agent request that belongs to no open run. */
export function replyToUnknownRequest(news: AcpEvent): Omit<AcpMessage, "jsonrpc"> | undefined {
  switch (news.is) {
    case "permission":
      return { id: news.rpc, result: { outcome: { outcome: "cancelled" } } }
    case "elicitation":
      return { id: news.rpc, result: { action: "cancel" } }
    case "request":
      return { id: news.rpc, error: { code: -32_601, message: `${news.method} is not served here.` } }
    default:
      return undefined
  }
}

/**
 * Usage from the result of a turn: an unstable part of the protocol that most agents send. Agents exclude cached tokens
 * from "input"; this API includes them in the prompt tokens.
 */
export function usageOf(result: Json): TurnUsage | null {
  const usage = record(result["usage"] ?? record(result["_meta"])["usage"])
  const input = count(usage["inputTokens"])
  const completion = count(usage["outputTokens"])
  if (input === undefined && completion === undefined) return null
  const cached = count(usage["cachedReadTokens"]) ?? 0
  const prompt = (input ?? 0) + cached + (count(usage["cachedWriteTokens"]) ?? 0)
  const { cost, by_model: models } = record(result["_meta"])
  return {
    prompt_tokens: prompt,
    completion_tokens: completion ?? 0,
    total_tokens: prompt + (completion ?? 0),
    ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(typeof cost === "number" && Number.isFinite(cost) && { cost }),
    ...(models !== undefined && { by_model: list(models).flatMap(modelUsageOf) }),
  }
}

function modelUsageOf(value: unknown): ModelUsage[] {
  const usage = record(value)
  const [model, calls, cost] = [text(usage["model"]), count(usage["calls"]), usage["cost"]]
  if (model === undefined || calls === undefined || typeof cost !== "number") return []
  const cached = count(usage["cached_tokens"]) ?? 0
  return [
    {
      model,
      calls,
      prompt_tokens: count(usage["prompt_tokens"]) ?? 0,
      completion_tokens: count(usage["completion_tokens"]) ?? 0,
      ...(cached > 0 && { cached_tokens: cached }),
      cost,
    },
  ]
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
