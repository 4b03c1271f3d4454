import "./interns.css"
import { useEffect, useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { Intern } from "../../api/account-types.ts"
import { Page } from "../../shell/page.tsx"
import { navigate, type PageProps } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Loaded } from "../../ui/states.tsx"
import { currentTab, Tabs } from "../../ui/tabs.tsx"
import { Money, Time } from "../../ui/values.tsx"
import { ChatView } from "./chat.tsx"
import { CloneDialog } from "./clone-dialog.tsx"
import { Setup } from "./setup.tsx"
import { InternStatus, isStarting } from "./status.tsx"
import { TermsDialog } from "./terms-dialog.tsx"
import { Vault } from "./vault.tsx"

const TABS = [
  { id: "chat", label: "Chat" },
  { id: "vault", label: "Vault" },
  { id: "setup", label: "Daemon" },
  { id: "about", label: "About" },
]
const POLL_MS = 1_500

export default function InternPage({ params }: PageProps) {
  const path = `/interns/${params["id"] ?? ""}`
  const query = useGet<Intern>(path)
  const [isDeleting, setDeleting] = useState(false)
  const [isCloning, setCloning] = useState(false)
  const intern = query.data
  const isWaiting = intern !== undefined && isStarting(intern)
  useEffect(() => {
    if (!isWaiting) return undefined
    const timer = setInterval(query.refresh, POLL_MS)
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
                {intern.limit !== undefined && (
                  <Button icon="copy" onClick={() => setCloning(true)}>
                    Clone
                  </Button>
                )}
                <Button kind="danger" icon="trash" label="Delete" onClick={() => setDeleting(true)} />
                {intern.status === "running" ? (
                  <Button onClick={() => void act("suspend", "It is stopped; its files stay")}>Stop</Button>
                ) : (
                  <Button kind="primary" busy={isWaiting} onClick={() => void act("provision", "It starts")}>
                    Start
                  </Button>
                )}
              </>
            )}
          </>
        )
      }
    >
      <Loaded query={query}>
        {(data) => (
          <div class="stack">
            {data.last_failure_message !== null && (
              <div class="notice bad" role="alert">
                <strong>It could not start.</strong> {data.last_failure_message}
              </div>
            )}
            <Tabs label={data.name} tabs={TABS} />
            {tab === "chat" && <ChatView key={data.id} intern={data} />}
            {tab === "vault" && <Vault intern={data} />}
            {tab === "setup" && <Setup intern={data} />}
            {tab === "about" && <About intern={data} />}
          </div>
        )}
      </Loaded>
      {isCloning && intern && <CloneDialog intern={intern} onClose={() => setCloning(false)} />}
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

function About({ intern }: { intern: Intern }) {
  const [isEditing, setEditing] = useState(false)
  return (
    <div class="stack">
      {intern.limit !== undefined && may("interns:write") && (
        <div class="row">
          <Button icon="wrench" onClick={() => setEditing(true)}>
            Edit budget and tools
          </Button>
        </div>
      )}
      <Facts intern={intern} />
      {isEditing && <TermsDialog intern={intern} onClose={() => setEditing(false)} />}
    </div>
  )
}

function Facts({ intern }: { intern: Intern }) {
  return (
    <dl class="facts">
      <dt>Id</dt>
      <dd>
        <code>{intern.id}</code>
      </dd>
      <dt>Model</dt>
      <dd>{intern.model ?? "default of the workspace"}</dd>
      {intern.usage !== undefined && (
        <>
          <dt>Spent</dt>
          <dd>
            <Money value={intern.usage} /> in all, <Money value={intern.usage_daily ?? 0} /> today
          </dd>
        </>
      )}
      {intern.limit !== undefined && (
        <>
          <dt>Budget</dt>
          <dd>
            <Budget limit={intern.limit} remaining={intern.limit_remaining} period={intern.limit_reset ?? "in all"} />
          </dd>
          <dt>Budget a day</dt>
          <dd>
            <Budget limit={intern.daily_limit} remaining={intern.daily_limit_remaining} period="daily" />
          </dd>
        </>
      )}
      {intern.mcp_tools && (
        <>
          <dt>MCP tools</dt>
          <dd>{intern.mcp_tools.join(", ")}</dd>
        </>
      )}
      <dt>Hostname</dt>
      <dd>{intern.hostname ?? <span class="faint">none yet</span>}</dd>
      <dt>Description</dt>
      <dd>{intern.description ?? <span class="faint">–</span>}</dd>
      <dt>Instructions</dt>
      <dd class="instructions">{intern.instructions ?? <span class="faint">–</span>}</dd>
      <dt>Made</dt>
      <dd>
        <Time at={intern.created_at} />
      </dd>
      <dt>Its calls</dt>
      <dd>
        <a href={`/calls?q=${encodeURIComponent(intern.name)}`}>calls with its key</a>
      </dd>
    </dl>
  )
}

type Limit = { limit: number | null | undefined; remaining: number | null | undefined; period: string }

function Budget({ limit, remaining, period }: Limit) {
  if (limit === null || limit === undefined) return <span class="faint">none of its own</span>
  return (
    <>
      <Money value={remaining ?? 0} /> left of <Money value={limit} />, {period}
    </>
  )
}
