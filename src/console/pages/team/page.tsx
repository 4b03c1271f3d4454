import "./team.css"
import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate } from "../../api/query.ts"
import type { Workspace } from "../../api/types.ts"
import { Page } from "../../shell/page.tsx"
import { may, session } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { TextField } from "../../ui/field.tsx"
import { Loaded } from "../../ui/states.tsx"
import { currentTab, Tabs } from "../../ui/tabs.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"
import { Members } from "./members.tsx"
import { WorkspaceCard } from "./workspace-card.tsx"

const TABS = [
  { id: "members", label: "Members" },
  { id: "workspaces", label: "Workspaces and budgets" },
]

export default function TeamPage() {
  const list = useAll<Workspace>("/workspaces")
  const [isMaking, setMaking] = useState(false)
  const hasWorkspaces = currentTab(TABS) === "workspaces"
  return (
    <Page
      title="Team"
      crumb={<bdi>{session.value?.organization?.name ?? "Organization"}</bdi>}
      controls={
        hasWorkspaces &&
        may("workspaces:write") && (
          <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
            New workspace
          </Button>
        )
      }
    >
      <div class="stack">
        <Tabs label="Team" tabs={TABS} />
        {hasWorkspaces ? (
          <Loaded query={list}>
            {({ data }) => (
              <div class="stack wide">
                {data.map((workspace) => (
                  <WorkspaceCard key={workspace.id} workspace={workspace} isOnly={data.length === 1} />
                ))}
              </div>
            )}
          </Loaded>
        ) : (
          <Members />
        )}
      </div>
      {isMaking && <NewWorkspace onClose={() => setMaking(false)} />}
    </Page>
  )
}

const toSlug = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")

function NewWorkspace({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("")
  const { busy, error, submit } = useSubmit(async () => {
    await api("/workspaces", { method: "POST", body: { name, slug: toSlug(name) } })
    toast("good", `${name} created`)
    invalidate("/workspaces")
    onClose()
  })
  return (
    <Dialog title="New workspace" onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={submit}>
        <TextField
          label="Name"
          hint={name === "" ? "It has separate keys, budgets, guardrails and presets." : `In paths: ${toSlug(name)}`}
          value={name}
          onChange={setName}
          required
          autoFocus
        />
        <FormEnd
          fault={error?.message}
          action="Create workspace"
          busy={busy}
          disabled={toSlug(name) === ""}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}
