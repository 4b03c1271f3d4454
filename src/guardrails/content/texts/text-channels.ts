import type { Json } from "../../../support/text/json.ts"
import { OUTPUT_FIELDS } from "../output-state.ts"
import type { TextCodec } from "./text-codec.ts"
import type { TextFilter } from "../text-filter.ts"

/** One text of a response, which arrives in pieces. */
type Channel = {
  filter: TextFilter
  choice: number
  wrap: (text: string) => Json
  /** Delayed text was released before a decision, because another field followed. */
  wasReleasedEarly: boolean
  /**
   * The field continued after that: its text is now delayed until the end, so that fields in alternating pieces are
   * scanned as one.
   */
  delaysToEnd: boolean
}

export type TextPiece = {
  choice: number
  newCodec: () => TextCodec
  /** The delta with this text alone. */
  wrap: (text: string) => Json
  /** Receives the keys of the channels that were extended. */
  extended: Set<string>
}

/** Receives the delta with released text. */
type Release = (delta: Json) => void

/** The texts of a streamed response, each with its own filter. */
export class TextChannels {
  readonly #newFilter: (codec: TextCodec) => TextFilter
  readonly #onReleased: ((key: string, piece: string) => void) | undefined
  readonly #channels = new Map<string, Channel>()

  /** `onReleased` receives each released piece, with the key of its text. */
  constructor(newFilter: (codec: TextCodec) => TextFilter, onReleased?: (key: string, piece: string) => void) {
    this.#newFilter = newFilter
    this.#onReleased = onReleased
  }

  /** The choices with an open text. */
  get choices(): Set<number> {
    return new Set([...this.#channels.values()].map(({ choice }) => choice))
  }

  /** Whether some output text is delayed. */
  hasDelayedOutput(choice: number): boolean {
    return OUTPUT_FIELDS.some((name) => this.#channels.get(`${choice} ${name}`)?.filter.hasDelayedText)
  }

  isChanged(choice: number, name: string): boolean {
    return this.#channels.get(`${choice} ${name}`)?.filter.isChanged ?? false
  }

  /** Filters a piece of a text; returns what can be sent. */
  push(name: string, piece: string, { choice, newCodec, wrap, extended }: TextPiece): string {
    const key = `${choice} ${name}`
    if (piece !== "") extended.add(key)
    let channel = this.#channels.get(key)
    if (!channel) {
      if (piece === "") return ""
      channel = { filter: this.#newFilter(newCodec()), choice, wrap, wasReleasedEarly: false, delaysToEnd: false }
      this.#channels.set(key, channel)
    }
    if (channel.wasReleasedEarly && piece !== "") channel.delaysToEnd = true
    const released = channel.filter.push(piece, false)
    this.#onReleased?.(key, released)
    return released
  }

  /**
   * Releases delayed text of other fields first, to keep the order of the response. Tool calls are not released, since
   * their index orders them, and neither is the output text, which delays everything after it.
   */
  releaseOthers(choice: number, extended: ReadonlySet<string>, release: Release): void {
    const isCalling = [...extended].every((key) => key.startsWith(`${choice} call `))
    for (const [key, channel] of this.#channels) {
      if (channel.choice !== choice || extended.has(key) || channel.delaysToEnd) continue
      if (isCalling && key.startsWith(`${choice} call `)) continue
      if (OUTPUT_FIELDS.some((name) => key === `${choice} ${name}`)) continue
      const rest = channel.filter.releaseAll()
      if (rest === "") continue
      channel.wasReleasedEarly = true
      this.#onReleased?.(key, rest)
      release(channel.wrap(rest))
    }
  }

  /** Ends the texts of a choice, or only its output, and releases what they delayed. */
  finish(choice: number, release: Release, onlyOutput = false): void {
    for (const [key, channel] of this.#channels) {
      if (channel.choice !== choice) continue
      if (onlyOutput && !OUTPUT_FIELDS.some((name) => key === `${choice} ${name}`)) continue
      this.#channels.delete(key)
      const rest = channel.filter.push("", true)
      if (rest === "") continue
      this.#onReleased?.(key, rest)
      release(channel.wrap(rest))
    }
  }
}
