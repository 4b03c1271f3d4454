import { isObject, type Json } from "../../../support/text/json.ts"

/**
 * Parameters of a function without `type` or `properties`, as tools of MCP servers without arguments have them. OpenAI
 * rejects them. Returns the same object if nothing is missing.
 */
export function completeParameters(parameters: Json): Json {
  if ("properties" in parameters || "$ref" in parameters) return parameters
  const { type = "object" } = parameters
  const isCombined = ["anyOf", "allOf", "oneOf"].some((key) => key in parameters)
  return type !== "object" || isCombined ? parameters : { ...parameters, type, properties: {} }
}

/** The tools with complete parameters; the same list if nothing changes. */
export function completeTools(tools: readonly Json[]): readonly Json[] {
  const complete = tools.map((tool) => {
    const { function: fn } = tool
    if (!isObject(fn) || !isObject(fn["parameters"])) return tool
    const parameters = completeParameters(fn["parameters"])
    return parameters === fn["parameters"] ? tool : { ...tool, function: { ...fn, parameters } }
  })
  return complete.some((tool, at) => tool !== tools[at]) ? complete : tools
}
