import type { PresetConfig } from "../../presets/config.ts"
import type { ChatRequest } from "../../formats/schemas.ts"

/** A preset is told in these words. */
export function presetWords(config: PresetConfig): Record<string, unknown> {
  return config
}

export function withInstructions(request: ChatRequest, prompt: string): ChatRequest {
  return { ...request, messages: [{ role: "system", content: prompt }, ...request.messages] }
}
