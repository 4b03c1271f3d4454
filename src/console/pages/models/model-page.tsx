import "./models.css"
import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { Endpoint, EndpointOverride, List, Model } from "../../api/types.ts"
import { compact, count, perToken } from "../../format/number.ts"
import { useEscape } from "../../shell/keyboard.ts"
import { Page } from "../../shell/page.tsx"
import type { PageProps } from "../../state/paths.ts"
import { navigate } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { CopyButton } from "../../ui/text/code.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { TextField } from "../../ui/field.tsx"
import { Empty, ErrorPanel, Loaded } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"
import { Count, Duration } from "../../ui/values.tsx"
import { SuccessRate, type Health, measurementScope, useMeasured } from "./health.tsx"
import { Differences } from "./differences.tsx"
import { Overrides } from "./overrides.tsx"
import { Features, Price, type ProviderListing } from "./page.tsx"

type ModelResponse = { data: { id: string; name: string; description: string; endpoints: Endpoint[] } }

const encodePath = (id: string) => id.split("/").map(encodeURIComponent).join("/")

function columnsOf(
  health: ReadonlyMap<string, Health>,
  onPrice: ((endpoint: Endpoint) => void) | undefined,
): Column<Endpoint>[] {
  const columns: Column<Endpoint>[] = [
    {
      id: "provider",
      label: "Provider",
      width: "minmax(110px, 1.6fr)",
      narrow: "title",
      cell: ({ provider_name, tag }) => <Chip kind="provider" id={tag} label={provider_name} />,
    },
    {
      id: "uptime",
      label: "Answers",
      width: "minmax(90px, 1fr)",
      cell: ({ provider_name: name }) => <SuccessRate health={health.get(name)} />,
    },
    {
      id: "latency",
      label: "First token",
      narrowLabel: "first token",
      width: "90px",
      align: "right",
      cell: ({ provider_name: name }) => <Duration ms={health.get(name)?.firstToken} />,
    },
    {
      id: "throughput",
      label: "Tok/s",
      width: "64px",
      align: "right",
      narrow: "hide",
      cell: ({ provider_name: name }) => {
        const speed = health.get(name)?.speed
        return <Count value={speed == null ? null : Math.round(speed)} />
      },
    },
    {
      id: "context",
      label: "Context",
      width: "76px",
      align: "right",
      narrow: "hide",
      cell: ({ context_length: length }) => (length ? compact(length) : "–"),
    },
    {
      id: "max",
      label: "Max output",
      width: "86px",
      align: "right",
      narrow: "hide",
      cell: ({ max_completion_tokens: max }) => (max ? compact(max) : "–"),
    },
    {
      id: "in",
      label: "In, $/M",
      narrowLabel: "in",
      width: "76px",
      align: "right",
      narrow: "lead",
      cell: ({ pricing }) => <Price value={pricing.prompt} />,
    },
    {
      id: "out",
      label: "Out, $/M",
      narrowLabel: "out",
      width: "76px",
      align: "right",
      cell: ({ pricing }) => <Price value={pricing.completion} />,
    },
    {
      id: "cache",
      label: "Cached, $/M",
      width: "90px",
      align: "right",
      narrow: "hide",
      cell: ({ pricing }) => <Price value={pricing.input_cache_read} />,
    },
  ]
  if (!onPrice) return columns
  return [
    ...columns,
    {
      id: "edit",
      label: "",
      width: "96px",
      align: "right",
      cell: (endpoint) => (
        <Button size="small" onClick={() => onPrice(endpoint)}>
          Own price
        </Button>
      ),
    },
  ]
}

