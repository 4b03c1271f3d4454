import { isConfinedToRegions } from "../guardrails/applied.ts"
import type { Caller } from "../policy/call-policy.ts"
import { includesServer, includesTool, type ToolPatterns } from "../support/mcp-tools.ts"
import type { McpServerRow } from "./table.ts"

/**
 * MCP permissions of a key: none by default. Its own `mcp_tools` and every guardrail with `allowed_mcp_tools` must name
 * a tool, and `allowed_tools` of the server must include it.
 */

type Named = Pick<McpServerRow, "slug" | "allowedTools">
type Rights = Pick<Caller, "mcpTools" | "guardrails">

function listsOf({ mcpTools, guardrails }: Rights): ToolPatterns[] {
  const narrowing = guardrails?.list.flatMap(({ rules }) => (rules.allowed_mcp_tools ? [rules.allowed_mcp_tools] : []))
  return [mcpTools ?? [], ...(narrowing ?? [])]
}

export function mayCallTool(rights: Rights, { slug, allowedTools }: Named, tool: string): boolean {
  if (isConfinedToRegions(rights.guardrails) || (allowedTools !== null && !allowedTools.includes(tool))) return false
  return listsOf(rights).every((list) => includesTool(list, slug, tool))
}

/** Resources and prompts are only for keys that may use every tool of a server. */
export function mayUseAll(rights: Rights, { slug }: Named): boolean {
  return !isConfinedToRegions(rights.guardrails) && listsOf(rights).every((list) => includesServer(list, slug))
}

/** Whether a key may use any tool of the server. */
export function mayConnect(rights: Rights, { slug }: Named): boolean {
  const isNamed = (list: ToolPatterns) => list.some((pattern) => pattern.startsWith(`${slug}/`))
  return !isConfinedToRegions(rights.guardrails) && listsOf(rights).every(isNamed)
}
