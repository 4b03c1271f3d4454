import { useState } from "preact/hooks"
import { api, withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { List, Workspace } from "../../api/types.ts"
import { plural } from "../../format/number.ts"
import { may } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { type Budget, BudgetStrip } from "../../ui/charts/budget-strip.tsx"
import { Check } from "../../ui/field.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Aliases } from "./aliases.tsx"
import { WorkspaceLimits } from "./workspace-limits.tsx"

type WorkspaceMember = { user_id: string; role: string }

/** A workspace: budgets, members and content logging. */
export function WorkspaceCard({ workspace, isOnly }: { workspace: Workspace; isOnly: boolean }) {
  const path = `/workspaces/${workspace.id}`
  const members = useAll<WorkspaceMember>(`${path}/members`)
  const [isDeleting, setDeleting] = useState(false)
  const patch = async (body: Record<string, unknown>, text: string) => {
    await attempt(() => api(path, { method: "PATCH", body }), text)
    invalidate("/workspaces")
  }
  const remove = async () => {
    await attempt(() => api(path, { method: "DELETE" }), `${workspace.name} is deleted`)
    invalidate("/workspaces")
  }
  const isLogging = workspace.is_observability_io_logging_enabled
  return (
    <section class="stack workspace-card" aria-label={workspace.name}>
      <div class="row between">
        <h2>
          {workspace.name} <code class="quiet small">{workspace.slug}</code>
        </h2>
        <span class="quiet nowrap">{members.data && plural(members.data.data.length, "member")}</span>
      </div>
      <Budgets path={`${path}/budgets`} />
      {may("workspaces:write") && <WorkspaceLimits workspace={workspace} />}
      <Aliases workspace={workspace} />
      <div class="row between">
        <Check
          label="Log prompts and completions of its calls"
          checked={isLogging}
          onChange={(checked) =>
            void patch(
              { is_observability_io_logging_enabled: checked },
              checked ? "Content is logged from the next call" : "Content is no longer logged",
            )
          }
        />
        {!isOnly && may("workspaces:write") && (
          <Button size="small" kind="danger" onClick={() => setDeleting(true)}>
            Delete
          </Button>
        )}
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${workspace.name}?`}
          action="Delete"
          name={workspace.slug}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>
            <Contents workspaceId={workspace.id} /> Its interns and files are deleted, too. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </section>
  )
}

const COUNTED = ["/keys", "/presets", "/guardrails"] as const

/** Effect of a deletion, with numbers once they are loaded. */
function Contents({ workspaceId }: { workspaceId: string }) {
  const [keys, presets, guardrails] = COUNTED.map(
    (path) => useGet<List<unknown>>(withParams(path, { workspace_id: workspaceId, limit: 1 })).data?.total_count,
  )
  if (keys === undefined || presets === undefined || guardrails === undefined)
    return <>Its keys stop working at once; its presets and guardrails are deleted.</>
  return (
    <>
      {plural(keys, "key")} {keys === 1 ? "stops" : "stop"} working at once. {plural(presets, "preset")} and{" "}
      {plural(guardrails, "guardrail")} are deleted.
    </>
  )
}

function Budgets({ path }: { path: string }) {
  const budgets = useGet<{ data: Budget[] }>(path)
  return (
    <Loaded query={budgets} lines={2}>
      {({ data }) => (
        <BudgetStrip
          budgets={data}
          pathOf={(interval) => `${path}/${interval}`}
          isEditable={may("budgets:write")}
          onChange={() => invalidate(path)}
        />
      )}
    </Loaded>
  )
}
