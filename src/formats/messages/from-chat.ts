import { GatewayError } from "../../errors/errors.ts"
import { toSingleChunk } from "../chat/as-chunk.ts"
import { isObject, type Json } from "../../support/text/json.ts"
import { toToolInput } from "../tools/tool-arguments.ts"
import { advance, type Ending, finish, type MessageFacts, newEventState } from "./events.ts"
import type { MessagesEvent, MessagesResult } from "./schemas.ts"

/**
 * Converts a chat completion to a Messages document through the stream encoder, so that documents and streams give the
 * same result. Throws for a failed completion, since a Messages document has no error field.
 */
export function toMessagesResult(
  result: Json,
  { id, model, newId, toolNames, ...ending }: MessageFacts & Ending,
): MessagesResult {
  const [advanced, text] = advance(
    newEventState({ id, model, newId, ...(toolNames && { toolNames }) }),
    toSingleChunk(result),
  )
  const [, last] = finish(advanced, ending)
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

/** The events of a document carry the complete text of a block in one delta. */
function grow(blocks: Json[], { delta }: MessagesEvent): void {
  const block = blocks.at(-1) ?? {}
  if (!isObject(delta)) return
  const { type, ...text } = delta
  if (type !== "input_json_delta") Object.assign(block, text)
  else block["input"] = toToolInput(String(text["partial_json"]))
}
