import * as z from "zod"
import type { Json } from "../support/text/json.ts"
import { parseAt, rejectAt } from "./parse-at.ts"
import type { RequestedTool } from "./tool.ts"

/** A registered MCP server whose tools a request offers to the model. */
export type McpServerChoice = {
  /** Slug of the server's record. */
  server: string
  /** Tools that the key may call; null for all. */
  allowedTools: readonly string[] | null
}

/** Tools of MCP servers, each with an open session. `close` ends the sessions. */
export type OpenMcpTools = { tools: RequestedTool[]; close: () => void }

/** Opens sessions with servers. `takenNames`: function names already in the request; new ones are added. */
export type OpenMcp = (choices: readonly McpServerChoice[], takenNames: Set<string>) => Promise<OpenMcpTools>

const NEVER = 'accepts "never": the gateway runs the tools that the key may call without asking'
const toolNames = z.array(z.string({ error: "must be a string" }), { error: "must be an array of names of tools" })

/** The shape that OpenAI's clients send. A server is a record of the workspace, never an address from the request. */
const McpTool = z.object({
  server_label: z
    .string({ error: "must be the slug of an MCP server, as GET /mcp-servers lists them" })
    .min(1, "must be the slug of an MCP server, as GET /mcp-servers lists them"),
  allowed_tools: z
    .union([toolNames, z.object({ tool_names: toolNames }).transform(({ tool_names }) => tool_names)])
    .nullish(),
  require_approval: z.literal("never", { error: NEVER }).nullish(),
})

/** Whether the gateway runs the tools of this server. A server with an address is run by the provider of the call. */
export function isRegisteredMcp({ type, server_url: url, connector_id: connector }: Json): boolean {
  return type === "mcp" && url == null && connector == null
}

/** Each opens a session before the first call of a model. */
const MAX_SERVERS = 16

/** Separates the registered MCP servers from the other tools of a request. */
export function readMcpChoices<T extends Json>(
  tools: readonly T[] | null | undefined,
): { choices: McpServerChoice[]; others: T[] } {
  const all = tools ?? []
  const choices: McpServerChoice[] = []
  for (const [index, tool] of all.entries()) {
    if (!isRegisteredMcp(tool)) continue
    const { server_label: server, allowed_tools: allowedTools = null } = parseAt(McpTool, tool, ["tools", index])
    if (choices.some((choice) => choice.server === server)) {
      throw rejectAt(`tools[${index}].server_label`, `${server} is named twice. Name it once, with all of its tools`)
    }
    if (choices.length === MAX_SERVERS)
      throw rejectAt(`tools[${index}]`, `at most ${MAX_SERVERS} MCP servers are allowed`)
    choices.push({ server, allowedTools })
  }
  return { choices, others: all.filter((tool) => !isRegisteredMcp(tool)) }
}
