import { isArray, isObject, type Json, withoutNulls } from "../../../support/text/json.ts"
import type { ChatRequest } from "../../schemas.ts"
import { invalidField, toCacheControl } from "./content.ts"

/** Converts tools and the tool choice to the Messages format. */

/** Server tools of the Messages API have a name with the date of their version: `web_search_20250305`. */
const VERSIONED_TOOL = /_\d{8}$/

export function toTools(request: ChatRequest): Json {
  const allowed = allowedNamesIn(request.tool_choice)
  const tools = (request.tools ?? [])
    .map((tool, at) => toTool(tool, `tools[${at}]`))
    .filter(({ name }) => allowed === null || allowed.includes(name))
  const choice = toToolChoice(request, tools)
  // The API rejects a tool choice without tools.
  return tools.length === 0 ? {} : { tools, ...(choice && { tool_choice: choice }) }
}

function toTool(tool: Json, path: string): Json {
  const { type, function: fn } = tool
  if (isObject(fn)) {
    const { name, description, parameters, strict } = fn
    const schema = isObject(parameters) ? parameters : {}
    return {
      ...withoutNulls({ name, description, strict }),
      input_schema: { type: "object", ...schema },
      ...toCacheControl(tool, undefined),
    }
  }
  if (typeof type === "string" && VERSIONED_TOOL.test(type)) return tool
  throw invalidField(`${path}.type`, `${String(type)} is not supported by this provider; use function`)
}

/** The names that `allowed_tools` allows; null for any other choice. */
function allowedNamesIn(choice: unknown): unknown[] | null {
  if (!isObject(choice) || choice["type"] !== "allowed_tools") return null
  const { tools } = isObject(choice["allowed_tools"]) ? choice["allowed_tools"] : {}
  return isArray(tools) ? tools.map(nameOf) : null
}

function nameOf(tool: unknown): unknown {
  if (!isObject(tool)) return undefined
  return isObject(tool["function"]) ? tool["function"]["name"] : tool["name"]
}

function toToolChoice(request: ChatRequest, tools: readonly Json[]): Json | undefined {
  const { tool_choice: choice, parallel_tool_calls: parallel } = request
  const oneAtATime = parallel === false ? { disable_parallel_tool_use: true } : {}
  if (choice == null) return parallel === false ? { type: "auto", ...oneAtATime } : undefined
  if (choice === "none") return { type: "none" }
  if (choice === "auto") return { type: "auto", ...oneAtATime }
  if (choice === "required") return { type: "any", ...oneAtATime }
  const toolChoice: Json = choice
  if (toolChoice["type"] === "allowed_tools") {
    const isRequired = isObject(toolChoice["allowed_tools"]) && toolChoice["allowed_tools"]["mode"] === "required"
    return { type: isRequired ? "any" : "auto", ...oneAtATime }
  }
  const name = nameOf(toolChoice) ?? tools.find(({ type }) => type === toolChoice["type"])?.["name"]
  if (typeof name === "string") return { type: "tool", name, ...oneAtATime }
  throw invalidField("tool_choice", "must be none, auto, required or an object that names one of the tools")
}

/** Whether the choice forces a tool call, which the API does not allow together with a thinking budget. */
export function isForced(choice: unknown): boolean {
  return isObject(choice) && (choice["type"] === "any" || choice["type"] === "tool")
}
