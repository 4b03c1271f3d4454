import { signal } from "@preact/signals"
import type { Column, Run, Settings } from "./types.ts"

/** Conversations stored only in this browser. */
type SavedReply = Pick<
  Run,
  "text" | "reasoning" | "toolCalls" | "promptTokens" | "completionTokens" | "cost" | "generationId"
>
export type Conversation = {
  id: string
  at: number
  settings: Partial<Settings>
  columns: { model: string; turns: { text: string; images: string[]; answer: SavedReply }[] }[]
}

const NAME = "console.playground.history"
const MAX_CONVERSATIONS = 40
/** Browsers allow about five million characters per origin. */
const MAX_CHARACTERS = 2_000_000

function read(): Conversation[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(NAME) ?? "[]")
    return Array.isArray(stored) ? stored : []
  } catch {
    return []
  }
}

export const conversations = signal<readonly Conversation[]>(read())
let current: string | null = null

export function startConversation(): void {
  current = null
}

function write(list: readonly Conversation[]): void {
  let kept = list.slice(0, MAX_CONVERSATIONS)
  while (kept.length > 1 && JSON.stringify(kept).length > MAX_CHARACTERS) kept = kept.slice(0, -1)
  conversations.value = kept
  try {
    localStorage.setItem(NAME, JSON.stringify(kept))
  } catch {
    // The browser's storage is full or disabled: the list lasts as long as the page.
  }
}

/** The id of the shown conversation. Not a UUID: pages without TLS have no generator of them. */
export function conversationId(): string {
  current ??= `${Date.now()}-${Math.random().toString(36).slice(2)}`
  return current
}

export function saveConversation(id: string, columns: readonly Column[], settings: Settings): void {
  const conversation: Conversation = {
    id,
    at: Date.now(),
    settings,
    columns: columns.map(({ model, turns }) => ({
      model: model.value,
      // Images are too large to store; users attach them again.
      turns: turns.value.map(({ text, run }) => ({ text, images: [], answer: savedReplyOf(run.value) })),
    })),
  }
  write([conversation, ...conversations.value.filter((each) => each.id !== id)])
}

function savedReplyOf({
  text,
  reasoning,
  toolCalls,
  promptTokens,
  completionTokens,
  cost,
  generationId,
}: Run): SavedReply {
  return { text, reasoning, toolCalls, promptTokens, completionTokens, cost, generationId }
}

export function loadConversation(id: string): Conversation | undefined {
  current = id
  return conversations.value.find((each) => each.id === id)
}

export function deleteConversations(): void {
  current = null
  write([])
}

/** Length of the next call's prompt, in characters. */
export function charactersIn(column: Column, settings: Settings, text: string): number {
  const before = column.turns.value.reduce((sum, turn) => sum + turn.text.length + turn.run.value.text.length, 0)
  return settings.system.length + before + text.length
}

type Shared = { models: string[]; settings: Partial<Settings>; text?: string }

/** Models and settings as text for a link, without a key; the question is included only if that was chosen. */
export function toLink(columns: readonly Column[], settings: Settings, text: string | undefined): string {
  const changed = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== "" && value !== false))
  const shared: Shared = {
    models: columns.map(({ model }) => model.value),
    settings: changed,
    ...(text !== undefined && { text }),
  }
  const bytes = new TextEncoder().encode(JSON.stringify(shared))
  const base64 = btoa(String.fromCodePoint(...bytes))
  return `/playground?s=${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`
}

export function fromLink(text: string): Shared | undefined {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"))
    const json = new TextDecoder().decode(Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0))
    const shared = JSON.parse(json) as Partial<Shared>
    if (!Array.isArray(shared.models)) return undefined
    return {
      models: shared.models.filter((model) => typeof model === "string").slice(0, 4),
      settings: typeof shared.settings === "object" ? shared.settings : {},
      ...(typeof shared.text === "string" && { text: shared.text }),
    }
  } catch {
    return undefined
  }
}
