import type { PresetConfig } from "../../presets/config.ts"
import type { ChatRequest } from "../../formats/schemas.ts"

/** Presets are stored in the chat format. */
export function presetFields(config: PresetConfig): Record<string, unknown> {
  return config
}

export function prependInstructions(request: ChatRequest, prompt: string): ChatRequest {
  return { ...request, messages: [{ role: "system", content: prompt }, ...request.messages] }
}
