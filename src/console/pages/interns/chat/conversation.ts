import { signal, type Signal } from "@preact/signals"
import type { TranscriptEntry } from "../../../api/account-types.ts"
import { type Chat, EMPTY_CHAT, type Message, nextId, type Pending, runTurn } from "./chat-state.ts"

/** A chat with an intern. It outlasts its page: a turn goes on, and is shown, when the user returns. */
export class Conversation {
  readonly chat: Signal<Chat>
  /** The message that is being written. */
  readonly draft = signal("")
  /** Entries of its session before this chat. */
  readonly earlier = signal<readonly TranscriptEntry[]>([])
  readonly #internId: string
  #abort = new AbortController()

  constructor(internId: string, session: string | null) {
    this.#internId = internId
    this.chat = signal({ ...EMPTY_CHAT, session })
  }

  readonly update = (change: (chat: Chat) => Chat): void => {
    this.chat.value = change(this.chat.peek())
  }

  stop(): void {
    this.#abort.abort()
  }

  /** Removes the messages; the next one continues the session. */
  clear(): void {
    this.stop()
    this.update(({ session }) => ({ ...EMPTY_CHAT, session }))
  }

  /** A message that does not reach the intern returns to the composer. */
  async send(text: string): Promise<void> {
    const { session } = this.chat.peek()
    const content = { messages: [{ role: "user", content: text }], ...(session !== null && { session_id: session }) }
    const { isSent, message } = await this.#sendPrompt(text, content)
    if (isSent) return
    this.#remove(message)
    if (this.draft.peek() === "") this.draft.value = text
  }

  /** A question whose answer does not reach the intern stays open. */
  async answer(pending: Pending, label: string, body: Record<string, unknown>): Promise<void> {
    const { isSent, message } = await this.#sendPrompt(label, body)
    if (isSent) return
    this.#remove(message)
    this.update((chat) => ({ ...chat, pending: chat.pending ?? pending }))
  }

  /** The question was answered elsewhere, or not in time. */
  closeQuestion(id: string, error: string | null): void {
    this.update((chat) => (chat.pending?.id === id ? { ...chat, pending: null, error: error ?? chat.error } : chat))
  }

  async #sendPrompt(text: string, body: Record<string, unknown>): Promise<{ isSent: boolean; message: Message }> {
    const message: Message = { id: nextId(), role: "user", text, reasoning: "", steps: [] }
    this.update((chat) => ({ ...chat, messages: [...chat.messages, message] }))
    this.#abort = new AbortController()
    const isSent = await runTurn(this.#internId, body, this.update, this.#abort.signal)
    return { isSent, message }
  }

  #remove({ id }: Message): void {
    this.update((chat) => ({ ...chat, messages: chat.messages.filter((one) => one.id !== id) }))
  }
}
