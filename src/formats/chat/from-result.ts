import { toSingleChunk } from "./as-chunk.ts"
import { normalizeMessage } from "./normalize/normalize.ts"
import { documentMessageOf, withoutMessage } from "./normalize/provider-spellings.ts"
import { isObject, type Json, listOf, objectsOf } from "../../support/text/json.ts"
import { DONE_FRAME, toFrame } from "../sse/frames.ts"
import type { StreamHead } from "../sse/stream-item.ts"

/** Converts a chat completion to a stream, for a provider that ignores `stream: true`. `upstreamBody`: its request. */
export function toChunks(result: Json, upstreamBody?: Json): StreamHead {
  const normal = listOf(result["choices"]).map((choice, index) =>
    isObject(choice) ? normalizeChoice(choice, index, upstreamBody) : choice,
  )
  const { usage, choices, ...head } = toSingleChunk({ ...result, choices: normal })
  const text = objectsOf(choices).map(withoutMessage)
  const common = { ...head, object: "chat.completion.chunk" }
  const frames = [toFrame({ ...common, choices: text })]
  if (isObject(usage)) frames.push(toFrame({ ...common, choices: [], usage }))
  return { ok: true, items: [...frames, DONE_FRAME], rest: new Uint8Array(0), body: null }
}

function normalizeChoice(choice: Json, index: number, upstreamBody: Json | undefined): Json {
  const message = documentMessageOf(choice)
  return { index, ...choice, message: normalizeMessage(message, choice["finish_reason"], upstreamBody) }
}
