import { useCallback, useEffect, useLayoutEffect, useRef } from "preact/hooks"
import type { Intern, OpenQuestion, TranscriptPage } from "../../../api/account-types.ts"
import { api } from "../../../api/client.ts"
import { invalidate, useGet } from "../../../api/query.ts"
import { openQuestions } from "../../../state/questions.ts"
import { navigate, query, setQuery } from "../../../state/router.ts"
import { Button } from "../../../ui/button.tsx"
import { LateMarkdown } from "../../../ui/text/late-markdown.tsx"
import { answerBody, type Message } from "./chat-state.ts"
import type { Conversation } from "./conversation.ts"
import { beginConversation, conversationOf, nameConversation } from "./conversations.ts"
import { QuestionPanel } from "./question-panel.tsx"
import { ToolStep } from "../sessions/tool-step.tsx"
import { Transcript } from "../sessions/transcript.tsx"

/** Interval of reading the intern's state while its first message starts it. */
const STATUS_MS = 1_000

/** States that accept messages; the first message to an intern that was never started starts it. */
const TAKES_MESSAGES = new Set<Intern["status"]>(["running", "queued"])

/** A conversation with an intern, which stores it; `?session=` continues one. */
export function ChatView({ intern }: { intern: Intern }) {
  const requested = query.value.get("session")
  const conversation = conversationOf(intern.id, requested)
  const chat = conversation.chat.value
  useOpenQuestion(conversation, intern.id, requested)
  useEarlier(conversation, intern.id, requested)
  const isStartedHere = chat.messages.length > 0 && intern.status === "queued"
  useEffect(() => {
    if (!isStartedHere) return undefined
    const timer = setInterval(() => invalidate(`/interns/${intern.id}`), STATUS_MS)
    return () => clearInterval(timer)
  }, [isStartedHere, intern.id])
  const { session, pending } = chat
  const answer = useCallback(
    (content: string, label: string) => {
      if (pending) void conversation.answer(pending, label, answerBody(session, pending.id, content))
    },
    [pending, session, conversation],
  )
  const earlier = conversation.earlier.value
  const isBegun = chat.messages.length > 0 || requested !== null
  // A reload continues the conversation.
  useEffect(() => {
    if (session === null || requested !== null) return
    nameConversation(intern.id, session, conversation)
    setQuery({ session })
  }, [session, requested, conversation, intern.id])
  const begin = () => {
    beginConversation(intern.id)
    navigate(`/interns/${intern.id}`)
  }
  return (
    <div class="intern-chat">
      <div class="said" role="log" aria-label="Conversation" tabIndex={0}>
        {earlier.length > 0 && <Transcript entries={earlier} name={intern.name} />}
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
        conversation={conversation}
        isRunning={chat.running !== null}
        isBlocked={pending !== null || !TAKES_MESSAGES.has(intern.status)}
      />
      {isBegun && chat.running === null && (
        <div>
          <Button size="small" kind="quiet" icon="plus" onClick={begin}>
            New conversation
          </Button>
        </div>
      )}
    </div>
  )
}

/** The open question of a continued session. A question that is closed elsewhere or too late is no longer shown. */
function useOpenQuestion(conversation: Conversation, internId: string, requested: string | null): void {
  const { pending } = conversation.chat.value
  useEffect(() => {
    if (requested === null) return undefined
    let isGone = false
    // Not from the cache: a question that was just answered would be shown again.
    const show = async () => {
      const { data } = await api<{ data: OpenQuestion[] }>("/questions")
      const open = data.find(({ intern, session_id: session }) => intern.id === internId && session === requested)
      if (!open || isGone) return
      const found = { id: open.id, question: open.question, deadline: Date.parse(open.deadline) }
      conversation.update((now) =>
        now.pending || now.running !== null || now.messages.length > 0 ? now : { ...now, pending: found },
      )
    }
    void show().catch(() => {})
    return () => {
      isGone = true
    }
  }, [conversation, internId, requested])
  const isListed = openQuestions.value.some(({ id }) => id === pending?.id)
  const wasListed = useRef<string>(undefined)
  useEffect(() => {
    if (!pending) return
    if (isListed) wasListed.current = pending.id
    else if (wasListed.current === pending.id) conversation.closeQuestion(pending.id, null)
  }, [pending, isListed, conversation])
  useEffect(() => {
    if (!pending) return undefined
    // The clock of this computer may be wrong: the gateway knows whether the question is open.
    const check = async () => {
      const { data } = await api<{ data: OpenQuestion[] }>("/questions")
      if (!data.some(({ id }) => id === pending.id)) conversation.closeQuestion(pending.id, TOO_LATE)
    }
    const timer = setInterval(() => {
      if (Date.now() >= pending.deadline) void check().catch(() => {})
    }, DEADLINE_MS)
    return () => clearInterval(timer)
  }, [pending, conversation])
}

const TOO_LATE = "The question was not answered in time: its run ended."
const DEADLINE_MS = 3_000

/** Entries of a continued session, until a message follows them here: then they would be shown twice. */
function useEarlier(conversation: Conversation, internId: string, requested: string | null): void {
  const isBegun = conversation.chat.value.messages.length > 0
  const path = `/interns/${internId}/sessions/${encodeURIComponent(requested ?? "")}?limit=200`
  // The gateway's transcript of a turn that has ended includes what other clients added.
  useLayoutEffect(() => {
    const { running, error } = conversation.chat.peek()
    if (requested === null || running !== null || error !== null) return
    conversation.clear()
    invalidate(path)
  }, [conversation])
  const { data } = useGet<TranscriptPage>(requested === null || isBegun ? null : path)
  useLayoutEffect(() => {
    if (data && !isBegun) conversation.earlier.value = data.data
  }, [data, isBegun, conversation])
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

type ComposerProps = { conversation: Conversation; isRunning: boolean; isBlocked: boolean }

function Composer({ conversation, isRunning, isBlocked }: ComposerProps) {
  const { draft } = conversation
  const text = draft.value
  const send = () => {
    if (text.trim() === "" || isRunning || isBlocked) return
    draft.value = ""
    void conversation.send(text)
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
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      {isRunning ? (
        <Button icon="stop" onClick={() => conversation.stop()}>
          Stop answering
        </Button>
      ) : (
        <Button type="submit" kind="primary" icon="send" disabled={isBlocked || text.trim() === ""}>
          Send
        </Button>
      )}
    </form>
  )
}
