import { withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { useGet } from "../../api/query.ts"
import type { ByokCredential, List } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { providerName } from "../../format/provider.ts"
import { Page } from "../../shell/page.tsx"
import { query, setQuery } from "../../state/router.ts"
import { may, workspaceId } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { hrefOf } from "../../ui/chip.tsx"
import { Search } from "../../ui/field.tsx"
import { Empty, ErrorPanel, Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import type { ProviderListing } from "../models/page.tsx"
import { AddProvider } from "./add-provider.tsx"
import { useMeasured } from "../models/health.tsx"

export type ProviderRow = {
  slug: string
  name: string
  /** The gateway has a key for it, or it needs no key. */
  isConfigured: boolean
  /** The operator has stopped it. */
  isStopped: boolean
  /** Undefined until they are known. */
  credentials: readonly ByokCredential[] | undefined
  failed: number
  calls: number
}

/** Providers of this deployment, and those with BYOK credentials only. */
function rowsOf(
  providers: readonly ProviderListing[],
  credentials: readonly ByokCredential[] | undefined,
  health: ReadonlyMap<string, { calls: number; failed: number }>,
): ProviderRow[] {
  const listed = new Map(providers.map(({ slug, name }) => [slug, name]))
  for (const { provider } of credentials ?? []) if (!listed.has(provider)) listed.set(provider, providerName(provider))
  return [...listed].map(([slug, name]) => {
    const measured = health.get(name)
    return {
      slug,
      name,
      isConfigured: providers.some((each) => each.slug === slug),
      isStopped: providers.some((each) => each.slug === slug && each.disabled),
      credentials: credentials?.filter(({ provider }) => provider === slug),
      calls: measured?.calls ?? 0,
      failed: measured?.failed ?? 0,
    }
  })
}

export function healthOf({ calls, failed, isStopped }: Pick<ProviderRow, "calls" | "failed" | "isStopped">) {
  if (isStopped) return <Status tone="warn">stopped by the operator</Status>
  const total = calls + failed
  if (total === 0) return <Status tone="off">no calls</Status>
  const share = failed / total
  return (
    <Status tone={share > 0.2 ? "bad" : share > 0.02 ? "warn" : "good"}>
      {failed === 0 ? "answers" : `${count(failed)} of ${count(total)} failed`}
    </Status>
  )
}

const columns: readonly Column<ProviderRow>[] = [
  {
    id: "name",
    label: "Provider",
    width: "minmax(180px, 2fr)",
    narrow: "title",
    cell: ({ slug, name }) => (
      <a class="row-link" href={hrefOf("provider", slug)}>
        {name} <span class="faint mono">{slug}</span>
      </a>
    ),
  },
  { id: "health", label: "Last 24 hours", width: "minmax(150px, 1.4fr)", cell: healthOf },
  {
    id: "gateway",
    label: "Gateway's key",
    width: "minmax(110px, 1fr)",
    optional: 1,
    narrow: "hide",
    cell: ({ isConfigured }) => (isConfigured ? "configured" : <span class="faint">none</span>),
  },
  {
    id: "byok",
    label: "Workspace keys",
    width: "minmax(120px, 1fr)",
    narrowLabel: "own keys:",
    cell: ({ credentials }) =>
      credentials === undefined ? (
        <span class="faint">–</span>
      ) : credentials.length === 0 ? (
        <span class="faint">none</span>
      ) : (
        `${credentials.length} ${credentials.length === 1 ? "key" : "keys"}`
      ),
  },
  {
    id: "calls",
    label: "Calls, 24 h",
    width: "90px",
    optional: 2,
    align: "right",
    narrow: "hide",
    cell: ({ calls, failed }) => count(calls + failed),
  },
]

export default function ProvidersPage() {
  const providers = useGet<List<ProviderListing>>("/providers")
  const credentials = useAll<ByokCredential>(withParams("/byok", { workspace_id: workspaceId.value }))
  const health = useMeasured("provider")
  const text = (query.value.get("q") ?? "").toLowerCase()
  const isNew = query.value.get("new") === "1"
  return (
    <Page
      title="Providers"
      flush
      controls={
        <>
          <Search label="Filter providers" value={query.value.get("q") ?? ""} onChange={(q) => setQuery({ q })} />
          {may("byok:write") && (
            <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" })}>
              Add a provider
            </Button>
          )}
        </>
      }
    >
      <div class="scroller">
        {credentials.error && <ErrorPanel error={credentials.error} retry={credentials.refresh} />}
        <Loaded query={providers}>
          {({ data }) => {
            const rows = rowsOf(data, credentials.data?.data, health).filter(({ name, slug }) =>
              `${name} ${slug}`.toLowerCase().includes(text),
            )
            if (rows.length === 0) return <Empty title="No provider matches" />
            return (
              <Table
                label="Providers"
                columns={columns}
                rows={rows}
                rowKey={({ slug }) => slug}
                href={({ slug }) => hrefOf("provider", slug)}
              />
            )
          }}
        </Loaded>
      </div>
      {isNew && (
        <AddProvider provider={query.value.get("provider")} onClose={() => setQuery({ new: null, provider: null })} />
      )}
    </Page>
  )
}
