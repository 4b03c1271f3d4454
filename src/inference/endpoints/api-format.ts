import type { PresetConfig } from "../../presets/config.ts"
import type { Provider } from "../../providers/provider.ts"
import type { ResponseEncoder } from "../../formats/encoder.ts"
import type { CallContext, InferenceRequest } from "../inference-request.ts"
import type { ChatRequest } from "../../formats/schemas.ts"

/** One of the API formats of conversations: chat, responses, messages or completions. */
export type ApiFormat<Request> = {
  /** Normalizes a request. Providers that have the format receive it untranslated. */
  toRequest: (request: Request, bodyBytes: number) => InferenceRequest
  /**
   * Translates the request to the chat format, which plugins and server tools use. Throws if that is impossible.
   */
  toChat: (request: Request) => ChatRequest
  /** The fields of a preset in this API format. */
  presetFields: (config: PresetConfig) => Record<string, unknown>
  /** Prepends instructions to those of the request. */
  prependInstructions: (request: Request, prompt: string) => Request
  encoderFor: (request: Request, call: CallContext) => ResponseEncoder
  /** Whether the provider supports this API format, and so runs its vendor's tools. */
  isNativeTo: (provider: Provider) => boolean
  /** Responses are read in the chat format at every provider, so that output guardrails need no other request. */
  isReadAsChat: boolean
  /** Runs of server tools are items of the response. */
  emitsToolItems: boolean
}