export default function ModelPage({ params }: PageProps) {
  const id = params["id"] ?? ""
  const [priced, setPriced] = useState<Endpoint>()
  const query = useGet<ModelResponse>(`/models/${encodePath(id)}/endpoints`)
  const providers = useGet<List<ProviderListing>>("/providers")
  const detail = useGet<{ data: Model }>(`/model/${encodePath(id)}`)
  useEscape(() => navigate("/models"), [])
  const health = useMeasured("provider", [{ field: "model", operator: "eq", value: id }])
  const model = detail.data?.data
  return (
    <Page
      title={id}
      crumb={<a href="/models">Models</a>}
      controls={
        <>
          <Button href={`/calls?model=${encodeURIComponent(id)}&range=7d`}>Calls</Button>
          <Button kind="primary" href={`/playground?model=${encodeURIComponent(id)}`}>
            Try it
          </Button>
        </>
      }
    >
      <Loaded query={query}>
        {({ data }) => (
          <div class="read stack wide">
            <div class="stack tight">
              <p class="model-text">{data.description || data.name}</p>
              {model && <Features model={model} />}
              <p class="row tight quiet">
                <code>{id}</code> <CopyButton text={id} label="Copy the name" />
                {model?.knowledge_cutoff && <span>Knowledge until {model.knowledge_cutoff}</span>}
              </p>
            </div>
            <section class="stack tight">
              <h2>
                {count(data.endpoints.length)} {data.endpoints.length === 1 ? "endpoint" : "endpoints"}
              </h2>
              {data.endpoints.length === 0 ? (
                <Empty title="No provider serves this model here">
                  <Button href="/providers?new=1">Add a provider</Button>
                </Empty>
              ) : (
                <div class="wide-table">
                  <Table
                    label="Endpoints"
                    bounded
                    columns={columnsOf(health, may("catalogue:write") ? setPriced : undefined)}
                    rows={data.endpoints}
                    rowKey={({ name }) => name}
                  />
                </div>
              )}
              <p class="small quiet">{measurementScope()}</p>
            </section>
            <Differences endpoints={data.endpoints} providers={providers.data?.data ?? []} />
            <Overrides endpoints={data.endpoints} />
            {model && (
              <section class="stack tight">
                <h2>Parameters</h2>
                <p class="row tight">
                  {model.supported_parameters.map((name) => (
                    <span key={name} class="tag mono">
                      {name}
                    </span>
                  ))}
                </p>
              </section>
            )}
          </div>
        )}
      </Loaded>
      {priced && <PriceDialog model={id} endpoint={priced} onClose={() => setPriced(undefined)} />}
    </Page>
  )
}

const PER_MILLION = 1_000_000

function PriceDialog({ model, endpoint, onClose }: { model: string; endpoint: Endpoint; onClose: () => void }) {
  const shown = (value: string | undefined) => String(Math.round(Number(value ?? 0) * PER_MILLION * 1e6) / 1e6)
  const [prompt, setPrompt] = useState(shown(endpoint.pricing.prompt))
  const [completion, setCompletion] = useState(shown(endpoint.pricing.completion))
  const isValid = [prompt, completion].every((text) => /^\d{1,6}(\.\d{1,6})?$/.test(text))
  const save = async (pricing: EndpointOverride["pricing"]) => {
    const body: EndpointOverride = { model, provider: endpoint.tag, pricing }
    await api("/catalogue/endpoints", { method: "PATCH", body })
    invalidate("/models", "/model")
    toast("good", "The price is saved. It applies within a minute.")
    onClose()
  }
  const change = useSubmit(() =>
    save({ ...endpoint.pricing, prompt: perToken(prompt), completion: perToken(completion) }),
  )
  const removal = useSubmit(() => save(null))
  const error = change.error ?? removal.error
  const busy = change.busy || removal.busy
  return (
    <Dialog title={`Price override for ${endpoint.provider_name}`} onClose={onClose} staysOpen={busy}>
      <TextField
        label="Input, USD per million tokens"
        value={prompt}
        onChange={setPrompt}
        fault={isValid ? undefined : "must be a number with at most 6 decimals"}
      />
      <TextField label="Output, USD per million tokens" value={completion} onChange={setCompletion} />
      {error && <ErrorPanel error={error} />}
      <footer>
        <Button busy={busy} onClick={removal.submit}>
          Back to the listed price
        </Button>
        <Button kind="primary" busy={busy} disabled={!isValid} onClick={change.submit}>
          Save
        </Button>
      </footer>
    </Dialog>
  )
}
