import type { PresetConfig } from "../../presets/config.ts"
import { isObject, type Json, withoutNulls } from "../../support/text/json.ts"
import type { MessagesRequest } from "../../formats/messages/schemas.ts"

/** Fields with the same name in the Messages format. `max_tokens` is required there, so the request always sets it. */
const SHARED = [
  "model",
  "models",
  "top_p",
  "top_k",
  "stop_server_tools_when",
  "plugins",
  "provider",
  "service_tier",
] as const
const MAX_TEMPERATURE = 1
const MIN_BUDGET = 1_024

/** A preset in the Messages format. Fields that the format does not have are dropped. */
export function presetFields(config: PresetConfig): Json {
  const { temperature, stop, tools, reasoning, response_format: format } = config
  return withoutNulls({
    ...Object.fromEntries(SHARED.map((name) => [name, config[name]])),
    temperature: temperature == null ? undefined : Math.min(temperature, MAX_TEMPERATURE),
    stop_sequences: typeof stop === "string" ? [stop] : stop,
    tools: tools?.map(toTool),
    tool_choice: toChoice(config),
    thinking: toThinking(reasoning),
    output_config: toOutput(reasoning, format),
  })
}

export function prependInstructions(request: MessagesRequest, prompt: string): MessagesRequest {
  const { system } = request
  if (Array.isArray(system)) return { ...request, system: [{ type: "text", text: prompt }, ...system] }
  return { ...request, system: system ? `${prompt}\n\n${system}` : prompt }
}

/** A tool that is defined by its type is the same in every format. */
function toTool(tool: Json): Json {
  const { type: _, function: fn, ...rest } = tool
  if (!isObject(fn)) return tool
  const { parameters, ...described } = fn
  return { ...rest, ...withoutNulls(described), input_schema: parameters ?? { type: "object" } }
}

function toChoice({ tool_choice: choice, parallel_tool_calls: parallel, tools }: PresetConfig): Json | undefined {
  const options = parallel === false && tools?.length ? { disable_parallel_tool_use: true } : undefined
  if (choice === "none") return { type: "none" }
  if (choice === "required") return { type: "any", ...options }
  if (isObject(choice) && isObject(choice["function"]))
    return { type: "tool", name: choice["function"]["name"], ...options }
  return choice === "auto" || options ? { type: "auto", ...options } : undefined
}

type Reasoning = PresetConfig["reasoning"]

function toThinking(reasoning: Reasoning): Json | undefined {
  if (reasoning == null) return undefined
  const { effort, enabled, max_tokens: budget }: Json = reasoning
  if (effort === "none" || enabled === false) return { type: "disabled" }
  if (typeof budget === "number") return { type: "enabled", budget_tokens: Math.max(budget, MIN_BUDGET) }
  return enabled === true ? { type: "adaptive" } : undefined
}

function toOutput(reasoning: Reasoning, format: PresetConfig["response_format"]): Json | undefined {
  const effort = reasoning?.effort === "none" ? undefined : reasoning?.effort
  const result = withoutNulls({
    effort: effort === "minimal" ? "low" : effort,
    format:
      format?.type === "json_schema" ? { type: "json_schema", schema: format.json_schema.schema ?? {} } : undefined,
  })
  return Object.keys(result).length > 0 ? result : undefined
}
