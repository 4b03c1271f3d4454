import { GatewayError } from "../../errors/errors.ts"
import type { Json } from "../../support/text/json.ts"
import { replacedNames, toChatName } from "../tools/tool-aliases.ts"
import { toJsonSchema } from "./json-schema.ts"
import type { GeminiRequest, GeminiTool } from "./schemas.ts"
import { withoutNulls } from "../../support/text/json.ts"

/** Google's search and URL tools become the gateway's, which work with every model. */
const SERVER_TOOLS: Readonly<Record<string, string>> = {
  googleSearch: "service:web_search",
  googleSearchRetrieval: "service:web_search",
  urlContext: "service:web_fetch",
}

/** The `tools` and `tool_choice` of the chat format. */
export function toToolFields({ tools, toolConfig }: Pick<GeminiRequest, "tools" | "toolConfig">): Json {
  const { mode, allowedFunctionNames: allowed } = toolConfig?.functionCallingConfig ?? {}
  const converted = (tools ?? []).flatMap(toTools)
  const isRestricted = mode === "ANY" && allowed != null && allowed.length > 0
  const offered = isRestricted ? converted.filter((tool) => isAllowed(tool, allowed)) : converted
  if (offered.length === 0) return {}
  const [only] = isRestricted && allowed.length === 1 ? allowed : []
  return { tools: offered, ...withoutNulls({ tool_choice: toToolChoice(mode, only) }) }
}

/** Names of functions that the chat format does not allow, by their replacement. */
export function replacedFunctionNames({ tools }: Pick<GeminiRequest, "tools">): ReadonlyMap<string, string> {
  return replacedNames((tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)))
}

type Mode = NonNullable<NonNullable<GeminiRequest["toolConfig"]>["functionCallingConfig"]>["mode"]

function toToolChoice(mode: Mode, only: string | undefined): unknown {
  if (only !== undefined) return { type: "function", function: { name: toChatName(only) } }
  if (mode === "ANY") return "required"
  if (mode === "NONE") return "none"
  return mode === "AUTO" || mode === "VALIDATED" ? "auto" : undefined
}

function isAllowed(tool: Json, names: readonly string[]): boolean {
  const { function: fn } = tool as { function?: { name: string } }
  return fn === undefined || names.some((name) => toChatName(name) === fn.name)
}

function toTools(tool: GeminiTool, at: number): Json[] {
  const kinds = Object.entries(tool).filter(([name, value]) => value != null && name !== "functionDeclarations")
  const serverTools = kinds.map(([name]) => {
    const type = SERVER_TOOLS[name]
    if (type !== undefined) return { type }
    const accepted = ["functionDeclarations", ...Object.keys(SERVER_TOOLS)].join(", ")
    throw new GatewayError(
      "invalid_request",
      `tools[${at}].${name}: is not available on this gateway: use ${accepted}.`,
    )
  })
  return [...(tool.functionDeclarations ?? []).map(toFunction), ...serverTools]
}

type Declaration = NonNullable<GeminiTool["functionDeclarations"]>[number]

function toFunction({ name, description, parameters, parametersJsonSchema }: Declaration): Json {
  const schema = parametersJsonSchema ?? (parameters ? toJsonSchema(parameters) : { type: "object", properties: {} })
  return { type: "function", function: withoutNulls({ name: toChatName(name), description, parameters: schema }) }
}
