import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { Workspace } from "../../api/types.ts"
import { may } from "../../state/session.ts"
import { attempt, toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { ConfirmDialog, Dialog, FormEnd } from "../../ui/dialog.tsx"
import { TextArea, TextField } from "../../ui/field.tsx"
import { ErrorPanel } from "../../ui/states.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"

type Arm = { model: string; weight: number } & Record<string, unknown>
type Alias = { name: string; description: string | null; arms: Arm[] }

/** Model aliases of a workspace, each with its arms. */
export function Aliases({ workspace }: { workspace: Workspace }) {
  const path = `/workspaces/${workspace.id}/aliases`
  const aliases = useGet<{ data: Alias[] }>(path)
  const [edited, setEdited] = useState<Alias | "new">()
  const [deleted, setDeleted] = useState<Alias>()
  const list = aliases.data?.data ?? []
  const remove = async (alias: Alias) => {
    await attempt(
      () => api(`${path}/${encodeURIComponent(alias.name)}`, { method: "DELETE" }),
      `${alias.name} is deleted`,
    )
    invalidate(path)
  }
  return (
    <details class="fold">
      <summary>Model aliases{list.length > 0 && ` (${list.length})`}</summary>
      <div class="stack">
        {aliases.error && !aliases.data && <ErrorPanel error={aliases.error} retry={aliases.refresh} />}
        {aliases.data && list.length === 0 && (
          <p class="quiet">None. An alias names a weighted list of models, such as team/fast.</p>
        )}
        <ul class="aliases" aria-label="Model aliases">
          {list.map((alias) => (
            <li key={alias.name} class="row between">
              <span class="stack tight">
                <code>{alias.name}</code>
                <span class="quiet small">{summaryOf(alias)}</span>
              </span>
              {may("workspaces:write") && (
                <span class="row nowrap">
                  <Button size="small" onClick={() => setEdited(alias)}>
                    Edit
                  </Button>
                  <Button size="small" kind="danger" onClick={() => setDeleted(alias)}>
                    Delete
                  </Button>
                </span>
              )}
            </li>
          ))}
        </ul>
        {may("workspaces:write") && (
          <div class="row">
            <Button size="small" onClick={() => setEdited("new")}>
              New alias
            </Button>
          </div>
        )}
      </div>
      {edited !== undefined && (
        <AliasDialog path={path} alias={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
      {deleted && (
        <ConfirmDialog
          title={`Delete the alias ${deleted.name}?`}
          action="Delete"
          onConfirm={() => remove(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <p>Calls that name it fail, unless a model has the same name.</p>
        </ConfirmDialog>
      )}
    </details>
  )
}

function summaryOf({ arms }: Alias): string {
  const all = arms.reduce((sum, { weight }) => sum + weight, 0)
  return arms.map(({ model, weight }) => `${model} ${Math.round((100 * weight) / all)} %`).join(", ")
}

const EXAMPLE = '[\n  { "model": "author/slug", "weight": 9 },\n  { "model": "author/other", "weight": 1 }\n]'

function AliasDialog({ path, alias, onClose }: { path: string; alias: Alias | undefined; onClose: () => void }) {
  const [name, setName] = useState(alias?.name ?? "")
  const [text, setText] = useState(alias ? JSON.stringify(alias.arms, null, 2) : EXAMPLE)
  const arms = parse(text)
  const { busy, error, submit } = useSubmit(async () => {
    const body = { description: alias?.description ?? null, arms }
    await api(`${path}/${encodeURIComponent(name.trim())}`, { method: "PUT", body })
    toast("good", `The alias ${name.trim()} applies within 5 seconds`)
    invalidate(path)
    onClose()
  })
  return (
    <Dialog title={alias ? `Edit ${alias.name}` : "New alias"} onClose={onClose} wide staysOpen={busy}>
      <form class="stack bare" onSubmit={submit}>
        {!alias && (
          <TextField label="Name" placeholder="team/fast" value={name} onChange={setName} required autoFocus code />
        )}
        <TextArea
          label="Arms"
          hint="JSON. Besides model and weight: regions, key_hashes, min_prompt_tokens, max_prompt_tokens."
          fault={arms === undefined ? "must be a JSON array" : undefined}
          rows={8}
          value={text}
          onChange={setText}
          code
        />
        <FormEnd
          fault={error?.message}
          action="Save"
          busy={busy}
          disabled={arms === undefined || name.trim() === ""}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

function parse(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
