import { useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import { useCursorList } from "../../api/pages.ts"
import { invalidate } from "../../api/query.ts"
import type { Intern, OpenQuestion } from "../../api/account-types.ts"
import { count } from "../../format/number.ts"
import { Page } from "../../shell/page.tsx"
import { openQuestions } from "../../state/questions.ts"
import { navigate, query, setQuery } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Search, Select, TextArea, TextField } from "../../ui/field.tsx"
import { Empty, Loaded, NoMatch } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Money, Time } from "../../ui/values.tsx"
import { Activity } from "./activity.tsx"
import { FileField, type EncodedFile } from "./file-field.tsx"
import { InternStatus } from "./status.tsx"

export default function InternsPage() {
  const [isMaking, setMaking] = useState(false)
  const open = new Map(openQuestions.value.map((question) => [question.intern.id, question]))
  const text = query.value.get("q") ?? ""
  const list = useCursorList<Intern>("/interns", text)
  return (
    <Page
      title="Interns"
      flush
      controls={
        <>
          <Search label="Filter interns" value={text} onChange={(q) => setQuery({ q })} />
          {may("interns:write") && (
            <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
              New intern
            </Button>
          )}
        </>
      }
    >
      <Loaded query={list} shape="table">
        {({ data, has_more: hasMore }) =>
          data.length === 0 && text !== "" ? (
            <NoMatch what="intern" text={text} />
          ) : data.length === 0 ? (
            <Empty title="No interns in this workspace">
              <p>
                An intern is a persistent agent with files, an API key and conversations. It asks before it runs
                commands.
              </p>
            </Empty>
          ) : (
            <>
              <Table
                label="Interns"
                columns={columnsOf(open)}
                rows={data}
                rowKey={({ id }) => id}
                href={({ id }) => `/interns/${id}`}
                onEnd={list.onEnd}
              />
              <p class="table-foot">
                {hasMore
                  ? `The newest ${count(data.length)} interns`
                  : `${count(data.length)} ${data.length === 1 ? "intern" : "interns"}`}
              </p>
            </>
          )
        }
      </Loaded>
      {isMaking && <NewIntern onClose={() => setMaking(false)} />}
    </Page>
  )
}

function columnsOf(open: ReadonlyMap<string, OpenQuestion>): Column<Intern>[] {
  return [
    {
      id: "name",
      label: "Name",
      width: "minmax(120px, 1fr)",
      narrow: "title",
      cell: ({ id, name, description }) => (
        <a class="row-link" href={`/interns/${id}`} title={description ?? undefined}>
          {name}
        </a>
      ),
    },
    {
      id: "status",
      label: "State",
      width: "minmax(120px, 1fr)",
      narrow: "lead",
      cell: (intern) => <InternStatus intern={intern} />,
    },
    {
      id: "host",
      label: "Runs",
      width: "minmax(110px, 0.8fr)",
      optional: 3,
      narrow: "hide",
      cell: ({ host }) => HOST_NAMES[host],
    },
    {
      id: "activity",
      label: "Activity",
      width: "minmax(180px, 2fr)",
      cell: (intern) => <Activity intern={intern} question={open.get(intern.id)} />,
    },
    {
      id: "model",
      label: "Model",
      width: "minmax(120px, 1fr)",
      optional: 2,
      narrow: "hide",
      cell: ({ model }) =>
        model === null ? <span class="quiet">workspace default</span> : <Chip kind="model" id={model} />,
    },
    {
      id: "cost",
      label: "Today",
      narrowLabel: "today",
      width: "var(--money)",
      optional: 1,
      align: "right",
      cell: ({ usage_daily: today }) => <Money value={today} />,
    },
    {
      id: "made",
      label: "Created",
      width: "90px",
      optional: 4,
      align: "right",
      narrow: "hide",
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ]
}

const HOST_NAMES: Record<Intern["host"], string> = {
  embedded: "in the gateway",
  daemon: "daemon",
  "cloudflare-container": "container",
}

const HOSTS = [
  { value: "embedded", label: "In the gateway" },
  { value: "daemon", label: "On your own machine (daemon)" },
  { value: "cloudflare-container", label: "In a Cloudflare container" },
]

function NewIntern({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("")
  const [host, setHost] = useState("embedded")
  const [model, setModel] = useState("")
  const [instructions, setInstructions] = useState("")
  const [files, setFiles] = useState<Promise<EncodedFile[]>>()
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const create = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const attached = (await files) ?? []
      const options = {
        ...(attached.length > 0 && { files: attached }),
        ...(model !== "" && { model }),
        ...(instructions !== "" && { instructions }),
      }
      const body = { name, host, provision: true, ...options }
      const { id } = await api<Intern>("/interns", { method: "POST", body })
      invalidate("/interns")
      navigate(host === "daemon" ? `/interns/${id}?tab=setup` : `/interns/${id}`)
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title="New intern" onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={(event) => void create(event)}>
        <TextField
          label="Name"
          hint="Lowercase letters, digits and hyphens."
          value={name}
          onChange={setName}
          required
          autoFocus
        />
        <Select label="Where it runs" options={HOSTS} value={host} onChange={setHost} />
        <TextField label="Model" placeholder="workspace default" value={model} onChange={setModel} />
        <TextArea label="Instructions" value={instructions} onChange={setInstructions} />
        <FileField onChange={setFiles} />
        <FormEnd fault={fault} action="Create and start" busy={busy} disabled={name === ""} onClose={onClose} />
      </form>
    </Dialog>
  )
}
