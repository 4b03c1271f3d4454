import { isArray, isObject } from "../../support/text/json.ts"

const CLIENT_TYPES = ["function", "custom", "namespace"]

/** A tool that the client runs. In the Messages format such a tool has no type. */
export function isClientTool(type: string | null | undefined): boolean {
  return type == null || CLIENT_TYPES.includes(type)
}

/** Only tools that a provider runs, in their positions. A tool of the client is a schema, whose values are examples. */
export function vendorToolsOf(tools: unknown): unknown {
  if (!isArray(tools)) return tools
  return tools.map((tool) =>
    isObject(tool) && typeof tool["type"] === "string" && !isClientTool(tool["type"]) ? tool : null,
  )
}
