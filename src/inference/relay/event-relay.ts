import type { ResponseMeter } from "../../formats/chat/meter.ts"
import { MAX_CALLS } from "../../formats/chat/call-deltas.ts"
import type { ChunkDefaults } from "../../formats/chat/normalize/normalize.ts"
import { restOfCalls } from "../../formats/chat/normalize/normalize-calls.ts"
import { FrameShape, type TextMeter } from "../../formats/sse/frame-shape.ts"
import { dataOf, type FrameHandler, isDone, isTypedByName, parseData, toFrame } from "../../formats/sse/frames.ts"
import { readItem } from "../../formats/sse/read-item.ts"
import type { StreamItem } from "../../formats/sse/stream-item.ts"
import { appendText } from "../../formats/transcript.ts"
import { type ChunkTexts, chunkTextsOf, withoutPadding } from "../../guardrails/content/texts/chunk-texts.ts"
import type { DividedKey } from "../../providers/divided-keys.ts"
import { keyFilterOf } from "../../providers/key-filter.ts"
import { ByteBuffer } from "../../support/byte-buffer.ts"
import type { Json } from "../../support/text/json.ts"
import type { StreamRelay } from "./stream-relay.ts"

/** Shapes kept at once: text and reasoning alternate in some streams. */
const MAX_SHAPES = 3
/** A stream whose shapes match less often than this is not worth learning. */
const MIN_MATCHES_PER_SHAPE = 8
const SHAPES_BEFORE_CHECK = 4

/** `filtered`: its texts that the guardrails filter, if any apply. */
type KnownShape = { shape: FrameShape; filtered: ChunkTexts | undefined }

/** Turns the events of one upstream stream into the bytes that the client receives, and meters them. */
export class EventRelay implements FrameHandler {
  readonly #relay: StreamRelay
  readonly #out = new ByteBuffer()
  readonly #textMeter: TextMeter
  #defaults: ChunkDefaults
  readonly #filteredMeter: TextMeter | undefined
  readonly #keys: readonly DividedKey[]
  /** Whether a part of the provider's key was removed from the current event. */
  #isCleaned = false
  #shapes: KnownShape[] = []
  #learnedShapes = 0
  #matches = 0
  stopReason: "malformed_event" | "too_many_calls" | "blocked" | undefined

  constructor(relay: StreamRelay) {
    this.#relay = relay
    this.#defaults = relay.defaultsOf()
    this.#textMeter = textMeterOf(relay.meter)
    this.#keys = keyFilterOf(relay.provider)?.divided() ?? []
    this.#filteredMeter = relay.filtered && textMeterOf(relay.filtered)
  }

  /** Starts the response with the events of the stream's head. */
  open(items: readonly StreamItem[]): void {
    const { meter, encoder, servingInfo } = this.#relay
    // One id and time for the complete stream, including events that the gateway sends first.
    const first = firstWithId(items)
    meter.id ??= first?.id ?? null
    meter.created ??= first?.created ?? null
    this.#defaults = this.#relay.defaultsOf()
    this.#write(encoder.open(servingInfo))
    for (const item of items) this.#take(item)
  }

  /** Takes the bytes to write to the client. */
  takeOutput(): Uint8Array {
    return this.#out.take()
  }

