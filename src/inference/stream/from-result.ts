import { isObject } from "../chat/reading.ts"
import { DONE_FRAME, toFrame } from "./frames.ts"
import type { Opening } from "./opening.ts"

/** A whole answer told as a stream, for a provider that was asked to stream and does not. */
export function toChunks(result: Record<string, unknown>): Opening {
  const { usage, choices, ...head } = result
  const said = (Array.isArray(choices) ? (choices as unknown[]) : []).map((choice, position) => {
    const { message, ...rest } = isObject(choice) ? choice : {}
    const { tool_calls: calls, ...words } = isObject(message) ? message : {}
    const toolCalls = Array.isArray(calls)
      ? calls.map((call, index) => (isObject(call) ? { index, ...call } : { index }))
      : undefined
    return { index: position, ...rest, delta: { ...words, ...(toolCalls && { tool_calls: toolCalls }) } }
  })
  const common = { ...head, object: "chat.completion.chunk" }
  const frames = [toFrame({ ...common, choices: said })]
  if (isObject(usage)) frames.push(toFrame({ ...common, choices: [], usage }))
  return { ok: true, frames: [...frames, DONE_FRAME], rest: new Uint8Array(0), body: null }
}
