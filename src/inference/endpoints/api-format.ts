import type { PresetConfig } from "../../presets/config.ts"
import type { Provider } from "../../providers/provider.ts"
import type { ResponseEncoder } from "../../formats/encoder.ts"
import type { CallContext, InferenceRequest } from "../inference-request.ts"
import type { ChatRequest } from "../../formats/schemas.ts"

/** A way in which a conversation is asked for: its request, and how the answer is told. */
export type ApiFormat<Request> = {
  /** The request as the road takes it: in its own words wherever a provider speaks them. */
  toRequest: (request: Request, bodyBytes: number) => InferenceRequest
  /** The request in the words of the chat wire, in which plugins and server tools work. Throws where it has none. */
  toChat: (request: Request) => ChatRequest
  /** What a preset says, as fields of the request. */
  presetFields: (config: PresetConfig) => Record<string, unknown>
  /** The request with instructions before its own. */
  prependInstructions: (request: Request, prompt: string) => Request
  encoderFor: (request: Request, call: CallContext) => ResponseEncoder
  /** Whether this provider is asked in the surface's own words, the vendor's tools among them. */
  isNativeTo: (provider: Provider) => boolean
  /** What the gateway's own tools did is told in items of its own. */
  emitsToolItems: boolean
}
