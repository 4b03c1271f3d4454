import type { PresetConfig } from "../../presets/config.ts"
import type { ChatRequest } from "../../formats/schemas.ts"

/** A preset is told in these words. */
export function presetFields(config: PresetConfig): Record<string, unknown> {
  return config
}

export function prependInstructions(request: ChatRequest, prompt: string): ChatRequest {
  return { ...request, messages: [{ role: "system", content: prompt }, ...request.messages] }
}
