import { useState } from "preact/hooks"
import { api, withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { ByokCredential, List, Model } from "../../api/types.ts"
import { compact, count } from "../../format/number.ts"
import { findProvider } from "../../format/provider.ts"
import { useEscape } from "../../shell/keyboard.ts"
import { Page } from "../../shell/page.tsx"
import type { PageProps } from "../../state/paths.ts"
import { navigate } from "../../state/router.ts"
import { may, workspaceId } from "../../state/session.ts"
import { attempt, attemptToggle } from "../../state/toasts.ts"
import { type Budget, BudgetStrip } from "../../ui/charts/budget-strip.tsx"
import { Button } from "../../ui/button.tsx"
import { Chip, hrefOf } from "../../ui/chip.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Time } from "../../ui/values.tsx"
import { Price, type ProviderListing } from "../models/page.tsx"
import { AddProvider, TestCall } from "./add-provider.tsx"
import { useMeasured } from "../models/health.tsx"
import { History } from "./history.tsx"
import { healthOf } from "./page.tsx"

const modelColumns: readonly Column<Model>[] = [
  {
    id: "model",
    label: "Model",
    width: "minmax(180px, 2fr)",
    narrow: "title",
    cell: ({ id }) => <Chip kind="model" id={id} />,
  },
  {
    id: "context",
    label: "Context",
    width: "90px",
    align: "right",
    narrow: "lead",
    cell: ({ context_length: length }) => (length ? compact(length) : "–"),
  },
  {
    id: "in",
    label: "In, $/M",
    narrowLabel: "in",
    width: "90px",
    align: "right",
    cell: ({ pricing }) => <Price value={pricing.prompt} />,
  },
  {
    id: "out",
    label: "Out, $/M",
    narrowLabel: "out",
    width: "90px",
    align: "right",
    cell: ({ pricing }) => <Price value={pricing.completion} />,
  },
]

export default function ProviderPage({ params }: PageProps) {
  const pageSlug = params["slug"] ?? ""
  const providers = useGet<List<ProviderListing>>("/providers")
  const [isAdding, setAdding] = useState(false)
  const health = useMeasured("provider")
  useEscape(() => navigate("/providers"), [])
  const listed = providers.data?.data ?? []
  const { slug, name } = findProvider(pageSlug, listed)
  const listing = listed.find((one) => one.slug === slug)
  return (
    <Page
      title={name}
      crumb={<a href="/providers">Providers</a>}
      controls={
        <>
          <Button href={`/calls?provider=${encodeURIComponent(name)}&range=7d`}>Calls</Button>
          {may("byok:write") && (
            <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
              Add a key
            </Button>
          )}
        </>
      }
    >
      <div class="read stack wide">
        <dl class="facts">
          <dt>Last 24 hours</dt>
          <dd>{healthOf({ calls: 0, failed: 0, ...health.get(name), isStopped: listing?.disabled ?? false })}</dd>
          <dt>Slug</dt>
          <dd>
            <code>{slug}</code>
          </dd>
          <dt>Gateway's key</dt>
          <dd>{listing ? "configured" : "none: only keys of workspaces reach it"}</dd>
          {listing?.datacenters && listing.datacenters.length > 0 && (
            <>
              <dt>Regions</dt>
              <dd>{listing.datacenters.join(", ")}</dd>
            </>
          )}
          {listing?.status_page_url && (
            <>
              <dt>Status page</dt>
              <dd>
                <a href={listing.status_page_url} target="_blank" rel="noopener noreferrer">
                  {new URL(listing.status_page_url).host}
                </a>
              </dd>
            </>
          )}
        </dl>
        <TestCall provider={slug} />
        <section class="stack tight">
          <h2>History</h2>
          <History provider={name} />
        </section>
        <ProviderBudgets slug={slug} />
        <Credentials slug={slug} />
        <ProviderModels slug={slug} />
      </div>
      {isAdding && <AddProvider provider={slug} onClose={() => setAdding(false)} />}
    </Page>
  )
}

function ProviderBudgets({ slug }: { slug: string }) {
  const list = useGet<List<Budget & { provider: string }>>(may("provider-budgets:read") ? "/provider-budgets" : null)
  if (!may("provider-budgets:read")) return null
  return (
    <section class="stack tight">
      <h2>Budgets</h2>
      <Loaded query={list} lines={2}>
        {({ data }) => (
          <BudgetStrip
            budgets={data.filter(({ provider }) => provider === slug)}
            pathOf={(interval) => `/provider-budgets/${encodeURIComponent(slug)}/${interval}`}
            isEditable={may("provider-budgets:write")}
            hasByok
            onChange={() => invalidate("/provider-budgets")}
          />
        )}
      </Loaded>
    </section>
  )
}

function Credentials({ slug }: { slug: string }) {
  const list = useAll<ByokCredential>(
    may("byok:read") ? withParams("/byok", { provider: slug, workspace_id: workspaceId.value }) : null,
  )
  const [removed, setRemoved] = useState<ByokCredential>()
  if (!may("byok:read")) return null
  const toggle = ({ id, disabled, label }: ByokCredential) => {
    const change = async (isDisabled: boolean) => {
      await api(`/byok/${id}`, { method: "PATCH", body: { disabled: isDisabled } })
      invalidate("/byok")
    }
    void attemptToggle(!disabled, change, (isDisabled) => `${label} is ${isDisabled ? "disabled" : "enabled"}.`)
  }
  return (
    <section class="stack tight">
      <h2>Keys of this workspace</h2>
      <Loaded query={list} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">None. Calls use the gateway's key, if it has one.</p>
          ) : (
            <ul class="plain-list">
              {data.map((credential) => (
                <li key={credential.id} class="row">
                  <Status tone={credential.disabled ? "off" : "good"}>{credential.name ?? credential.label}</Status>
                  <code class="quiet">{credential.label}</code>
                  <span class="quiet small">
                    added <Time at={credential.created_at} />
                  </span>
                  <span class="row tight end">
                    <Button size="small" onClick={() => toggle(credential)}>
                      {credential.disabled ? "Enable" : "Disable"}
                    </Button>
                    <Button size="small" kind="danger" onClick={() => setRemoved(credential)}>
                      Delete
                    </Button>
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {removed && (
        <ConfirmDialog
          title={`Delete the key ${removed.label}?`}
          action="Delete the key"
          onClose={() => setRemoved(undefined)}
          onConfirm={() =>
            attempt(async () => {
              await api(`/byok/${removed.id}`, { method: "DELETE" })
              invalidate("/byok")
            }, "The key is deleted.")
          }
        >
          <p>Calls of this workspace stop using it at once. The sealed key is deleted for good.</p>
        </ConfirmDialog>
      )}
    </section>
  )
}

function ProviderModels({ slug }: { slug: string }) {
  const list = useGet<List<Model>>(withParams("/models", { providers: slug }))
  return (
    <section class="stack tight">
      <h2>{list.data ? `${count(list.data.data.length)} models` : "Models"}</h2>
      <Loaded query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">
              The catalogue has no model of this provider. The operator can add its models: see Catalogue in the{" "}
              <a href="/docs">API reference</a>.
            </p>
          ) : (
            <Table
              label="Models"
              bounded
              columns={modelColumns}
              rows={data}
              rowKey={({ id }) => id}
              href={({ id }) => hrefOf("model", id)}
            />
          )
        }
      </Loaded>
    </section>
  )
}
