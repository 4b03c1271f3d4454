import { newFunctionName, textOfResult } from "../../mcp-servers/functions.ts"
import { isObject, type Json, parseJson } from "../../support/text/json.ts"
import { logWarning } from "../../support/log.ts"
import { serverOf } from "../../support/mcp-tools.ts"
import type { CallOptions, McpClient } from "./mcp-client.ts"
import { truncate } from "./shell/shell.ts"
import type { ToolCall } from "./tools.ts"
import { withTimeout } from "../../support/time/time.ts"

const MAX_TOOLS = 128
const LISTED_MS = 60_000
const LIST_TIMEOUT_MS = 20_000
const MAX_REASON = 500

export type McpTool = { server: string; tool: string; definition: Json }
/** `unavailable`: the note for the model on servers whose tools are missing. */
export type McpTools = { byName: ReadonlyMap<string, McpTool>; unavailable: string[] }

type McpToolboxDeps = {
  client: McpClient
  /** Tools that the intern may call now: `server/tool` or `server/*`. */
  permitted: () => Promise<readonly string[]>
  /** USD of a call from its generation. */
  costOf: (generation: string) => Promise<number>
  now: () => number
}

/** The tools of MCP servers that an intern may call, as functions of its model. */
export class McpToolbox {
  readonly #deps: McpToolboxDeps
  #listed: { at: number; key: string; tools: Promise<McpTools> } | undefined

  constructor(deps: McpToolboxDeps) {
    this.#deps = deps
  }

  /** Returns no tools if `signal` is aborted. */
  async tools(signal: AbortSignal): Promise<McpTools> {
    const permitted = await this.#deps.permitted()
    const key = JSON.stringify(permitted)
    const now = this.#deps.now()
    const isFresh = this.#listed?.key === key && this.#listed.at + LISTED_MS > now
    if (!isFresh) this.#listed = { at: now, key, tools: this.#list(permitted) }
    return Promise.race([this.#listed?.tools ?? NONE, noToolsOnAbort(signal)])
  }

  /** Shared by all turns, so that no single turn aborts it for the others. */
  async #list(permitted: readonly string[]): Promise<McpTools> {
    const servers = [...new Set(permitted.map(serverOf))]
    const unavailable: string[] = []
    const lists = await Promise.all(
      servers.map(async (server) => {
        const list = (signal: AbortSignal) => this.#deps.client.list(server, signal)
        try {
          return { server, tools: await withTimeout(LIST_TIMEOUT_MS, list) }
        } catch (cause) {
          const reason = cause instanceof Error ? cause.message.slice(0, MAX_REASON) : "It did not respond."
          logWarning("tools of an MCP server were not listed for an intern", { server, reason })
          unavailable.push(`The tools of the MCP server ${server} cannot be used now: ${reason}`)
          return { server, tools: [] }
        }
      }),
    )
    const takenNames = new Set<string>()
    const all = lists.flatMap(({ server, tools }) =>
      tools.map(({ name, description, parameters }) => {
        const tool = { name: newFunctionName(`${server}__${name}`, takenNames), description, parameters }
        return { server, tool: name, definition: { type: "function", function: tool }, name: tool.name }
      }),
    )
    if (all.length > MAX_TOOLS) unavailable.push(`Only ${MAX_TOOLS} of ${all.length} tools of MCP servers are offered.`)
    const offered = all.slice(0, MAX_TOOLS).map(({ name, ...tool }) => [name, tool] as const)
    return { byName: new Map(offered), unavailable }
  }

  async find({ function: { name } }: ToolCall, signal: AbortSignal): Promise<McpTool | undefined> {
    return (await this.tools(signal)).byName.get(name)
  }

  /** Failures are returned as text to the model. */
  async run({ server, tool }: McpTool, call: ToolCall, by: CallOptions): Promise<{ text: string; cost: number }> {
    const args = argumentsOf(call)
    if (!args) return { text: "The tool failed: its arguments must be a JSON object.", cost: 0 }
    try {
      const { result, generation } = await this.#deps.client.call(server, tool, args, by)
      const cost = generation === null ? 0 : await this.#deps.costOf(generation)
      const text = textOfResult(result)
      return { text: truncate(result["isError"] === true ? `The tool failed: ${text}` : text), cost }
    } catch (cause) {
      return { text: `The tool failed: ${cause instanceof Error ? cause.message.slice(0, MAX_REASON) : ""}`, cost: 0 }
    }
  }
}

const NONE: McpTools = { byName: new Map(), unavailable: [] }

function noToolsOnAbort(signal: AbortSignal): Promise<McpTools> {
  const { promise, resolve } = Promise.withResolvers<McpTools>()
  if (signal.aborted) resolve(NONE)
  signal.addEventListener("abort", () => resolve(NONE), { once: true })
  return promise
}

/** Undefined if the model did not send an object. */
export function argumentsOf({ function: { arguments: json } }: ToolCall): Json | undefined {
  const parsed = parseJson(json === "" ? "{}" : json)
  return isObject(parsed) ? parsed : undefined
}
