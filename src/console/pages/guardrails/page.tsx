import { useState } from "preact/hooks"
import { api, withParams } from "../../api/client.ts"
import { useSearch } from "../../api/pages.ts"
import { invalidate } from "../../api/query.ts"
import type { Guardrail } from "../../api/account-types.ts"
import { Page } from "../../shell/page.tsx"
import { navigate, query, setQuery } from "../../state/router.ts"
import { may, workspaceId } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { Search, TextField } from "../../ui/field.tsx"
import { Empty, Loaded, NoMatch } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Money, Time } from "../../ui/values.tsx"
import { ApiError } from "../../api/client.ts"

const columns: readonly Column<Guardrail>[] = [
  {
    id: "name",
    label: "Name",
    width: "minmax(180px, 2fr)",
    narrow: "title",
    cell: ({ id, name }) => (
      <a class="row-link truncate" href={`/guardrails/${id}`}>
        {name}
      </a>
    ),
  },
  {
    id: "content",
    label: "Content",
    narrowLabel: "content:",
    width: "minmax(180px, 2fr)",
    cell: (row) => contentOf(row),
  },
  {
    id: "routes",
    label: "Models and providers",
    narrowLabel: "models:",
    width: "minmax(140px, 1fr)",
    optional: 1,
    cell: (row) => routesOf(row),
  },
  {
    id: "budget",
    label: "Budget",
    width: "130px",
    align: "right",
    narrow: "lead",
    cell: ({ limit_usd: limit, reset_interval: interval }) =>
      limit === null ? (
        <span class="faint">–</span>
      ) : (
        <span>
          <Money value={limit} /> {interval}
        </span>
      ),
  },
  {
    id: "changed",
    label: "Changed",
    width: "100px",
    optional: 2,
    align: "right",
    narrow: "hide",
    cell: ({ updated_at: at }) => <Time at={at} />,
  },
]

/** `blocks email, redacts secrets`. */
function contentOf(row: Guardrail) {
  const { content_filter_builtins: builtins, content_filters: filters, content_checks: checks } = row
  const rules = [
    ...(builtins ?? []).map(({ action, slug }) => ({ action, name: slug })),
    ...(filters ?? []).map(({ action, label, pattern }) => ({ action, name: label ?? pattern })),
    ...(checks ?? []).map(({ action, check }) => ({ action, name: check })),
  ]
  if (rules.length === 0) return <span class="faint">–</span>
  const byAction = Map.groupBy(rules, ({ action }) => action)
  const text = [...byAction].map(([action, list]) => `${action}s ${list.map(({ name }) => name).join(", ")}`).join("; ")
  return (
    <span class="truncate" title={text}>
      {text}
    </span>
  )
}

function routesOf(row: Guardrail) {
  const allowed = [...(row.allowed_models ?? []), ...(row.allowed_providers ?? [])]
  const ignored = [...(row.ignored_models ?? []), ...(row.ignored_providers ?? [])]
  const parts = [
    ...(allowed.length > 0 ? [`only ${allowed.join(", ")}`] : []),
    ...(ignored.length > 0 ? [`not ${ignored.join(", ")}`] : []),
  ]
  if (parts.length === 0) return <span class="faint">any</span>
  return <span class="truncate">{parts.join("; ")}</span>
}

export default function GuardrailsPage() {
  const [isMaking, setMaking] = useState(false)
  const text = query.value.get("q") ?? ""
  const list = useSearch<Guardrail>(withParams("/guardrails", { workspace_id: workspaceId.value }), text)
  return (
    <Page
      title="Guardrails"
      flush
      controls={
        <>
          <Search label="Filter guardrails" value={text} onChange={(q) => setQuery({ q })} />
          {may("guardrails:write") && (
            <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
              New guardrail
            </Button>
          )}
        </>
      }
    >
      <Loaded query={list} shape="table">
        {({ data }) =>
          data.length === 0 && text !== "" ? (
            <NoMatch what="guardrail" text={text} />
          ) : data.length === 0 ? (
            <Empty title="No guardrails in this workspace">
              <p>
                A guardrail blocks or redacts content, restricts models and providers, and limits what its keys spend.
                Create one, test it on a text, then assign keys.
              </p>
            </Empty>
          ) : (
            <Table
              label="Guardrails"
              columns={columns}
              rows={data}
              onEnd={list.onEnd}
              rowKey={({ id }) => id}
              href={({ id }) => `/guardrails/${id}`}
            />
          )
        }
      </Loaded>
      {isMaking && <NewGuardrail onClose={() => setMaking(false)} />}
    </Page>
  )
}

function NewGuardrail({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("")
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const create = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const body = { name, ...(workspaceId.value !== null && { workspace_id: workspaceId.value }) }
      const { data } = await api<{ data: Guardrail }>("/guardrails", { method: "POST", body })
      invalidate("/guardrails")
      navigate(`/guardrails/${data.id}`)
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title="New guardrail" onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={(event) => void create(event)}>
        <TextField label="Name" value={name} onChange={setName} fault={fault} autoFocus required />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={name.trim() === ""}>
            Create and edit
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
