import type { Json } from "../../../support/text/json.ts"
import type { Counts } from "../usage.ts"
import type { ServerCall } from "../thinking.ts"

/** Chunk fields that the upstream stream does not have. `created` is in Unix seconds; without it, chunks have none. */
export type ReadingFacts = { created?: number }

/** A content block that has not ended. */
export type OpenBlock =
  | { kind: "text"; startsAt: number; citations: readonly Json[] }
  | { kind: "thinking"; detailIndex: number }
  | { kind: "tool"; callIndex: number; input: unknown; hasArguments: boolean }
  | { kind: "server tool"; id: string; name: string; input: unknown; encoded: string }
  | { kind: "other" }

export type MessagesReading = {
  readonly facts: ReadingFacts
  /** `over`: `message_stop` was received. `failed`: an error ended the stream. */
  readonly phase: "new" | "under way" | "over" | "failed"
  readonly id: string | null
  readonly model: string | null
  /** Unfinished blocks by the provider's index. */
  readonly blocks: ReadonlyMap<number, OpenBlock>
  /** Calls of server tools without a result so far. */
  readonly serverCalls: readonly ServerCall[]
  /** Number of tool calls, reasoning details and UTF-16 units of text so far. */
  readonly calls: number
  readonly details: number
  readonly length: number
  readonly counts: Counts
  /** A usage count was received and not reported in a chunk yet. */
  readonly isCountNew: boolean
  /** `length` when output tokens were last counted. */
  readonly countedLength: number
  readonly serviceTier: string | null
}

/** One step of the state machine: a copy of the state to change, and the chunks that the step emits. */
export type Turn = { state: { -readonly [Key in keyof MessagesReading]: MessagesReading[Key] }; chunks: Json[] }

export function pushDelta(turn: Turn, delta: Json, finishReason: string | null = null, further: Json = {}): void {
  pushChunk(turn, { choices: [{ index: 0, delta, finish_reason: finishReason, ...further }] })
}

export function pushChunk({ state, chunks }: Turn, fields: Json): void {
  const { id, model, facts } = state
  chunks.push({
    ...(id !== null && { id }),
    object: "chat.completion.chunk",
    ...(facts.created !== undefined && { created: facts.created }),
    ...(model !== null && { model }),
    ...fields,
  })
}
