import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import type { Intern, OpenQuestion, TranscriptPage } from "../../api/account-types.ts"
import { invalidate, useGet } from "../../api/query.ts"
import { query } from "../../state/router.ts"
import { Button } from "../../ui/button.tsx"
import { LateMarkdown } from "../../ui/late-markdown.tsx"
import { answerBody, type Chat, EMPTY_CHAT, type Message, nextId, runTurn } from "./chat-state.ts"
import { QuestionPanel } from "./question-panel.tsx"
import { ToolStep } from "./sessions/tool-step.tsx"
import { Transcript } from "./sessions/transcript.tsx"

/** Interval of reading the intern's state while its first message starts it. */
const STATUS_MS = 1_000

/** States that accept messages; the first message to an intern that was never started starts it. */
const TAKES_MESSAGES = new Set<Intern["status"]>(["running", "queued"])

/** A conversation with an intern, which stores it; `?session=` continues one. */
export function ChatView({ intern }: { intern: Intern }) {
  const requested = query.value.get("session")
  const [chat, setChat] = useState<Chat>({ ...EMPTY_CHAT, session: requested })
  const abort = useRef<AbortController>(null)
  const listed = useGet<{ data: OpenQuestion[] }>(requested === null ? null : "/questions")
  const waiting = listed.data?.data.find(
    ({ intern: { id }, session_id: session }) => id === intern.id && session === requested,
  )
  useEffect(() => {
    if (!waiting) return
    const pending = { id: waiting.id, question: waiting.question, deadline: Date.parse(waiting.deadline) }
    setChat((now) => (now.pending || now.running !== null || now.messages.length > 0 ? now : { ...now, pending }))
  }, [waiting])
  const earlier = useGet<TranscriptPage>(
    requested === null ? null : `/interns/${intern.id}/sessions/${encodeURIComponent(requested)}?limit=200`,
  )
  useEffect(() => () => abort.current?.abort(), [])
  const isStartedHere = chat.messages.length > 0 && intern.status === "queued"
  useEffect(() => {
    if (!isStartedHere) return undefined
    const timer = setInterval(() => invalidate(`/interns/${intern.id}`), STATUS_MS)
    return () => clearInterval(timer)
  }, [isStartedHere, intern.id])
  const run = useCallback(
    (body: Record<string, unknown>) => {
      abort.current = new AbortController()
      void runTurn(intern.id, body, setChat, abort.current.signal)
    },
    [intern.id],
  )
  const send = (text: string) => {
    const message: Message = { id: nextId(), role: "user", text, reasoning: "", steps: [] }
    setChat((now) => ({ ...now, messages: [...now.messages, message] }))
    run({ messages: [{ role: "user", content: text }], ...(chat.session !== null && { session_id: chat.session }) })
  }
  const { session, pending } = chat
  const answer = useCallback(
    (content: string, label: string) => {
      if (!pending) return
      const message: Message = { id: nextId(), role: "user", text: label, reasoning: "", steps: [] }
      setChat((now) => ({ ...now, messages: [...now.messages, message] }))
      run(answerBody(session, pending.id, content))
    },
    [pending, session, run],
  )
  return (
    <div class="intern-chat">
      <div class="said" role="log" aria-label="Conversation" tabIndex={0}>
        {earlier.data && <Transcript entries={earlier.data.data} name={intern.name} />}
        {chat.messages.length === 0 && !pending && requested === null && (
          <p class="quiet">
            Ask {intern.name} something. It asks before it runs a command.
            {intern.status === "queued" && " The first message starts it."}
          </p>
        )}
        {chat.messages.map((message) => (
          <MessageView key={message.id} message={message} name={intern.name} isGrowing={message.id === chat.running} />
        ))}
        {chat.running !== null && !pending && (
          <p class="quiet" role="status">
            {intern.name} is working…
          </p>
        )}
      </div>
      {pending && <QuestionPanel key={pending.id} pending={pending} onAnswer={answer} />}
      {chat.error !== null && (
        <div class="notice bad" role="alert">
          {chat.error}
        </div>
      )}
      <Composer
        isRunning={chat.running !== null}
        isBlocked={pending !== null || !TAKES_MESSAGES.has(intern.status)}
        onSay={send}
        onStop={() => abort.current?.abort()}
      />
    </div>
  )
}

type MessageProps = { message: Message; name: string; isGrowing: boolean }

function MessageView({ message: { role, text, reasoning, steps }, name, isGrowing }: MessageProps) {
  return (
    <article class={`say ${role}`} aria-label={role === "user" ? "You" : name}>
      <span class="quiet small">{role === "user" ? "You" : name}</span>
      {reasoning !== "" && (
        <details class="fold">
          <summary>Reasoning</summary>
          <p class="quiet">{reasoning}</p>
        </details>
      )}
      {steps.map((entry) => (
        <ToolStep key={entry.n} entry={entry} />
      ))}
      {role === "user" ? <p dir="auto">{text}</p> : <LateMarkdown text={text} isGrowing={isGrowing} />}
    </article>
  )
}

type ComposerProps = { isRunning: boolean; isBlocked: boolean; onSay: (text: string) => void; onStop: () => void }

function Composer({ isRunning, isBlocked, onSay, onStop }: ComposerProps) {
  const [text, setText] = useState("")
  const send = () => {
    if (text.trim() === "" || isRunning || isBlocked) return
    onSay(text)
    setText("")
  }
  return (
    <form
      class="row nowrap"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        class="input grow"
        rows={2}
        aria-label="Message to the intern"
        placeholder={
          isBlocked
            ? "Available when the intern runs and no question is open"
            : "Message. Enter sends, Shift-Enter breaks the line."
        }
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      {isRunning ? (
        <Button icon="stop" label="Stop" onClick={onStop} />
      ) : (
        <Button type="submit" kind="primary" icon="send" label="Send" disabled={isBlocked || text.trim() === ""} />
      )}
    </form>
  )
}
