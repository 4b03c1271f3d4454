import type { Json } from "../../../support/text/json.ts"
import type { MessagesEvent } from "../schemas.ts"
import type { Draft } from "./drafts.ts"

/** Data known before the response starts. */
export type MessageFacts = {
  id: string
  model: string
  /** Estimated prompt tokens for `message_start`, which comes before most providers report the usage. */
  promptEstimate?: number
  /** Returns the unique part of an id for a call without one. */
  newId: () => string
  /** Names of tools that the chat request replaced, by their replacement. */
  toolNames?: ReadonlyMap<string, string>
}

/** `code` is an HTTP status. */
export type MessageFailure = { code: number; message: string }

export type EventState = {
  readonly facts: MessageFacts
  readonly phase: "new" | "under way" | "over"
  /** Parts of the response in the order in which they started. */
  readonly drafts: readonly Draft[]
  /** The draft being emitted, and whether its block has started. Later drafts wait: blocks must not overlap. */
  readonly head: number
  readonly isBegun: boolean
  /** The index of the next block. */
  readonly index: number
  readonly finishReason: string | null
  readonly nativeReason: string | null
  readonly stopSequence: string | null
  readonly stopDetails: Json | null
  readonly failure: MessageFailure | null
  readonly usage: unknown
  readonly metadata: Json
}

/** One step of the state machine: a copy of the state to change, and the events that the step emits. */
export type Turn = { state: { -readonly [Key in keyof EventState]: EventState[Key] }; events: MessagesEvent[] }

export function newTurn(state: EventState): Turn {
  return { state: { ...state }, events: [] }
}

export function emit({ events }: Turn, type: string, fields: Json = {}): void {
  events.push({ type, ...fields })
}

export function addDraft({ state }: Turn, draft: Draft): void {
  state.drafts = [...state.drafts, draft]
}

export function replaceDraft({ state }: Turn, at: number, draft: Draft): void {
  state.drafts = state.drafts.with(at, draft)
}
