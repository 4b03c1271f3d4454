import { keysOf } from "../../support/arrays.ts"
import { errors, GatewayError } from "../../errors/errors.ts"
import { isArray, isObject, type Json, listOf, parseStored } from "../../support/text/json.ts"
import { dataOf, DONE, FrameSplitter } from "../../formats/sse/frames.ts"
import { type PartialChoice, mergeChoice } from "../../formats/chat/to-result.ts"
import type { ToolCallFilter } from "./tool-calls.ts"
import { renumber } from "./details.ts"

/** Result of one turn of the model. */
export type Round = {
  /** Fields of the response except the choices, such as id, model and created. */
  head: Json
  message: Json
  finishReason: string | null
  nativeFinishReason: unknown
  usage: Json | undefined
}

/** Fields of a round that the gateway reads itself and reports once for all rounds. */
const REPLACED_FIELDS = ["usage", "choices", "service_metadata", "openrouter_metadata", "object"]

function headOf(body: Json): Json {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !REPLACED_FIELDS.includes(key)))
}

/** Reads a round from a JSON document. */
export async function readJsonRound(response: Response, onMetadata: (result: Json) => void): Promise<Round> {
  const body = await response.json<Json>()
  takeMetadata(body, onMetadata)
  const choices = listOf(body["choices"])
  const choice = choices.find(isObject) ?? {}
  return {
    head: headOf(body),
    message: isObject(choice["message"]) ? choice["message"] : {},
    finishReason: typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : null,
    nativeFinishReason: choice["native_finish_reason"],
    usage: isObject(body["usage"]) ? body["usage"] : undefined,
  }
}

export type Listener = {
  onChunk: (chunk: Json) => void
  onSilence: () => void
  onMetadata: (result: Json) => void
  /** The usage of the delivered part of a failed round; undefined if nothing was delivered. */
  onFailure: (usage: Json | undefined) => void
  /** Buffers the content, because response healing needs all of it. */
  holdsContent: boolean
  detailOffset: number
  callFilter: ToolCallFilter
  signal: AbortSignal
}

/** Reads a streamed round and emits chunks for the client at once. Throws the error of a failed round. */
export async function readStreamedRound(response: Response, listener: Listener): Promise<Round> {
  const round: Round = { head: {}, message: {}, finishReason: null, nativeFinishReason: undefined, usage: undefined }
  const choices = new Map<number, PartialChoice>()
  for await (const data of dataIn(response, listener)) {
    const chunk = parseStored<Json>(data)
    if (isObject(chunk["error"])) {
      listener.onFailure(isObject(chunk["usage"]) ? chunk["usage"] : undefined)
      throw toGatewayError(chunk["error"])
    }
    takeMetadata(chunk, listener.onMetadata)
    if (isObject(chunk["usage"])) round.usage = chunk["usage"]
    if (Object.keys(round.head).length === 0) round.head = headOf(chunk)
    const choice = isArray(chunk["choices"]) ? chunk["choices"].find(isObject) : undefined
    if (!choice) {
      if (isObject(chunk["debug"])) listener.onChunk({ ...headOf(chunk), choices: [] })
      continue
    }
    const places = mergeChoice(choices, { ...choice, index: 0 })
    if (typeof choice["finish_reason"] === "string") round.finishReason = choice["finish_reason"]
    round.nativeFinishReason = choice["native_finish_reason"] ?? round.nativeFinishReason
    pass(chunk, choice, { message: messageIn(choices), places }, listener)
  }
  round.message = messageIn(choices)
  return round
}

function messageIn(choices: ReadonlyMap<number, PartialChoice>): Json {
  return choices.get(0)?.choice.message ?? {}
}

function takeMetadata(body: Json, onMetadata: (result: Json) => void): void {
  if (isObject(body["service_metadata"])) onMetadata(body["service_metadata"])
}

/** Emits the part of a chunk for the client: without finish reason, server tool calls and buffered content. */
function pass(chunk: Json, choice: Json, accumulated: { message: Json; places: number[] }, listener: Listener): void {
  const result = isObject(choice["delta"]) ? choice["delta"] : {}
  const { tool_calls: deltas, content, reasoning_details: details, ...rest } = result
  const { message, places } = accumulated
  const toolCalls = listOf(message["tool_calls"])
  const calls = isArray(deltas) ? listener.callFilter.take(deltas, places, toolCalls, false) : []
  const delta: Json = {
    ...rest,
    ...(content !== undefined && !listener.holdsContent && { content }),
    ...(details !== undefined && { reasoning_details: renumber(details, listener.detailOffset) }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  if (Object.keys(delta).length === 0 && choice["logprobs"] == null) return
  const { finish_reason: _, native_finish_reason: __, ...choiceRest } = choice
  listener.onChunk({ ...headOf(chunk), choices: [{ ...choiceRest, index: 0, delta, finish_reason: null }] })
}

async function* dataIn(response: Response, { onSilence, signal }: Listener): AsyncGenerator<string> {
  const reader = response.body?.getReader()
  if (!reader) return
  const giveUp = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener("abort", giveUp, { once: true })
  const splitter = new FrameSplitter()
  try {
    if (signal.aborted) return
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      for (const frame of splitter.push(value)) {
        const data = dataOf(frame)
        if (data === DONE) return
        if (data === undefined || data === "") onSilence()
        else yield data
      }
    }
  } finally {
    signal.removeEventListener("abort", giveUp)
    giveUp()
  }
}

/** Restores the error that an error chunk was encoded from. */
function toGatewayError({ code, message, metadata }: Json): GatewayError {
  const names = keysOf(errors)
  const name = names.find((one) => errors[one].status === code) ?? "provider_failed"
  const { error_type: _, ...rest } = isObject(metadata) ? metadata : {}
  return new GatewayError(name, typeof message === "string" ? message : "The provider failed.", { metadata: rest })
}
