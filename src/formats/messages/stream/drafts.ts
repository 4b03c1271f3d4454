import type { ServerCall } from "../thinking.ts"

/** Parts of a response while it streams. `pending` was received and is not emitted yet. */

export type TextDraft = { kind: "text"; pending: string }

export type ThinkingDraft = {
  kind: "thinking"
  type: "reasoning.text" | "reasoning.summary"
  pending: string
  signature: string | null
  format: string | null
  id: string | null
  /** Index at the provider. */
  index: number | null
}

/** Opaque data, which is never split. */
export type SealedDraft = { kind: "sealed"; data: string }

export type ServerDraft = { kind: "server tool"; call: ServerCall }

export type CallDraft = {
  kind: "call"
  pending: string
  /** Index and id at the provider; the client receives `callId`, which is unique in the response. */
  index: number | null
  upstreamId: string | null
  callId: string
  name: string
  arguments: string
}

export type Draft = TextDraft | ThinkingDraft | SealedDraft | ServerDraft | CallDraft
