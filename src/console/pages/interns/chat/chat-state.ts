import { ApiError, call } from "../../../api/client.ts"
import { incompleteStreamError, readFrames } from "../../../api/events.ts"
import type { Question, TranscriptEntry } from "../../../api/account-types.ts"
import { readSteps } from "./steps.ts"

export type Message = {
  id: number
  role: "user" | "intern"
  text: string
  reasoning: string
  /** Calls of tools within it. */
  steps: readonly TranscriptEntry[]
}
export type Pending = { id: string; question: Question; deadline: number }

export type Chat = {
  messages: readonly Message[]
  session: string | null
  pending: Pending | null
  /** Id of the message that a turn streams. */
  running: number | null
  error: string | null
}

export const EMPTY_CHAT: Chat = { messages: [], session: null, pending: null, running: null, error: null }

const STEPS_MS = 2_000

type Delta = {
  content?: string
  reasoning?: string
  tool_calls?: { id: string; function: { arguments: string } }[]
}
type Chunk = {
  choices: { delta: Delta; finish_reason: string | null }[]
  session_id?: string | null
  error?: { message: string }
}

/**
 * Sends messages to an intern and streams its response into the chat. A question can be answered before the response
 * that sent it has ended, so two turns may overlap: each changes only its message, and `running` only while it is the
 * newest. False if the intern did not receive the messages.
 */
export async function runTurn(
  internId: string,
  body: Record<string, unknown>,
  update: (change: (chat: Chat) => Chat) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const reply: Message = { id: nextId(), role: "intern", text: "", reasoning: "", steps: [] }
  update((chat) => ({ ...chat, running: reply.id, pending: null, error: null, messages: [...chat.messages, reply] }))
  const grow = (change: (message: Message) => Message) =>
    update((chat) => ({ ...chat, messages: chat.messages.map((one) => (one.id === reply.id ? change(one) : one)) }))
  const updateNewest = (change: (chat: Chat) => Chat) =>
    update((chat) => (chat.running === reply.id ? change(chat) : chat))
  let session = typeof body["session_id"] === "string" ? body["session_id"] : null
  const readAlong = async () => {
    if (session === null) return
    const steps = await readSteps(internId, session)
    if (steps.length > 0) grow((one) => ({ ...one, steps }))
  }
  // One read at a time: an earlier one that takes longer would overwrite its steps.
  let reading: Promise<void> | undefined
  const readOnce = () => (reading ??= readAlong().finally(() => (reading = undefined)))
  const timer = setInterval(() => void readOnce(), STEPS_MS)
  let isSent = false
  let isComplete = false
  try {
    const request = { stream: true, approval_mode: "manual", ...body }
    const path = `/interns/${internId}/chat/completions`
    const response = await call(path, { method: "POST", body: request, signal })
    isSent = true
    for await (const { data } of readFrames(response)) {
      isComplete = data === "[DONE]"
      if (isComplete) break
      const chunk = JSON.parse(data) as Chunk
      const delta = chunk.choices[0]?.delta
      if (delta?.content !== undefined || delta?.reasoning !== undefined) {
        const { content = "", reasoning = "" } = delta
        grow((one) => ({ ...one, text: one.text + content, reasoning: one.reasoning + reasoning }))
      }
      const toolCall = delta?.tool_calls?.[0]
      if (toolCall) {
        const pending = toPending(toolCall.id, toolCall.function.arguments)
        update((chat) => ({ ...chat, pending }))
      }
      session = chunk.session_id ?? session
      if (chunk.session_id) update((chat) => ({ ...chat, session: chunk.session_id ?? chat.session }))
      if (chunk.error) updateNewest((chat) => ({ ...chat, error: chunk.error?.message ?? null }))
    }
    if (!isComplete) updateNewest((chat) => ({ ...chat, error: chat.error ?? incompleteStreamError().message }))
  } catch (thrown) {
    if (!signal.aborted) updateNewest((chat) => ({ ...chat, error: ApiError.fromThrown(thrown).message }))
  } finally {
    clearInterval(timer)
    await reading
    await readOnce()
    update((chat) => ({ ...chat, messages: chat.messages.filter((one) => one.id !== reply.id || hasContent(one)) }))
    updateNewest((chat) => ({ ...chat, running: null }))
  }
  return isSent || signal.aborted
}

function hasContent({ text, reasoning, steps }: Message): boolean {
  return text !== "" || reasoning !== "" || steps.length > 0
}

function toPending(id: string, text: string): Pending {
  const question = JSON.parse(text) as Question & { expires_at: string }
  return { id, question, deadline: Date.parse(question.expires_at) }
}

let lastId = 0
export function nextId(): number {
  lastId += 1
  return lastId
}

/** The messages that answer a question of a session. */
export function answerBody(session: string | null, id: string, content: string): Record<string, unknown> {
  return {
    session_id: session,
    messages: [
      {
        role: "assistant",
        tool_calls: [{ id, type: "function", function: { name: "service.provide_input", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content },
    ],
  }
}
