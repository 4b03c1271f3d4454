import "./interns.css"
import { useEffect, useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { Intern } from "../../api/account-types.ts"
import { useEscape } from "../../shell/keyboard.ts"
import { Page } from "../../shell/page.tsx"
import type { PageProps } from "../../state/paths.ts"
import { openQuestions, questionHref, summaryOf } from "../../state/questions.ts"
import { navigate, query } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Loaded } from "../../ui/states.tsx"
import { currentTab, Tabs } from "../../ui/tabs.tsx"
import { TimeLeft } from "../../ui/time-left.tsx"
import { About } from "./about.tsx"
import { ChatView } from "./chat/chat.tsx"
import { conversationOf } from "./chat/conversations.ts"
import { Events } from "./events.tsx"
import { Files } from "./files.tsx"
import { Schedules } from "./schedules/schedules.tsx"
import { Sessions } from "./sessions/sessions.tsx"
import { Setup } from "./setup.tsx"
import { InternStatus, isStarting } from "./status.tsx"
import { Vault } from "./vault.tsx"

const TABS = [
  { id: "chat", label: "Chat" },
  { id: "sessions", label: "Sessions" },
  { id: "files", label: "Files" },
  { id: "schedules", label: "Schedules" },
  { id: "vault", label: "Vault" },
  { id: "events", label: "Events" },
  { id: "setup", label: "Daemon" },
  { id: "about", label: "About" },
]
const POLL_MS = 1_500

/** The open question of another conversation than the one that is shown. */
function OtherQuestion({ intern }: { intern: Intern }) {
  const isChat = currentTab(TABS) === "chat"
  const shown = isChat ? query.value.get("session") : null
  const question = openQuestions.value.find(({ intern: { id }, session_id: of }) => id === intern.id && of !== shown)
  // A conversation that began here shows its questions itself.
  if (!question || (isChat && conversationOf(intern.id, shown).chat.value.pending?.id === question.id)) return null
  return (
    <div class="notice warn" role="status">
      <div class="row">
        <strong>It asks:</strong>
        <code class="truncate grow">{summaryOf(question)}</code>
        <TimeLeft deadline={Date.parse(question.deadline)} />
        <Button size="small" kind="primary" href={questionHref(question)}>
          Answer
        </Button>
      </div>
    </div>
  )
}

export default function InternPage({ params }: PageProps) {
  const path = `/interns/${params["id"] ?? ""}`
  const record = useGet<Intern>(path)
  const [isDeleting, setDeleting] = useState(false)
  useEscape(() => navigate("/interns"), [])
  const intern = record.data
  const isWaiting = intern !== undefined && isStarting(intern)
  useEffect(() => {
    if (!isWaiting) return undefined
    const timer = setInterval(record.refresh, POLL_MS)
    return () => clearInterval(timer)
  }, [isWaiting, path])
  const act = async (action: "provision" | "suspend", text: string) => {
    await attempt(() => api(`${path}/${action}`, { method: "POST" }), text)
    invalidate("/interns")
  }
  const remove = async () => {
    const body = { acknowledge_workspace_loss: true }
    if (!(await attempt(() => api(path, { method: "DELETE", body }), "The intern is being deleted"))) return
    invalidate("/interns")
    navigate("/interns")
  }
  const tab = currentTab(TABS)
  return (
    <Page
      title={intern?.name ?? "Intern"}
      crumb={<a href="/interns">Interns</a>}
      controls={
        intern && (
          <>
            <InternStatus intern={intern} />
            {may("interns:write") && (
              <>
                <Button kind="danger" onClick={() => setDeleting(true)}>
                  Delete
                </Button>
                {intern.status === "running" ? (
                  <Button onClick={() => act("suspend", "Stopped. Its files are kept")}>Stop</Button>
                ) : (
                  <Button kind="primary" busy={isWaiting} onClick={() => act("provision", "It starts")}>
                    Start
                  </Button>
                )}
              </>
            )}
          </>
        )
      }
    >
      <Loaded query={record}>
        {(data) => (
          <div class="stack">
            {data.last_failure_message !== null && (
              <div class="notice bad" role="alert">
                <strong>It could not start.</strong> {data.last_failure_message}
              </div>
            )}
            <OtherQuestion intern={data} />
            <Tabs label={data.name} tabs={TABS} />
            {tab === "chat" && <ChatView intern={data} />}
            {tab === "sessions" && <Sessions intern={data} />}
            {tab === "files" && <Files intern={data} />}
            {tab === "schedules" && <Schedules intern={data} />}
            {tab === "vault" && <Vault intern={data} />}
            {tab === "events" && <Events intern={data} />}
            {tab === "setup" && <Setup intern={data} />}
            {tab === "about" && <About intern={data} />}
          </div>
        )}
      </Loaded>
      {isDeleting && intern && (
        <ConfirmDialog
          title={`Delete ${intern.name}?`}
          action="Delete"
          name={intern.name}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>Its files, conversations, vault and key are deleted. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </Page>
  )
}
