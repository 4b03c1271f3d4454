import "./guardrail.css"
import { useEffect, useState } from "preact/hooks"
import { changesOf } from "../../api/changes.ts"
import { api, ApiError, withParams } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { Guardrail } from "../../api/account-types.ts"
import { useEscape } from "../../shell/keyboard.ts"
import { Page } from "../../shell/page.tsx"
import type { PageProps } from "../../state/paths.ts"
import { navigate } from "../../state/router.ts"
import { draftOf } from "../../state/drafts.ts"
import { may } from "../../state/session.ts"
import { attempt, toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { TextField } from "../../ui/field.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Time } from "../../ui/values.tsx"
import { Applies, Assigned } from "./applies.tsx"
import { type Draft, toChange, toDraft } from "./draft.ts"
import { History } from "./history.tsx"
import { Rules } from "./rules.tsx"
import { Tester } from "./tester.tsx"

export default function GuardrailPage({ params }: PageProps) {
  const path = `/guardrails/${params["id"] ?? ""}`
  const guardrail = useGet<{ data: Guardrail }>(path)
  useEscape(() => navigate("/guardrails"), [])
  const crumb = <a href="/guardrails">Guardrails</a>
  const { data } = guardrail
  if (!data)
    return (
      <Page title="Guardrail" crumb={crumb}>
        <Loaded query={guardrail}>{() => null}</Loaded>
      </Page>
    )
  return <Editor key={data.data.id} guardrail={data.data} path={path} />
}

function Editor({ guardrail, path }: { guardrail: Guardrail; path: string }) {
  const edits = draftOf<Draft>(guardrail.id)
  const stored = toDraft(guardrail)
  const draft = { ...stored, ...edits.value }
  const setDraft = (next: Draft) => {
    edits.value = changesOf(stored, next)
  }
  const [busy, setBusy] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const changes = changesOf(toChange(stored), toChange(draft))
  const isChanged = Object.keys(changes).length > 0
  const mayWrite = may("guardrails:write")
  // Edits that are saved follow later changes of others again.
  useEffect(() => setDraft(draft), [guardrail])
  useWarning(isChanged)
  const save = async () => {
    setBusy(true)
    try {
      await api(path, { method: "PATCH", body: changes })
      invalidate("/guardrails")
      toast("good", "Saved. New calls follow the rules within 5 seconds.")
    } catch (thrown) {
      toast("bad", ApiError.fromThrown(thrown).message)
    }
    setBusy(false)
  }
  const remove = async () => {
    if (!(await attempt(() => api(path, { method: "DELETE" }), `${guardrail.name} is deleted`))) return
    invalidate("/guardrails")
    navigate("/guardrails")
  }
  return (
    <Page
      title={guardrail.name}
      crumb={<a href="/guardrails">Guardrails</a>}
      controls={
        mayWrite && (
          <>
            {isChanged && <span class="quiet only-wide">Not saved</span>}
            <Button kind="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
            <Button disabled={!isChanged} onClick={() => setDraft(stored)}>
              Undo
            </Button>
            <Button kind="primary" disabled={!isChanged} busy={busy} onClick={() => save()}>
              Save
            </Button>
          </>
        )
      }
    >
      <div class="guardrail">
        <div class="tester-side stack wide">
          <Tester draft={draft} />
          <History draft={draft} />
        </div>
        <div class="stack wide">
          <div class="pairs">
            <TextField label="Name" value={draft.name} onChange={(name) => setDraft({ ...draft, name })} />
            <TextField
              label="Description"
              value={draft.description}
              onChange={(description) => setDraft({ ...draft, description })}
            />
          </div>
          <Rules draft={draft} onChange={setDraft} />
          <Applies id={guardrail.id} mayWrite={mayWrite} />
          <RecentMatches name={guardrail.name} />
        </div>
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${guardrail.name}?`}
          action="Delete"
          name={guardrail.name}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>
            Its rules and its budget no longer apply to <Assigned id={guardrail.id} />. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  )
}

/** Warns before a reload discards unsaved changes. Other pages of the console keep them. */
function useWarning(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return undefined
    const warn = (event: Event) => event.preventDefault()
    addEventListener("beforeunload", warn)
    return () => removeEventListener("beforeunload", warn)
  }, [isChanged])
}

type Call = {
  id: string
  created_at: string
  model: string
  outcome: string
  key: { hash: string; name: string | null }
}

/** Calls that the guardrail blocked or changed. */
function RecentMatches({ name }: { name: string }) {
  const calls = useGet<{ data: Call[] }>(withParams("/calls", { q: name, limit: 8 }))
  return (
    <section class="stack" aria-label="Recent matches">
      <div class="row between">
        <h2>Recent matches</h2>
        <a href={`/calls?q=${encodeURIComponent(name)}`}>All calls</a>
      </div>
      <Loaded query={calls} lines={3}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">No matches in the stored calls.</p>
          ) : (
            <ul class="stack tight">
              {data.map((call) => (
                <li key={call.id} class="row nowrap">
                  <Time at={call.created_at} />
                  <span>{call.outcome === "refused" ? "blocked" : "changed or flagged"}</span>
                  <Chip kind="key" id={call.key.hash} label={call.key.name ?? "bootstrap"} />
                  <a class="end" href={`/calls/${call.id}`}>
                    {call.model}
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}
