import { useState } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import { useSearch } from "../../api/pages.ts"
import type { Preset } from "../../api/account-types.ts"
import { Page } from "../../shell/page.tsx"
import { query, setQuery } from "../../state/router.ts"
import { may, session, workspaceId } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { Search } from "../../ui/field.tsx"
import { Empty, Loaded, NoMatch } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Time } from "../../ui/values.tsx"
import { VersionDialog } from "./version-dialog.tsx"

const hrefOf = ({ slug }: Preset) => `/presets/${encodeURIComponent(slug)}`

const columns: readonly Column<Preset>[] = [
  {
    id: "name",
    label: "Name",
    width: "minmax(180px, 1.5fr)",
    narrow: "title",
    cell: (preset) => (
      <a class="row-link truncate" href={hrefOf(preset)}>
        {preset.name}
      </a>
    ),
  },
  {
    id: "reference",
    label: "Named in a call as",
    width: "minmax(180px, 1.5fr)",
    cell: ({ slug }) => <code class="truncate">@preset/{slug}</code>,
  },
  {
    id: "about",
    label: "Description",
    width: "minmax(140px, 2fr)",
    optional: 1,
    cell: ({ description }) => <span class="truncate quiet">{description}</span>,
  },
  {
    id: "status",
    label: "State",
    width: "110px",
    narrow: "lead",
    cell: ({ status }) => <Status tone={status === "active" ? "good" : "off"}>{status}</Status>,
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

/** A management key lists the presets of the chosen workspace, any other key those of its own. */
export function presetQuery() {
  return session.value?.kind === "management" ? { workspace_id: workspaceId.value } : {}
}

export default function PresetsPage() {
  const [isMaking, setMaking] = useState(false)
  const text = query.value.get("q") ?? ""
  const list = useSearch<Preset>(withParams("/presets", presetQuery()), text)
  return (
    <Page
      title="Presets"
      flush
      controls={
        <>
          <Search label="Filter presets" value={text} onChange={(q) => setQuery({ q })} />
          {may("presets:write") && (
            <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
              New preset
            </Button>
          )}
        </>
      }
    >
      <Loaded query={list} shape="table">
        {({ data }) =>
          data.length === 0 && text !== "" ? (
            <NoMatch what="preset" text={text} />
          ) : data.length === 0 ? (
            <Empty title="No presets in this workspace">
              <p>A preset is a named set of request parameters with versions. A call names it in place of a model:</p>
              <Code label="Example" text={'{"model": "@preset/support", "messages": [...]}'} />
            </Empty>
          ) : (
            <Table
              label="Presets"
              columns={columns}
              rows={data}
              rowKey={({ id }) => id}
              href={hrefOf}
              onEnd={list.onEnd}
            />
          )
        }
      </Loaded>
      {isMaking && <VersionDialog onClose={() => setMaking(false)} />}
    </Page>
  )
}
