import { isObject, type Json, parseJson } from "../../support/text/json.ts"
import { HOME } from "./home.ts"
import { argumentsOf, type McpTool } from "./mcp-tools.ts"
import type { Turn } from "./memory.ts"
import type { ToolCall } from "./tools.ts"

/** The subject of a permission request. `operation` is also the key of session rules. */
export type Consent = { operation: string; kind: "execute" | "other"; title: string; input: Json }

/** A prepared tool call. `consent` is null if no permission is needed. */
export type ResolvedCall = {
  consent: Consent | null
  /** `cost`: USD. */
  run: (signal: AbortSignal) => Promise<{ text: string; cost: number }>
}

export const PERMISSION_OPTIONS = [
  { optionId: "once", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Allow in this session", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Reject in this session", kind: "reject_always" },
]

const MAX_TITLE = 200

export function shellConsent({ function: { name, arguments: json } }: ToolCall): Consent {
  const input = parseJson(json)
  const title = `${name} ${json}`.slice(0, MAX_TITLE)
  return { operation: name, kind: "execute", title, input: isObject(input) ? { cwd: HOME, ...input } : {} }
}

/** Every tool of an MCP server needs permission, since it may have effects and receives data from the model. */
export function mcpConsent({ server, tool }: McpTool, call: ToolCall): Consent {
  const operation = `${server}/${tool}`
  const args = argumentsOf(call) ?? call.function.arguments
  return { operation, kind: "other", title: operation, input: { server, tool, arguments: args } }
}

/** Whether the permission of the turn is for this call. A server may have replaced the tool since. */
export function isPermissionFor({ permission }: Turn, { id }: ToolCall, { operation }: Consent): boolean {
  return permission?.call === id && (permission.operation ?? "shell") === operation
}
