import { errors, type GatewayError } from "../../errors/errors.ts"
import { DONE_FRAME, toFrame } from "../sse/frames.ts"
import type { ChunkDefaults } from "./normalize/normalize.ts"
import type { Json } from "../../support/text/json.ts"

/**
 * Ends a stream that failed after it started: a chunk with `finish_reason: "error"`, then `[DONE]`. `error` is the first
 * field, by which some clients recognize the chunk.
 */
export function failureFrames(error: GatewayError, defaults: ChunkDefaults, further: Json): Uint8Array[] {
  const { id, model, created } = defaults
  const chunk = {
    error: toErrorFields(error),
    id,
    object: "chat.completion.chunk",
    created,
    model,
    choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
    ...further,
  }
  return [toFrame(chunk), DONE_FRAME]
}

/** The `error` of a chunk, of which it must be the first field. */
export function toErrorFields({ status, message, code, metadata }: GatewayError): Json {
  // Clients that read this metadata require error_type.
  return { code: status, message, metadata: { error_type: errors[code].type, ...metadata } }
}
