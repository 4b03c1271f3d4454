import "./models.css"
import { useMemo } from "preact/hooks"
import type * as z from "zod"
import type { ProviderList } from "../../../models/schemas.ts"
import { withParams } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { List, Model } from "../../api/types.ts"
import { compact, count, pricePerMillion } from "../../format/number.ts"
import { Page } from "../../shell/page.tsx"
import { query, setQuery } from "../../state/router.ts"
import { Button } from "../../ui/button.tsx"
import { hrefOf } from "../../ui/chip.tsx"
import { type Option, Options, Search } from "../../ui/field.tsx"
import { Empty, ErrorPanel, Skeleton } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Duration } from "../../ui/values.tsx"
import { SuccessRate, type Health, measurementScope, useMeasured } from "./health.tsx"

export type ProviderListing = z.infer<typeof ProviderList>["data"][number]

/** A price of the cheapest endpoint, per million tokens. */
export function Price({ value }: { value: string | undefined }) {
  if (value === undefined) return <span class="faint">–</span>
  return (
    <span class="num" title={`$${value} per token`}>
      {pricePerMillion(value)}
    </span>
  )
}

const FEATURES = [
  ["tools", "tools"],
  ["reasoning", "reasoning"],
  ["structured_outputs", "structured"],
] as const

export function Features({ model }: { model: Pick<Model, "supported_parameters" | "architecture"> }) {
  const inputs = model.architecture.input_modalities.filter((each) => each !== "text")
  const outputs = model.architecture.output_modalities.filter((each) => each !== "text")
  const features = FEATURES.filter(([parameter]) => model.supported_parameters.includes(parameter)).map(
    ([, label]) => label,
  )
  return (
    <span class="row tight nowrap">
      {[...inputs.map((each) => `${each} in`), ...outputs, ...features].map((each) => (
        <span key={each} class="tag">
          {each}
        </span>
      ))}
    </span>
  )
}

const FACTS: readonly Column<Model>[] = [
  {
    id: "model",
    label: "Model",
    width: "minmax(190px, 2.4fr)",
    narrow: "title",
    cell: ({ id }) => (
      <a class="row-link" href={hrefOf("model", id)}>
        {id}
      </a>
    ),
  },
  {
    id: "name",
    label: "Name",
    width: "minmax(120px, 1.6fr)",
    optional: 3,
    narrow: "hide",
    cell: ({ name }) => <span class="quiet">{name}</span>,
  },
  {
    id: "features",
    label: "Input and output",
    width: "minmax(160px, 1.6fr)",
    optional: 4,
    narrow: "hide",
    cell: (model) => <Features model={model} />,
  },
  {
    id: "context",
    label: "Context",
    width: "84px",
    align: "right",
    narrow: "lead",
    cell: ({ context_length: length }) =>
      length ? <span title={count(length)}>{compact(length)}</span> : <span class="faint">–</span>,
  },
  {
    id: "in",
    label: "In, $/M tokens",
    narrowLabel: "in",
    width: "104px",
    align: "right",
    cell: ({ pricing }) => <Price value={pricing.prompt} />,
  },
  {
    id: "out",
    label: "Out, $/M tokens",
    narrowLabel: "out",
    width: "108px",
    align: "right",
    cell: ({ pricing }) => <Price value={pricing.completion} />,
  },
]

/** With columns of measurements before the prices. */
function columnsOf(health: ReadonlyMap<string, Health>): Column<Model>[] {
  const measured: Column<Model>[] = [
    {
      id: "answers",
      label: "Answers",
      width: "92px",
      optional: 1,
      narrow: "hide",
      cell: ({ id }) => <SuccessRate health={health.get(id)} />,
    },
    {
      id: "first",
      label: "First token",
      width: "88px",
      optional: 2,
      align: "right",
      narrow: "hide",
      cell: ({ id }) => <Duration ms={health.get(id)?.firstToken} />,
    },
  ]
  const at = FACTS.findIndex(({ id }) => id === "context")
  return [...FACTS.slice(0, at), ...measured, ...FACTS.slice(at)]
}

