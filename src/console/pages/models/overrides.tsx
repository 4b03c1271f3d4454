import type { Endpoint } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { Chip } from "../../ui/chip.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Price } from "./page.tsx"

type Override = NonNullable<Endpoint["pricing"]["overrides"]>[number]
type Row = { key: string; endpoint: Endpoint; override: Override }

const COLUMNS: Column<Row>[] = [
  {
    id: "provider",
    label: "Provider",
    width: "minmax(140px, 1.2fr)",
    narrow: "title",
    cell: ({ endpoint }) => <Chip kind="provider" id={endpoint.tag} label={endpoint.provider_name} />,
  },
  {
    id: "calls",
    label: "Calls",
    width: "minmax(180px, 2fr)",
    cell: ({ override }) => <span>{describe(override)}</span>,
  },
  {
    id: "in",
    label: "In, $/M",
    narrowLabel: "in",
    width: "76px",
    align: "right",
    cell: ({ override, endpoint }) => <Price value={override.prompt ?? endpoint.pricing.prompt} />,
  },
  {
    id: "out",
    label: "Out, $/M",
    narrowLabel: "out",
    width: "76px",
    align: "right",
    cell: ({ override, endpoint }) => <Price value={override.completion ?? endpoint.pricing.completion} />,
  },
  {
    id: "cache",
    label: "Cached, $/M",
    width: "90px",
    align: "right",
    narrow: "hide",
    cell: ({ override, endpoint }) => <Price value={override.input_cache_read ?? endpoint.pricing.input_cache_read} />,
  },
]

/** Prices of long prompts, service tiers and times of day, if an endpoint has any. */
export function Overrides({ endpoints }: { endpoints: readonly Endpoint[] }) {
  const rows = endpoints.flatMap((endpoint) =>
    (endpoint.pricing.overrides ?? []).map((override, at) => ({ key: `${endpoint.name} ${at}`, endpoint, override })),
  )
  if (rows.length === 0) return null
  return (
    <section class="stack tight">
      <h2>Prices that depend on the call</h2>
      <div class="wide-table">
        <Table label="Prices that depend on the call" bounded columns={COLUMNS} rows={rows} rowKey={({ key }) => key} />
      </div>
    </section>
  )
}

function describe(override: Override): string {
  const { min_prompt_tokens: tokens, service_tier: tier, utc_start: from, utc_end: to, utc_days: days } = override
  const conditions = [
    tokens !== undefined && `more than ${count(tokens)} prompt tokens`,
    tier !== undefined && `tier ${tier}`,
    from !== undefined && to !== undefined && `${clock(from)} to ${clock(to)} UTC`,
    days?.join(", "),
  ]
  return conditions.filter(Boolean).join(", ")
}

/** 1630: 16:30. */
function clock(hhmm: number): string {
  const digits = String(hhmm).padStart(4, "0")
  return `${digits.slice(0, 2)}:${digits.slice(2)}`
}
