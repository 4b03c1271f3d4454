import { isArray, isObject, type Json } from "../../support/text/json.ts"
import type { GatewayError } from "../../errors/errors.ts"
import type { StreamCheck } from "../checks/stream-check.ts"
import { type ChunkTexts, detailName, withoutPadding, wrapDetail } from "./texts/chunk-texts.ts"
import { OUTPUT_FIELDS, outputStateOf } from "./output-state.ts"
import { jsonCodec } from "./texts/json-codec.ts"
import { mapTexts, mapOtherFields, CHOICE_FIELDS, RESULT_FIELDS, type Visit } from "./texts/request-texts.ts"
import { TextFilter } from "./text-filter.ts"
import { plainCodec, type TextCodec } from "./texts/text-codec.ts"
import { TextChannels } from "./texts/text-channels.ts"

export type OutputScreen = {
  /** Creates a filter for one text of the response. */
  newFilter: (codec: TextCodec) => TextFilter
  /** Filters a complete text. */
  visit: Visit
  /** Something was redacted, so logprobs must be removed. */
  redacts: boolean
  isBlocked: () => boolean
  blockError: () => GatewayError
  /** A provider's error text; undefined if it is blocked. */
  providerMessage: (text: string) => string | undefined
}

const REASONING = ["text", "summary"] as const
/** Streamed fields that are handled separately. */
const DELTA_FIELDS = new Set([...CHOICE_FIELDS].filter((name) => name !== "message"))

type ChoiceParts = {
  delta: Json
  result: Json
  index: number
  prior: Json[]
}

/** `delayedChunks`: delayed output text, before the last chunk; `others`: the rest of other fields. */
type ChunkOrder = { followsDelayedText: boolean; isLast: boolean; delayedChunks: Json[] | undefined; others: Json[] }

/** `field`: of the text that the model writes. */
type CallPiece = {
  choice: number
  extended: Set<string>
  field: "arguments" | "input"
  wrap: (called: Json) => Json
}

/** Kinds of tool calls: functions take JSON, custom tools take text. */
const CALLS = [
  { kind: "function", field: "arguments" },
  { kind: "custom", field: "input" },
] as const
const CALL_FIELDS: ReadonlySet<string> = new Set(["index", "id", "type", ...CALLS.map(({ kind }) => kind)])

/**
 * Filters the chunks of a chat stream. Every text of a response (content, refusal, reasoning, each reasoning detail,
 * the arguments of each tool call) has its own filter, and is delayed only where needed.
 */
export class ResponseFilter {
  readonly #screen: OutputScreen
  readonly #channels: TextChannels
  /** Chunks of other fields that are delayed until the text before them is decided, by choice. */
  readonly #queues = new Map<number, Json[]>()
  #head: Json = {}
  /** Checks for the complete response, if any apply. */
  readonly check: StreamCheck | undefined

  constructor(screen: OutputScreen, check?: StreamCheck) {
    this.#screen = check ? { ...screen, visit: check.collecting(screen.visit) } : screen
    this.#channels = new TextChannels(screen.newFilter, check?.add)
    this.check = check
  }

  get isBlocked(): boolean {
    return this.#screen.isBlocked()
  }

  /** The error for the client if the response is blocked. */
  blockError(): GatewayError | undefined {
    return this.isBlocked ? this.#screen.blockError() : undefined
  }

  /** Filters the text of a provider's error. */
  get providerMessage(): OutputScreen["providerMessage"] {
    return this.#screen.providerMessage
  }

