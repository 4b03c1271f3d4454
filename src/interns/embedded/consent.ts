import { isObject, type Json, parseJson } from "../../support/json.ts"
import { HOME } from "./home.ts"
import { argumentsOf, type McpTool } from "./mcp-tools.ts"
import type { Turn } from "./memory.ts"
import type { ToolCall } from "./tools.ts"

/** What a permission is asked for. `operation`: also what a rule of the session is for. */
export type Consent = { operation: string; kind: "execute" | "other"; title: string; input: Json }

/** A tool call as it would run. `consent` is null where no permission is needed. */
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

/** Every tool of a server may have effects, and gets what the model sends to it. */
export function mcpConsent({ server, tool }: McpTool, call: ToolCall): Consent {
  const operation = `${server}/${tool}`
  const args = argumentsOf(call) ?? call.function.arguments
  return { operation, kind: "other", title: operation, input: { server, tool, arguments: args } }
}

/** Whether the permission of the turn is for this. A server may have replaced the tool since. */
export function isPermissionFor({ permission }: Turn, { id }: ToolCall, { operation }: Consent): boolean {
  return permission?.call === id && (permission.operation ?? "shell") === operation
}
