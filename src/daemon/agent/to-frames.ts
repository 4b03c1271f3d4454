import type { AnyMessage, AnyRequest, AnyResponse } from "@agentclientprotocol/sdk"
import { MAX_FRAME_BYTES } from "../../interns/hosts/daemon-protocol.ts"

/** Leaves room for the envelope of a frame. */
const MAX_MESSAGE_BYTES = MAX_FRAME_BYTES - 256
/** In UTF-16 units, each of which may take six bytes in JSON. */
const MAX_PIECE_LENGTH = 131_072
const TOO_LARGE = { code: -32_603, message: "The message is larger than the gateway accepts (1 MiB)." }

/** `send`: frames for the gateway. `rejection`: the error for the agent if its request does not fit. */
export type FramedMessage = { send: AnyMessage[]; rejection?: AnyResponse }

/**
 * Splits a message into frames of allowed size: text is cut; any other large message fails its request or is dropped.
 */
export function toFrames(message: AnyMessage): FramedMessage {
  if (Buffer.byteLength(JSON.stringify(message)) <= MAX_MESSAGE_BYTES) return { send: [message] }
  if (!("method" in message)) return { send: [{ jsonrpc: "2.0", id: message.id, error: TOO_LARGE }] }
  if ("id" in message) return { send: [], rejection: toRejection(message) }
  return { send: pieces(message) }
}

function toRejection({ id }: AnyRequest): AnyResponse {
  return { jsonrpc: "2.0", id, error: TOO_LARGE }
}

type TextUpdate = { sessionUpdate: string; content: { type: "text"; text: string } }

function pieces(message: AnyMessage): AnyMessage[] {
  if (!("method" in message) || message.method !== "session/update") return []
  const params = message.params as { update?: Partial<TextUpdate> } | undefined
  const { update } = params ?? {}
  if (!update?.sessionUpdate?.endsWith("_chunk") || update.content?.type !== "text") return []
  const { content } = update
  return splitText(content.text).map((text) => ({
    ...message,
    params: { ...params, update: { ...update, content: { ...content, text } } },
  }))
}

/** Cuts text, never inside a surrogate pair. */
function splitText(text: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + MAX_PIECE_LENGTH)
    if (end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1
    parts.push(text.slice(at, end))
    at = end
  }
  return parts
}
