import type { PresetConfig } from "../../presets/config.ts"
import { isObject, type Json, objectsOf, withoutNulls } from "../../support/text/json.ts"
import type { ResponsesRequest } from "../../formats/responses/schemas.ts"

/** Fields of a preset that the Responses format does not have. */
const UNKNOWN_HERE = ["max_tokens", "response_format", "top_a", "min_p", "repetition_penalty", "seed", "stop"]

/** A preset in the Responses format. */
export function presetFields(config: PresetConfig): Json {
  const { max_tokens: limit, response_format: format, tools, tool_choice: choice } = config
  const shared: Json = { ...config }
  for (const name of UNKNOWN_HERE) delete shared[name]
  return withoutNulls({
    ...shared,
    max_output_tokens: limit,
    text: toText(format),
    tools: tools?.map(toTool),
    tool_choice: toChoice(choice),
  })
}

export function prependInstructions(request: ResponsesRequest, prompt: string): ResponsesRequest {
  const { instructions } = request
  return { ...request, instructions: instructions ? `${prompt}\n\n${instructions}` : prompt }
}

function toText(format: PresetConfig["response_format"]): Json | undefined {
  if (format?.type === "json_object") return { format }
  return format?.type === "json_schema" ? { format: { type: "json_schema", ...format.json_schema } } : undefined
}

/** Flattens `function` into its tool. */
function toTool(tool: Json): Json {
  const { function: fn, ...rest } = tool
  return isObject(fn) ? { ...rest, ...fn } : rest
}

function toChoice(choice: PresetConfig["tool_choice"]): unknown {
  if (!isObject(choice)) return choice
  const { allowed_tools: allowed, ...rest } = choice
  if (!isObject(allowed)) return toTool(choice)
  const { mode, tools } = allowed
  return { ...rest, mode, tools: objectsOf(tools).map(toTool) }
}
