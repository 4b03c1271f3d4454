import type { PresetConfig } from "../../presets/config.ts"
import type { CompletionsRequest } from "../../formats/completions/schemas.ts"

/** A preset in the completions format, which has no tools. */
export function presetFields(config: PresetConfig): Record<string, unknown> {
  const { tools: _, tool_choice: _choice, stop_server_tools_when: _stops, ...fields } = config
  return fields
}

/** Instructions are the beginning of the text. */
export function prependInstructions(request: CompletionsRequest, prompt: string): CompletionsRequest {
  const { prompt: texts } = request
  const prepend = (text: string) => `${prompt}\n\n${text}`
  return { ...request, prompt: Array.isArray(texts) ? texts.map(prepend) : prepend(texts) }
}
