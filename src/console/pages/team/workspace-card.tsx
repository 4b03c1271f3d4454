import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { Workspace } from "../../api/types.ts"
import { may } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Check, TextField } from "../../ui/field.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Money } from "../../ui/values.tsx"
import { Aliases } from "./aliases.tsx"
import { WorkspaceLimits } from "./workspace-limits.tsx"

type Budget = { limit_usd: number; reset_interval: string | null }
type WorkspaceMember = { user_id: string; role: string }

const INTERVALS = ["daily", "weekly", "monthly", "lifetime"] as const

/** A workspace: its budgets as one strip, who is in it, and what it logs. */
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
        <span class="quiet">{members.data?.data.length ?? 0} members</span>
      </div>
      <BudgetStrip path={path} />
      {may("workspaces:write") && <WorkspaceLimits workspace={workspace} />}
      <Aliases workspace={workspace} />
      <div class="row between">
        <Check
          label="Log prompts and completions of its calls"
          checked={isLogging}
          onChange={(checked) =>
            void patch(
              { is_observability_io_logging_enabled: checked },
              checked ? "Content is logged from the next call on" : "Content is no longer logged",
            )
          }
        />
        {!isOnly && may("workspaces:write") && (
          <Button size="small" kind="danger" onClick={() => setDeleting(true)}>
            Delete…
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
            Its keys stop working at once, its interns, files, presets and guardrails are deleted. This cannot be
            undone.
          </p>
        </ConfirmDialog>
      )}
    </section>
  )
}

function BudgetStrip({ path }: { path: string }) {
  const budgets = useGet<{ data: Budget[] }>(`${path}/budgets`)
  const [edited, setEdited] = useState<string>()
  const byInterval = new Map((budgets.data?.data ?? []).map((one) => [one.reset_interval ?? "lifetime", one.limit_usd]))
  return (
    <ul class="budgets" aria-label="Budgets">
      {INTERVALS.map((interval) => (
        <li key={interval}>
          <span class="quiet small">{interval}</span>
          {edited === interval ? (
            <BudgetForm
              path={`${path}/budgets/${interval}`}
              value={byInterval.get(interval)}
              onDone={() => {
                setEdited(undefined)
                invalidate(`${path}/budgets`)
              }}
            />
          ) : (
            <span class="row between nowrap">
              {byInterval.has(interval) ? (
                <Money value={byInterval.get(interval)} />
              ) : (
                <span class="faint">no budget</span>
              )}
              {may("budgets:write") && (
                <Button
                  size="small"
                  kind="quiet"
                  label={`Change the ${interval} budget`}
                  icon="settings"
                  onClick={() => setEdited(interval)}
                />
              )}
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function BudgetForm({ path, value, onDone }: { path: string; value: number | undefined; onDone: () => void }) {
  const [text, setText] = useState(value === undefined ? "" : String(value))
  const save = async (event: Event) => {
    event.preventDefault()
    const isSaved =
      text.trim() === ""
        ? await attempt(() => api(path, { method: "DELETE" }), "The budget is removed")
        : await attempt(() => api(path, { method: "PUT", body: { limit_usd: Number(text) } }), "The budget is set")
    if (isSaved) onDone()
  }
  return (
    <form class="stack tight" onSubmit={(event) => void save(event)}>
      <TextField
        label="USD"
        hint="Empty removes it."
        type="number"
        min={0}
        step="any"
        value={text}
        onChange={setText}
        autoFocus
      />
      <div class="row">
        <Button type="submit" size="small" kind="primary">
          Set
        </Button>
        <Button size="small" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
