import * as z from "zod"

/** A tool of a registered server in permissions: `server/tool`, or `server/*` for all tools of the server. */

/** Names with other characters cannot be called through the gateway. */
export const TOOL_NAME = /^[\x21-\x7e]{1,128}$/
const PATTERN = /^[a-z0-9][a-z0-9-]{0,62}\/[\x21-\x7e]{1,128}$/

export const McpServerSlug = z
  .string({ error: "must be a string" })
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "must be 1 to 63 lowercase letters, digits and hyphens")

const MAX_PATTERNS = 500

const patterns = z
  .array(
    z
      .string({ error: "must be a string" })
      .regex(PATTERN, "must be server/tool, or server/* for all tools of a server"),
    { error: "must be an array of tools such as search/query or search/*, or null" },
  )
  .max(MAX_PATTERNS, `must be at most ${MAX_PATTERNS}`)

const KEY_TOOLS = "Tools of MCP servers that the key may call: `server/tool` or `server/*`. Null: none."
const ALLOWED_TOOLS =
  "Tools of MCP servers, as `server/tool` or `server/*`, beyond which no key may call any. Null: all."

/** For keys. */
export const mcpToolsInput = patterns.nullish().meta({ description: KEY_TOOLS })
export const mcpToolsOutput = z.array(z.string()).nullable().meta({ description: KEY_TOOLS })
/** For guardrails. */
export const allowedMcpTools = patterns.nullish().meta({ description: ALLOWED_TOOLS })

export type ToolPatterns = readonly string[]

/** Case-sensitive: servers may have tools that differ only by case. */
export function includesTool(list: ToolPatterns, server: string, tool: string): boolean {
  return list.includes(`${server}/${tool}`) || includesServer(list, server)
}

/** Whether the list allows everything that a pattern allows. */
export function includesPattern(list: ToolPatterns, pattern: string): boolean {
  return list.includes(pattern) || includesServer(list, serverOf(pattern))
}

/** The patterns that both lists allow. */
export function commonTools(a: ToolPatterns, b: ToolPatterns): string[] {
  const common = [
    ...a.filter((pattern) => includesPattern(b, pattern)),
    ...b.filter((pattern) => includesPattern(a, pattern)),
  ]
  return [...new Set(common)]
}

export function serverOf(pattern: string): string {
  return pattern.slice(0, pattern.indexOf("/"))
}

/** Whether the list allows all tools of the server, not only some. */
export function includesServer(list: ToolPatterns, server: string): boolean {
  return list.includes(`${server}/*`)
}
