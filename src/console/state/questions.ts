import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { api } from "../api/client.ts"
import type { Frame } from "../api/events.ts"
import type { OpenQuestion } from "../api/account-types.ts"
import { listen } from "./events.ts"
import { navigate, path } from "./router.ts"
import { may, session } from "./session.ts"
import { toast } from "./toasts.ts"

/** Questions of interns that are open. */
export const openQuestions = signal<readonly OpenQuestion[]>([])

const AFTER_PAGE_MS = 500

export function questionHref({ intern, session_id: id }: OpenQuestion): string {
  return `/interns/${intern.id}?session=${encodeURIComponent(id)}`
}

/** The command that would run, or the text of the question. */
export function summaryOf({ question }: OpenQuestion): string {
  if (question.kind === "elicitation") return question.message
  return question.command ?? question.url ?? question.operation ?? "an operation"
}

/** Updates the open questions while the frame is shown, and announces new ones. */
export function useQuestions(): void {
  const key = session.value?.key.hash
  const isAllowed = may("interns:read")
  useEffect(() => {
    if (!isAllowed) return undefined
    let stop = () => {}
    void read(() => {})
    // The page loads first: browsers have six connections to a host, and a stream occupies one.
    const timer = setTimeout(() => {
      stop = follow()
    }, AFTER_PAGE_MS)
    return () => {
      clearTimeout(timer)
      stop()
      openQuestions.value = []
    }
  }, [key, isAllowed])
}

/** Number of changes by events: a list that was read during one may be older than it. */
let changes = 0

/** Loads the open questions; `onNew` receives the new ones. */
async function read(onNew: (question: OpenQuestion) => void): Promise<void> {
  try {
    const before = changes
    const { data } = await api<{ data: OpenQuestion[] }>("/questions")
    if (before !== changes) return await read(onNew)
    const known = new Set(openQuestions.value.map(({ id }) => id))
    openQuestions.value = data
    for (const question of data) if (!known.has(question.id)) onNew(question)
  } catch {
    // The next event contains the question.
  }
}

function follow(): () => void {
  const onEvent = ({ event, data }: Frame) => {
    if (event !== "question") return
    changes += 1
    const question = JSON.parse(data) as OpenQuestion & { state: "open" | "closed" }
    const others = openQuestions.value.filter(({ id }) => id !== question.id)
    const isNew = others.length === openQuestions.value.length
    openQuestions.value = question.state === "open" ? [...others, question] : others
    if (question.state === "open" && isNew) announce(question)
  }
  // Events of questions that were created or closed before the connection, or while it was lost, do not follow.
  return listen(onEvent, (isLive) => {
    if (isLive) void read(announce)
  })
}

function announce(question: OpenQuestion): void {
  if (path.value === `/interns/${question.intern.id}`) return
  const action = { label: "Answer", run: () => navigate(questionHref(question)) }
  toast("warn", `${question.intern.name} asks a question`, action)
}
