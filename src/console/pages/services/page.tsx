import { useState } from "preact/hooks"
import { api, withParams } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { List, PassthroughService } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { matches } from "../../format/search.ts"
import { Page } from "../../shell/page.tsx"
import { query, setQuery } from "../../state/router.ts"
import { may, workspaceId } from "../../state/session.ts"
import { attempt, attemptToggle } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Search } from "../../ui/field.tsx"
import { Empty, Loaded, NoMatch } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { plain, ruleText } from "./fields.ts"
import { ServiceForm, servicePath } from "./service-form.tsx"

type OpenDialog = { service: PassthroughService; does: "edit" | "delete" }

const columnsOf = (open: (openDialog: OpenDialog) => void): readonly Column<PassthroughService>[] => [
  {
    id: "slug",
    label: "Service",
    width: "minmax(140px, 1.4fr)",
    narrow: "title",
    cell: ({ slug, name }) => (
      <span title={name}>
        {slug} {name !== slug && <span class="quiet">{name}</span>}
      </span>
    ),
  },
  {
    id: "state",
    label: "State",
    width: "70px",
    cell: ({ enabled }) => <Status tone={enabled ? "good" : "off"}>{enabled ? "on" : "off"}</Status>,
  },
  {
    id: "url",
    label: "Base URL",
    width: "minmax(160px, 2fr)",
    optional: 3,
    cell: ({ base_url: url }) => (
      <span class="mono quiet" title={url}>
        {url}
      </span>
    ),
  },
  {
    id: "rules",
    label: "Forwards",
    width: "minmax(140px, 1.6fr)",
    optional: 2,
    narrow: "hide",
    cell: ({ rules }) => <span title={rules.map(ruleText).join("\n")}>{summaryOf(rules)}</span>,
  },
  {
    id: "keys",
    label: "For",
    width: "90px",
    optional: 4,
    narrow: "hide",
    cell: ({ allowed_api_key_hashes: hashes }) =>
      hashes === null ? "all keys" : `${count(hashes.length)} ${hashes.length === 1 ? "key" : "keys"}`,
  },
  {
    id: "calls",
    label: "Calls",
    width: "60px",
    optional: 1,
    cell: ({ slug }) => <a href={`/calls?q=${encodeURIComponent(`passthrough/${slug}`)}`}>calls</a>,
  },
  {
    id: "does",
    label: "Actions",
    width: "190px",
    align: "right",
    cell: (service) => may("passthrough-services:write") && <Actions service={service} open={open} />,
  },
]

function Actions({ service, open }: { service: PassthroughService; open: (openDialog: OpenDialog) => void }) {
  const { slug, enabled } = service
  const write = async (isOn: boolean) => {
    await api(servicePath(service), { method: "PATCH", body: { enabled: isOn } })
    invalidate("/passthrough-services")
  }
  const turn = () => attemptToggle(!enabled, write, (isOn) => `${slug} is ${isOn ? "on" : "off: clients get 404"}.`)
  return (
    <span class="row tight">
      <Button kind="quiet" size="small" label={`Edit ${slug}`} onClick={() => open({ service, does: "edit" })}>
        Edit
      </Button>
      <Button kind="quiet" size="small" label={`Turn ${enabled ? "off" : "on"} ${slug}`} onClick={() => turn()}>
        Turn {enabled ? "off" : "on"}
      </Button>
      <Button kind="danger" size="small" label={`Delete ${slug}`} onClick={() => open({ service, does: "delete" })}>
        Delete
      </Button>
    </span>
  )
}

function summaryOf(rules: PassthroughService["rules"]): string {
  const prices = rules.map(({ price_usd: price }) => price)
  const [lowest, highest] = [Math.min(...prices), Math.max(...prices)]
  const cost = lowest === highest ? `$${plain(lowest)}` : `$${plain(lowest)} to $${plain(highest)}`
  return rules.length === 1 ? `${rules[0]?.path}, ${cost}` : `${rules.length} rules, ${cost}`
}

/** A workspace has at most as many services as one page of the API: the filter reads all of them. */
export default function ServicesPage() {
  const path = withParams("/passthrough-services", { limit: 100, workspace_id: workspaceId.value })
  const list = useGet<List<PassthroughService>>(path)
  const [openDialog, setOpenDialog] = useState<OpenDialog>()
  const text = query.value.get("q") ?? ""
  const add = () => setQuery({ new: "1" })
  return (
    <Page
      title="Passthrough services"
      flush
      controls={
        <>
          <Search label="Filter services" value={text} onChange={(q) => setQuery({ q })} />
          {may("passthrough-services:write") && (
            <Button kind="primary" icon="plus" onClick={add}>
              Add a service
            </Button>
          )}
        </>
      }
    >
      <div class="scroller">
        <Loaded query={list} shape="table">
          {({ data, total_count: total = data.length }) => {
            if (total === 0) return <NoService />
            const rows = data.filter(({ slug, name, base_url: url }) => matches(text, `${slug} ${name} ${url}`))
            if (rows.length === 0) return <NoMatch what="service" text={text} />
            return (
              <Table
                label="Passthrough services"
                columns={columnsOf(setOpenDialog)}
                rows={rows}
                rowKey={({ slug }) => slug}
              />
            )
          }}
        </Loaded>
      </div>
      {query.value.get("new") === "1" && <ServiceForm onClose={() => setQuery({ new: null })} />}
      {openDialog?.does === "edit" && (
        <ServiceForm service={openDialog.service} onClose={() => setOpenDialog(undefined)} />
      )}
      {openDialog?.does === "delete" && (
        <DeleteDialog service={openDialog.service} onClose={() => setOpenDialog(undefined)} />
      )}
    </Page>
  )
}

function DeleteDialog({ service, onClose }: { service: PassthroughService; onClose: () => void }) {
  const { slug } = service
  const remove = async () => {
    const done = await attempt(() => api(servicePath(service), { method: "DELETE" }), `${slug} is deleted.`)
    if (!done) return
    invalidate("/passthrough-services")
    onClose()
  }
  return (
    <ConfirmDialog
      title={`Delete ${slug}?`}
      action="Delete the service"
      name={slug}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        Clients get 404 from now on. Its headers and query parameters are deleted. Earlier calls stay in the list. This
        cannot be undone.
      </p>
    </ConfirmDialog>
  )
}

function NoService() {
  return (
    <Empty title="No passthrough services in this workspace">
      <p>
        Add an HTTP API outside the gateway’s formats, such as search or scraping. Clients call it with their own key:
        its secrets stay here, only the paths that you allow are forwarded, and each request is priced and recorded.
      </p>
    </Empty>
  )
}
