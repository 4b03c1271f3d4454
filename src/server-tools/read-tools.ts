import { isObject, type Json, withoutNulls } from "../support/text/json.ts"
import { GatewayError } from "../errors/errors.ts"
import { datetime, DatetimeConfig } from "./datetime.ts"
import { parseAt } from "./parse-at.ts"
import type { RequestedTool, ServerTool, ToolKind, ToolSettings } from "./tool.ts"
import { requireSearch, webSearchConfig } from "./web-search/config.ts"
import { webSearch } from "./web-search/web-search.ts"
import { webFetch, WebFetchConfig } from "./web-fetch/web-fetch.ts"

type Tool = Json & { type: string }

type NamedKind = Exclude<ToolKind, "mcp">
export const AVAILABLE_TOOLS: readonly NamedKind[] = ["datetime", "web_fetch", "web_search"]

/** Tools that the client runs. */
const CLIENT_TYPES = ["function", "custom"]
const PREFIXED = /^(?:service|openrouter):(.+)$/
const SEARCH_SHORTHANDS = ["web_search", "web_search_preview", "web_search_preview_2025_03_11", "web_search_2025_08_26"]
/** The Messages format has dates in its tool types: web_search_20250305, web_fetch_20250910. */
const DATED = /^(web_search|web_fetch)_\d{8}$/
const MAX_SERVER_TOOLS = 16

/** Splits the tools of a request into client tools and server tools. Accepts functions of chat and Responses. */
export function readServerTools<T extends Tool>(
  tools: readonly T[] | null | undefined,
  settings: ToolSettings,
): { serverTools: RequestedTool[]; clientTools: T[] } {
  const clientTools = (tools ?? []).filter(({ type }) => CLIENT_TYPES.includes(type))
  const takenNames = new Set(clientTools.map(nameOf))
  const serverTools: RequestedTool[] = []
  for (const [index, tool] of (tools ?? []).entries()) {
    if (CLIENT_TYPES.includes(tool.type)) continue
    if (serverTools.length === MAX_SERVER_TOOLS) {
      throw new GatewayError(
        "invalid_request",
        `tools[${index}]: at most ${MAX_SERVER_TOOLS} server tools are allowed.`,
      )
    }
    serverTools.push(readOne(tool, index, takenNames, settings))
  }
  return { serverTools, clientTools }
}

/** The server tool that a `tool_choice` of this type names. */
export function toolOfType(serverTools: readonly RequestedTool[], type: string): RequestedTool | undefined {
  const kind = kindOf(type)
  return serverTools.find((tool) => tool.type === type) ?? serverTools.find((tool) => tool.kind === kind)
}

/** The server tool of this tool type, whether or not it is available; undefined for any other type. */
export function serverToolName(type: string): string | undefined {
  if (SEARCH_SHORTHANDS.includes(type)) return "web_search"
  return PREFIXED.exec(type)?.[1] ?? DATED.exec(type)?.[1]
}

function readOne(tool: Tool, index: number, takenNames: Set<string>, settings: ToolSettings): RequestedTool {
  const { type } = tool
  const kind = kindOf(type)
  if (!kind) throw unsupportedTool(type, index)
  const nested = tool["parameters"] != null
  const value = nested ? tool["parameters"] : PREFIXED.test(type) ? {} : withoutNulls(tool)
  const path = nested || PREFIXED.test(type) ? ["tools", index, "parameters"] : ["tools", index]
  const request = { type, name: newName(kind, takenNames) }
  switch (kind) {
    case "datetime":
      return toRequested(datetime, parseAt(DatetimeConfig, value, path), request)
    case "web_fetch": {
      const config = parseAt(WebFetchConfig, value, path)
      return toRequested(webFetch, config, request, config.maxUses)
    }
    case "web_search": {
      const search = requireSearch(settings.webSearch, `tools[${index}].type`, type)
      const config = parseAt(webSearchConfig(search), value, path)
      return toRequested(webSearch, config, request, config.maxUses)
    }
  }
}

/** Adds a tool that was requested in another way, such as by a plugin. `takenNames`: names of the client's functions. */
export function requestWebFetch(config: WebFetchConfig, takenNames: Set<string>): RequestedTool {
  const request = { type: "openrouter:web_fetch", name: newName("web_fetch", takenNames) }
  return toRequested(webFetch, config, request, config.maxUses)
}

function toRequested<Config>(
  tool: ServerTool<Config>,
  config: Config,
  { type, name }: { type: string; name: string },
  maxUses?: number,
): RequestedTool {
  const itemType = itemTypeOf(type, tool.kind)
  return {
    kind: tool.kind,
    type,
    itemType,
    failedStatus: itemType === "web_search_call" ? "failed" : "incomplete",
    definition: { name, ...tool.definition(config) },
    maxUses,
    run: (args, deps, tally) => tool.run(args, config, deps, tally),
  }
}

function kindOf(type: string): NamedKind | undefined {
  // Without a prefix and a date, only the shorthands name server tools.
  const name = serverToolName(type)
  return AVAILABLE_TOOLS.find((kind) => kind === name)
}

function itemTypeOf(type: string, kind: ToolKind): string {
  if (PREFIXED.test(type)) return type
  return kind === "web_search" ? "web_search_call" : `openrouter:${kind}`
}

function unsupportedTool(type: string, index: number): GatewayError {
  const has =
    type === "mcp"
      ? "register the server with POST /mcp-servers and name it in server_label, without server_url"
      : "it has datetime, web_fetch and web_search, each after openrouter: or service:"
  const shortType = type.slice(0, 100)
  return new GatewayError(
    "invalid_request",
    `tools[${index}].type: ${shortType} is not available on this gateway; ${has}.`,
  )
}

function nameOf(tool: Json): string {
  const inner = tool["function"] ?? tool["custom"]
  const name = tool["name"] ?? (isObject(inner) ? inner["name"] : undefined)
  return typeof name === "string" ? name : ""
}

/** The tool's name, or a variant of it if the client has a function with this name. */
function newName(kind: ToolKind, takenNames: Set<string>): string {
  let name: string = kind
  for (let number = 1; takenNames.has(name); number++) name = `gateway_${kind}${number === 1 ? "" : `_${number}`}`
  takenNames.add(name)
  return name
}