  /** Recognizes a frame of a known shape by its bytes. */
  readonly take = (bytes: Uint8Array, at: number): number => {
    if (this.#shapes.length === 0 || this.#hasEnded) return -1
    for (const [index, known] of this.#shapes.entries()) {
      const { shape, filtered } = known
      const end = shape.match(bytes, at)
      if (end === -1) continue
      if (!this.#keys.every((key) => key.isClean(bytes, shape))) return -1
      const isTaken = filtered
        ? this.#filterTexts(shape, filtered, bytes)
        : shape.take(bytes, at, end, { out: this.#out, meter: this.#textMeter })
      if (!isTaken) continue
      for (const key of this.#keys) key.advance(shape)
      this.#matches += 1
      if (index > 0) this.#shapes = [known, ...this.#shapes.filter((other) => other !== known)]
      return end
    }
    return -1
  }

  /** Passes the texts of a matched frame through the guardrails. False without side effects if that needs its event. */
  #filterTexts(shape: FrameShape, filtered: ChunkTexts, bytes: Uint8Array): boolean {
    const { filter } = this.#relay
    const { slots } = shape
    const strings = shape.texts(bytes)
    const released =
      strings &&
      filter?.pushTexts(
        filtered,
        slots.map((index) => strings[index] ?? ""),
      )
    if (!released) return false
    shape.meterTexts(strings, this.#textMeter)
    if (filter?.isBlocked) {
      this.stopReason = "blocked"
      return true
    }
    for (const chunk of released.prior) this.#writeFiltered(chunk)
    if (released.texts.includes("")) {
      const chunk = filtered.withTexts(released.texts)
      if (chunk) this.#writeFiltered(chunk)
      return true
    }
    if (this.#filteredMeter) {
      const texts = strings.map((_, index) => released.texts[slots.indexOf(index)] ?? "")
      shape.meterTexts(texts, this.#filteredMeter)
    }
    shape.write(released.texts, this.#out)
    return true
  }

  #writeFiltered(chunk: Json, frame?: Uint8Array): void {
    const { filtered, encoder, servingInfo } = this.#relay
    if (filtered) servingInfo.reader.read(filtered, chunk)
    this.#write(encoder.chunk(chunk, frame))
  }

  readonly onFrame = (frame: Uint8Array): void => {
    const { translate } = this.#relay.head
    if (!translate) this.#take(frame)
    else for (const item of translate(frame)) this.#take(item)
  }

  /** A frame without its final blank line. A partial event needs no error: the missing end marks the stream as cut. */
  onLastFrame(frame: Uint8Array): void {
    const data = dataOf(frame) ?? ""
    if (isDone(data) || parseData(data)) this.onFrame(frame)
  }

  /** Writes content that the guardrails buffered. Called when the stream has ended. */
  end(): void {
    for (const chunk of this.#relay.filter?.end() ?? []) this.#writeFiltered(chunk)
    this.#finishOpenChoices()
  }

  /** Finishes choices that the provider left open before `[DONE]`: clients expect a finish reason for each. */
  #finishOpenChoices(): void {
    const { meter, encoder } = this.#relay
    if (!meter.done || meter.error || this.stopReason) return
    const open = [...meter.choices].filter(([, isFinished]) => !isFinished)
    if (open.length === 0) return
    const { id, model, created, calls } = this.#defaults
    const choices = open.map(([index]) => {
      const finishReason = calls.some(({ choice }) => choice === index) ? "tool_calls" : "stop"
      meter.finishReason ??= finishReason
      const missing = restOfCalls({ seen: calls, choice: index }, true)
      return { index, delta: missing.length > 0 ? { tool_calls: missing } : {}, finish_reason: finishReason }
    })
    this.#write(encoder.chunk({ id, object: "chat.completion.chunk", created, model, choices }, undefined))
  }

  /** Nothing follows `[DONE]`, an error, or an event that stopped the stream. */
  get #hasEnded(): boolean {
    const { meter } = this.#relay
    return meter.done || meter.error !== null || this.stopReason !== undefined
  }

  #take(item: StreamItem): void {
    if (this.#hasEnded) return
    const { meter, servingInfo } = this.#relay
    this.#isCleaned = false
    const event = readItem(item, meter, servingInfo.reader, this.#clean)
    const frame = item instanceof Uint8Array && !this.#isCleaned ? item : undefined
    if (event === "comment" && frame) this.#relayComment(frame)
    else if (event === "malformed") this.stopReason = "malformed_event"
    else if (typeof event !== "string" && !meter.error) {
      this.#relayEvent(event, isTypedByName(event) ? undefined : frame)
    }
  }

  readonly #clean = (event: Json): Json => {
    const cleaned = this.#keys.reduce((found, key) => key.clean(found), event)
    this.#isCleaned = cleaned !== event
    return cleaned
  }

  /** A comment may quote the model: with a filter, clients receive a heartbeat in its place. */
  #relayComment(frame: Uint8Array): void {
    const { filter, encoder } = this.#relay
    if (!filter && !encoder.rejectsComments) this.#write([frame])
    else if (this.#out.isEmpty) this.#write(encoder.heartbeat())
  }

  #relayEvent(event: Json, frame: Uint8Array | undefined): void {
    const { filter, servingInfo } = this.#relay
    const normal = servingInfo.reader.normalize(event, this.#defaults)
    if (this.#defaults.calls.length > MAX_CALLS) {
      this.stopReason = "too_many_calls"
      return
    }
    if (frame) this.#learn(frame, event)
    for (const result of filter ? filter.chunk(normal) : [normal])
      // The bytes of a frame may have comments and fields that no filter reads.
      this.#writeFiltered(result, result === event && !filter ? frame : undefined)
    if (filter?.isBlocked) this.stopReason = "blocked"
  }

  /** Learns the shape of a frame, which later frames are likely to have. */
  #learn(frame: Uint8Array, event: Json): void {
    const { encoder, servingInfo, head, filter } = this.#relay
    const { variableStrings, normalize } = servingInfo.reader
    if (!encoder.isStateless || head.translate || !variableStrings || this.#mayThink) return
    if (this.#learnedShapes >= SHAPES_BEFORE_CHECK && this.#matches < this.#learnedShapes * MIN_MATCHES_PER_SHAPE)
      return
    const strings = variableStrings(event)
    if (!strings) return
    this.#learnedShapes += 1
    let filtered: ChunkTexts | undefined
    const rewrite = (marked: Json) => {
      const normal = normalize(marked, this.#defaults)
      if (!filter) return normal === marked ? null : toFrame(normal)
      const rewritten = withoutPadding(normal)
      filtered = chunkTextsOf(rewritten)
      return toFrame(rewritten)
    }
    const shape = FrameShape.learn(frame, event, { strings, rewrite })
    if (!shape || (filter && filtered?.slots.length !== shape.slots.length)) return
    this.#shapes = [{ shape, filtered }, ...this.#shapes.slice(0, MAX_SHAPES - 1)]
  }

  /** The content of a choice may still have reasoning, so that the same shape has different meanings. */
  get #mayThink(): boolean {
    const { thoughts } = this.#defaults
    return thoughts !== undefined && [...thoughts.values()].some(({ phase }) => phase !== "off")
  }

  #write(frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.#out.append(frame, 0, frame.byteLength)
  }
}

function textMeterOf(meter: ResponseMeter): TextMeter {
  return {
    wantsText: meter.transcript !== null,
    add: (units, texts) => {
      meter.units += units
      meter.pieces += 1
      for (const [{ transcript }, text] of texts) {
        if (transcript && meter.transcript) appendText(meter.transcript, transcript, text)
      }
    },
  }
}

function firstWithId(items: readonly StreamItem[]): { id: string; created: number | null } | undefined {
  for (const item of items) {
    const event = item instanceof Uint8Array ? parseData(dataOf(item) ?? "") : item
    const { id, created } = event ?? {}
    if (typeof id !== "string" || id === "") continue
    return { id, created: Number.isSafeInteger(created) ? Number(created) : null }
  }
  return undefined
}