  /** Chunks to send for a chunk: the same object if it is unchanged, none if all of it is delayed. */
  chunk(result: Json): Json[] {
    const chunk = mapOtherFields(withoutPadding(result), RESULT_FIELDS, this.#screen.visit)
    if (this.isBlocked) return []
    const { choices, usage: _, error: __, ...head } = chunk
    this.#head = head
    if (!isArray(choices)) return [chunk]
    const { index, isLast, isOutput } = outputStateOf(choices)
    const followsDelayedText = !isOutput && !isLast && this.#channels.hasDelayedOutput(index)
    const delayedChunks = isLast && !isOutput ? this.#finishOutput(index) : undefined
    const [prior, others]: [Json[], Json[]] = [[], []]
    const mapped = choices.map((choice) => (isObject(choice) ? this.#choice(choice, prior, others) : choice))
    if (this.isBlocked) return []
    const isSame = mapped.every((choice, at) => choice === choices[at])
    const remaining = mapped.filter((choice) => choice !== undefined)
    const isEmpty = remaining.length === 0 && choices.length > 0 && chunk["usage"] == null
    const sent = isEmpty ? [] : [isSame ? chunk : { ...chunk, choices: remaining }]
    return this.#inOrder(index, { followsDelayedText, isLast, delayedChunks, others }, [...prior, ...sent])
  }

  /**
   * Takes the texts of a chunk, in the order of its slots, and returns those to send. `prior`: chunks to send before.
   * Undefined, with nothing changed, if the order of chunks must be decided, which needs `chunk`.
   */
  pushTexts(
    { choice, head, slots }: ChunkTexts,
    texts: readonly string[],
  ): { prior: Json[]; texts: string[] } | undefined {
    if (this.isBlocked || this.#queues.size > 0) return undefined
    const isOutput = slots.some(({ name }) => OUTPUT_FIELDS.includes(name))
    if (!isOutput && this.#channels.hasDelayedOutput(choice)) return undefined
    this.#head = head
    const extended = new Set<string>()
    const released = slots.map(({ name, wrap }, at) =>
      this.#channels.push(name, texts[at] ?? "", { choice, newCodec: plainCodec, wrap, extended }),
    )
    const prior: Json[] = []
    this.#channels.releaseOthers(choice, extended, this.#into(prior, choice))
    return { prior, texts: released }
  }

  /**
   * Delays fields between two pieces of the output text until the text is decided: its first piece must not be sent
   * before the second one is scanned.
   */
  #inOrder(index: number, { followsDelayedText, isLast, delayedChunks, others }: ChunkOrder, written: Json[]): Json[] {
    const delayed = this.#queues.get(index) ?? []
    // The rest of a field follows its delayed beginning.
    const queue = delayed.length === 0 ? [] : [...delayed, ...others]
    const chunks = delayed.length === 0 ? [...others, ...written] : written
    if (queue.length > 0) this.#queues.set(index, queue)
    if (followsDelayedText) {
      this.#queues.set(index, [...queue, ...chunks])
      return []
    }
    if (!isLast && this.#channels.hasDelayedOutput(index)) return chunks
    this.#queues.delete(index)
    if (!isLast) return [...chunks, ...queue]
    return delayedChunks
      ? [...delayedChunks, ...queue, ...chunks]
      : [...chunks.slice(0, -1), ...queue, ...chunks.slice(-1)]
  }

  /** Releases the delayed output text of a choice at its end. */
  #finishOutput(choice: number): Json[] {
    const out: Json[] = []
    this.#channels.finish(choice, this.#into(out, choice), true)
    return out
  }

  /** Releases all delayed chunks at the end of the response. */
  end(): Json[] {
    const rest: Json[] = []
    for (const choice of new Set([...this.#channels.choices, ...this.#queues.keys()])) {
      rest.push(...this.#finishOutput(choice), ...(this.#queues.get(choice) ?? []))
      this.#channels.finish(choice, this.#into(rest, choice))
    }
    this.#queues.clear()
    return this.isBlocked ? [] : rest
  }

  #choice(choice: Json, prior: Json[], others: Json[]): Json | undefined {
    const index = typeof choice["index"] === "number" ? choice["index"] : 0
    const delta = isObject(choice["delta"]) ? choice["delta"] : {}
    const extended = new Set<string>()
    const result = this.#delta(delta, index, extended)
    if (extended.size > 0) this.#channels.releaseOthers(index, extended, this.#into(others, index))
    return this.#finishChoice(mapOtherFields(choice, DELTA_FIELDS, this.#screen.visit), { delta, result, index, prior })
  }

  #finishChoice(choice: Json, { delta, result, index, prior }: ChoiceParts): Json | undefined {
    const isLast = typeof choice["finish_reason"] === "string"
    const hasLogprobs = this.#screen.redacts && choice["logprobs"] != null
    if (result === delta && !hasLogprobs && !isLast) return choice
    if (!isLast && Object.keys(result).length === 0 && Object.keys(delta).length > 0) return undefined
    const filtered = { ...choice, delta: result, ...(hasLogprobs && { logprobs: null }) }
    if (!isLast) return filtered
    // First the text of this chunk, then the delayed text, then the finish reason.
    const hasOpenChannels = this.#channels.choices.has(index)
    if (!hasOpenChannels && result === delta && !hasLogprobs) return choice
    if (!hasOpenChannels) return filtered
    if (Object.keys(result).length > 0) prior.push(this.#chunkOf(index, result))
    this.#channels.finish(index, this.#into(prior, index))
    return { ...filtered, delta: {} }
  }

  #delta(delta: Json, choice: number, extended: Set<string>): Json {
    const result: Json = {}
    let isChanged = false
    for (const [key, value] of Object.entries(delta)) {
      const mapped = this.#field(key, value, choice, extended)
      isChanged ||= mapped !== value
      // A delayed text is left out, unless it was empty in the original.
      if (mapped !== "" || value === "") result[key] = mapped
    }
    return isChanged ? result : delta
  }

  #field(key: string, value: unknown, choice: number, extended: Set<string>): unknown {
    if (key === "role" || value === null) return value
    if (typeof value === "string")
      return this.#channels.push(key, value, {
        choice,
        newCodec: plainCodec,
        wrap: (text) => ({ [key]: text }),
        extended,
      })
    if (key === "tool_calls" && isArray(value)) {
      return mapUnlessSame(value, (call, at) => this.#call(call, at, choice, extended))
    }
    if (key === "reasoning_details" && isArray(value)) {
      return mapUnlessSame(value, (detail, at) => this.#detail(detail, at, choice, extended))
    }
    if (key === "function_call" && isObject(value)) {
      const wrap = (called: Json) => ({ function_call: called })
      return this.#called("function_call", value, { choice, extended, field: "arguments", wrap })
    }
    if (key === "audio" && isObject(value) && typeof value["transcript"] === "string") {
      const wrap = (transcript: string) => ({ audio: { transcript } })
      const transcript = this.#channels.push("audio", value["transcript"], {
        choice,
        newCodec: plainCodec,
        wrap,
        extended,
      })
      return transcript === value["transcript"] ? value : { ...value, transcript }
    }
    return mapTexts(value, "assistant", this.#screen.visit)
  }

  #call(call: unknown, at: number, choice: number, extended: Set<string>): unknown {
    if (!isObject(call)) return call
    const index = typeof call["index"] === "number" ? call["index"] : at
    let result = mapOtherFields(call, CALL_FIELDS, this.#screen.visit)
    for (const { kind, field } of CALLS) {
      const called = result[kind]
      if (!isObject(called)) continue
      const wrap = (piece: Json) => ({ tool_calls: [{ index, [kind]: piece }] })
      const filtered = this.#called(`call ${index}`, called, { choice, extended, field, wrap })
      if (filtered !== called) result = { ...result, [kind]: filtered }
    }
    return result
  }

  #called(name: string, called: Json, { choice, extended, field, wrap }: CallPiece): Json {
    const written = called[field]
    if (typeof written !== "string") return called
    const result = this.#channels.push(name, written, {
      choice,
      newCodec: field === "input" ? plainCodec : jsonCodec,
      wrap: (text) => wrap({ [field]: text }),
      extended,
    })
    return result === written ? called : { ...called, [field]: result }
  }