const INPUTS: readonly Option[] = [
  { value: "", label: "Any input" },
  { value: "image", label: "Images in" },
  { value: "audio", label: "Audio in" },
  { value: "file", label: "Files in" },
  { value: "video", label: "Video in" },
]
const FEATURE_OPTIONS: readonly Option[] = [
  { value: "", label: "Any feature" },
  { value: "tools", label: "Tools" },
  { value: "reasoning", label: "Reasoning" },
  { value: "structured_outputs", label: "Structured output" },
]
const CONTEXTS: readonly Option[] = [
  { value: "", label: "Any context" },
  { value: "32000", label: "32k or more" },
  { value: "128000", label: "128k or more" },
  { value: "1000000", label: "1M or more" },
]
const PRICES: readonly Option[] = [
  { value: "", label: "Any price" },
  { value: "0", label: "Free" },
  { value: "0.5", label: "In: up to $0.50/M" },
  { value: "2", label: "In: up to $2/M" },
  { value: "10", label: "In: up to $10/M" },
]
const REGIONS: readonly Option[] = [
  { value: "", label: "Any region" },
  { value: "eu", label: "Europe" },
  { value: "us", label: "United States" },
]
const SORTS: readonly Option[] = [
  { value: "", label: "Catalogue order" },
  { value: "newest", label: "Newest first" },
  { value: "pricing-low-to-high", label: "Cheapest first" },
  { value: "context-high-to-low", label: "Longest context first" },
  { value: "latency-low-to-high", label: "Fastest first token" },
  { value: "throughput-high-to-low", label: "Fastest output" },
]

function Facet({ name, label, options }: { name: string; label: string; options: readonly Option[] }) {
  const chosen = query.value.get(name) ?? ""
  return (
    <select
      class="input facet"
      aria-label={label}
      value={chosen}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
    >
      <Options options={options} value={chosen} />
    </select>
  )
}

const FACETS = ["q", "input", "feature", "provider", "context", "price", "region", "zdr", "sort"]

export default function ModelsPage() {
  const params = query.value
  const providers = useGet<List<ProviderListing>>("/providers")
  const all = useGet<{ data: { count: number } }>("/models/count")
  const list = useGet<List<Model>>(
    withParams("/models", {
      q: params.get("q"),
      input_modalities: params.get("input"),
      supported_parameters: params.get("feature"),
      providers: params.get("provider"),
      context: params.get("context"),
      max_price: params.get("price"),
      region: params.get("region"),
      zdr: params.get("zdr"),
      sort: params.get("sort"),
    }),
  )
  const health = useMeasured("model")
  const columns = useMemo(() => columnsOf(health), [health])
  const isFiltered = FACETS.some((name) => params.has(name))
  const rows = list.data?.data
  return (
    <Page title="Models" flush controls={<Button href="/providers?new=1">Add a provider</Button>}>
      <div class="facets">
        <Search
          label="Search models"
          placeholder="Name, author, description"
          value={params.get("q") ?? ""}
          onChange={(q) => setQuery({ q })}
        />
        <Facet name="input" label="Input" options={INPUTS} />
        <Facet name="feature" label="Feature" options={FEATURE_OPTIONS} />
        <Facet
          name="provider"
          label="Provider"
          options={[
            { value: "", label: "Any provider" },
            ...(providers.data?.data ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
          ]}
        />
        <Facet name="context" label="Context" options={CONTEXTS} />
        <Facet name="price" label="Price" options={PRICES} />
        <Facet name="region" label="Region" options={REGIONS} />
        <Facet
          name="zdr"
          label="Data retention"
          options={[
            { value: "", label: "Any retention" },
            { value: "true", label: "Zero retention" },
          ]}
        />
        <Facet name="sort" label="Order" options={SORTS} />
        {isFiltered && (
          <Button
            size="small"
            kind="quiet"
            onClick={() => setQuery(Object.fromEntries(FACETS.map((name) => [name, null])))}
          >
            Clear
          </Button>
        )}
      </div>
      <div class="scroller">
        {list.error && <ErrorPanel error={list.error} retry={list.refresh} />}
        {rows === undefined && !list.error && <Skeleton lines={20} shape="table" />}
        {rows && rows.length > 0 && (
          <>
            <Table
              label="Models"
              columns={columns}
              rows={rows}
              rowKey={({ id }) => id}
              href={({ id }) => hrefOf("model", id)}
            />
            <p class="table-foot">
              {count(rows.length)} of {count(all.data?.data.count ?? rows.length)} models. Prices are of the cheapest
              endpoint. {measurementScope()}
            </p>
          </>
        )}
        {rows?.length === 0 && (
          <Empty title="No model matches">
            <p>Remove a filter, or add a provider that has such a model.</p>
          </Empty>
        )}
      </div>
    </Page>
  )
}
