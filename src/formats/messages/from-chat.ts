import { GatewayError } from "../../errors/errors.ts"
import { toWholeChunk } from "../chat/as-chunk.ts"
import { isObject, type Json } from "../../support/json.ts"
import { advance, type Ending, finish, type MessageFacts, newEventState } from "./events.ts"
import type { MessagesEvent, MessagesResult } from "./schemas.ts"

/**
 * A whole chat completion as a message: what its stream would have told, by the same machine, so that an answer is the
 * same however it was asked for. Throws for an answer that failed, since a message has no way to say so.
 */
export function toMessagesResult(result: Json, { id, model, newId, ...ending }: MessageFacts & Ending): MessagesResult {
  const [spoken, text] = advance(newEventState({ id, model, newId }), toWholeChunk(result))
  const [, last] = finish(spoken, ending)
  let message: Json = {}
  const blocks: Json[] = []
  for (const event of [...text, ...last]) {
    if (event.type === "error") throw new GatewayError("provider_failed", textOf(event["error"]))
    if (event.type === "message_start" && isObject(event["message"])) message = event["message"]
    if (event.type === "content_block_start" && isObject(event["content_block"]))
      blocks.push({ ...event["content_block"] })
    if (event.type === "content_block_delta") grow(blocks, event)
    if (event.type === "message_delta") message = { ...message, ...endOf(event) }
  }
  return { ...message, content: blocks } as MessagesResult
}

function textOf(error: unknown): string {
  return isObject(error) ? String(error["message"]) : "The provider closed the stream before the response was complete."
}

function endOf(event: MessagesEvent): Json {
  const { type: _, delta, usage, ...metadata } = event
  return { ...(isObject(delta) && delta), usage, ...metadata }
}

/** The events of a whole answer give each block all of its text at once. */
function grow(blocks: Json[], { delta }: MessagesEvent): void {
  const block = blocks.at(-1) ?? {}
  if (!isObject(delta)) return
  const { type, ...text } = delta
  if (type !== "input_json_delta") Object.assign(block, text)
  else block["input"] = toInput(String(text["partial_json"]))
}

/**
 * An input is an object. Where a limit has cut one, or a model misspelt it, a tool must not take the rest for whole.
 */
function toInput(encoded: string): Json {
  try {
    const input: unknown = JSON.parse(encoded)
    if (isObject(input)) return input
  } catch {
    // Told below.
  }
  return { unparsed: encoded }
}