  #detail(detail: unknown, at: number, choice: number, extended: Set<string>): unknown {
    if (!isObject(detail)) return detail
    const index = typeof detail["index"] === "number" ? detail["index"] : at
    let result = detail
    for (const field of REASONING) {
      const text = detail[field]
      if (typeof text !== "string") continue
      const wrap = (rest: string) => wrapDetail(detail, index, { [field]: rest })
      const filtered = this.#channels.push(detailName(index, field), text, {
        choice,
        newCodec: plainCodec,
        wrap,
        extended,
      })
      if (filtered !== text) result = { ...result, [field]: filtered }
    }
    const isChanged = REASONING.some((field) => this.#channels.isChanged(choice, detailName(index, field)))
    // A signature no longer matches changed text, and providers reject it.
    if (isChanged && detail["signature"] != null) result = { ...result, signature: null }
    return result
  }

  /** Appends chunks with released text of a choice. */
  #into(chunks: Json[], choice: number): (delta: Json) => void {
    return (delta) => void chunks.push(this.#chunkOf(choice, delta))
  }

  #chunkOf(choice: number, delta: Json): Json {
    return { ...this.#head, choices: [{ index: choice, delta, finish_reason: null }] }
  }
}

function mapUnlessSame(list: readonly unknown[], map: (one: unknown, at: number) => unknown): readonly unknown[] {
  const mapped = list.map(map)
  return mapped.some((one, at) => one !== list[at]) ? mapped : list
}
