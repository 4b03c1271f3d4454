import { afterEach, expect, test, vi } from "vitest"
import { Conversation } from "../../../src/console/pages/interns/chat/conversation.ts"
import { answerBody, type Chat, EMPTY_CHAT, runTurn } from "../../../src/console/pages/interns/chat/chat-state.ts"

afterEach(() => void vi.unstubAllGlobals())

/** A chat with an intern, whose responses the test streams, in the order of its turns. */
function newChat() {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = []
  vi.stubGlobal("fetch", (url: string) => {
    if (url.includes("/sessions/")) return Promise.resolve(Response.json({ data: [], has_more: false }))
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void streams.push(controller) })
    return Promise.resolve(new Response(body))
  })
  let chat: Chat = EMPTY_CHAT
  const update = (change: (now: Chat) => Chat) => void (chat = change(chat))
  return {
    now: () => chat,
    texts: () => chat.messages.map(({ text }) => text),
    turn: (body: Record<string, unknown>) => runTurn("scout", body, update, new AbortController().signal),
    send: (turn: number, delta: object) => {
      const frame = `data: ${JSON.stringify({ session_id: "s1", choices: [{ delta }] })}\n\n`
      streams[turn]?.enqueue(new TextEncoder().encode(frame))
    },
    end: (turn: number) => {
      streams[turn]?.enqueue(new TextEncoder().encode("data: [DONE]\n\n"))
      streams[turn]?.close()
    },
    cut: (turn: number) => streams[turn]?.close(),
  }
}

const question = { kind: "permission", options: ["allow_once"], expires_at: "2026-01-01T00:00:00Z" }
const asks = { tool_calls: [{ id: "q1", function: { arguments: JSON.stringify(question) } }] }

test("a question that is answered before its response has ended keeps the response to the answer", async () => {
  const chat = newChat()
  const first = chat.turn({ messages: [{ role: "user", content: "Run it" }] })
  await vi.waitFor(() => chat.send(0, asks))
  await vi.waitFor(() => expect(chat.now().pending?.id).toBe("q1"))
  const second = chat.turn(answerBody("s1", "q1", "allow_once"))
  chat.end(0)
  await first
  expect(chat.now()).toMatchObject({ running: chat.now().messages.at(-1)?.id, pending: null, error: null })
  await vi.waitFor(() => chat.send(1, { content: "Done." }))
  chat.end(1)
  await second
  expect(chat.texts()).toEqual(["Done."])
  expect(chat.now().running).toBeNull()
})

test("a response without content leaves no message", async () => {
  const chat = newChat()
  const turn = chat.turn({ messages: [] })
  await vi.waitFor(() => chat.send(0, {}))
  chat.end(0)
  await turn
  expect(chat.now()).toMatchObject({ messages: [], running: null, session: "s1" })
})

test("a response that ends early is an error, and the intern received the message", async () => {
  const chat = newChat()
  const turn = chat.turn({ messages: [] })
  await vi.waitFor(() => chat.send(0, { content: "Half of" }))
  chat.cut(0)
  expect(await turn).toBe(true)
  expect(chat.now()).toMatchObject({ running: null, error: expect.stringMatching("connection was lost") })
  expect(chat.texts()).toEqual(["Half of"])
})

test("a message that does not reach the intern returns to the composer, and a question stays open", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")))
  const conversation = new Conversation("scout", null)
  await conversation.send("Run it")
  expect(conversation.draft.value).toBe("Run it")
  expect(conversation.chat.value).toMatchObject({ messages: [], error: expect.stringMatching("cannot be reached") })
  const pending = { id: "q1", question: { kind: "elicitation" as const, message: "Which?", fields: [] }, deadline: 0 }
  conversation.update((chat) => ({ ...chat, pending }))
  await conversation.answer(pending, "Answered", answerBody("s1", "q1", "{}"))
  expect(conversation.chat.value).toMatchObject({ messages: [], pending })
  conversation.closeQuestion("q1", "Too late.")
  expect(conversation.chat.value).toMatchObject({ pending: null, error: "Too late." })
})
