import { useRef, useState } from "preact/hooks"
import { api, ApiError, withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { Batch, ByokCredential, List, StoredFile } from "../../api/types.ts"
import { bytes, count } from "../../format/number.ts"
import { batchProviders } from "../../format/provider.ts"
import { navigate } from "../../state/router.ts"
import { may, session, workspaceId } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Field, Select, TextField } from "../../ui/field.tsx"
import type { ProviderListing } from "../models/page.tsx"
import { type Input, inspect } from "./input.ts"

export const EXAMPLE_LINE =
  '{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "…", "messages": []}}'

type Step = "uploading" | "starting" | null

/** Uploads a file of requests and starts them. */
export function NewBatch({ onClose }: { onClose: () => void }) {
  const [input, setInput] = useState<Input>()
  const [name, setName] = useState("")
  const [provider, setProvider] = useState("")
  const [step, setStep] = useState<Step>(null)
  const [fault, setFault] = useState<string>()
  const [uploaded, setUploaded] = useState<{ file: File; id: string }>()
  const keyWorkspace = session.value?.workspace
  const isElsewhere = workspaceId.value !== null && keyWorkspace?.id !== workspaceId.value
  const chosen = useRef<File>(undefined)
  const abort = useRef<AbortController>(undefined)
  const choose = async (file: File | undefined) => {
    chosen.current = file
    setFault(undefined)
    setInput(undefined)
    const inspected = file && (await inspect(file))
    if (chosen.current === file) setInput(inspected)
  }
  const start = async (event: Event) => {
    event.preventDefault()
    if (!input) return
    setFault(undefined)
    abort.current = new AbortController()
    try {
      setStep("uploading")
      // A retry does not upload the file again.
      const id = uploaded?.file === input.file ? uploaded.id : await upload(input.file, abort.current.signal)
      setUploaded({ file: input.file, id })
      setStep("starting")
      const batch = await api<Batch>("/batches", {
        method: "POST",
        body: {
          input_file_id: id,
          endpoint: input.endpoint,
          completion_window: "24h",
          ...(provider !== "" && { provider }),
          metadata: { name: name.trim() === "" ? input.file.name.slice(0, 512) : name.trim() },
        },
      })
      invalidate("/batches", "/files")
      toast("good", "The batch has started.")
      navigate(`/batches/${batch.id}`)
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setStep(null)
    }
  }
  return (
    <Dialog title="Start a batch" onClose={onClose} staysOpen={step !== null}>
      <form class="stack bare" onSubmit={(event) => void start(event)}>
        {isElsewhere && (
          <div class="notice warn">
            A batch runs in the workspace of your key, {keyWorkspace?.name ?? "none"}, and not in the one that you look
            at.
          </div>
        )}
        <Field
          label="Request file"
          hint={input ? describe(input) : "JSONL: one request per line, at most 50,000 and 100 MiB."}
          fault={input?.fault}
        >
          {(control) => (
            <input
              {...control}
              class="input file"
              type="file"
              accept=".jsonl,.ndjson,application/jsonl"
              onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
            />
          )}
        </Field>
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          placeholder={input?.file.name ?? "name of the file"}
          hint="Stored in the metadata of the batch."
        />
        <WhereItRuns value={provider} onChange={setProvider} />
        <p class="small quiet" role="status">
          {step === "uploading" && `Uploading ${bytes(input?.file.size ?? 0)}…`}
          {step === "starting" && "Starting…"}
        </p>
        <FormEnd
          fault={fault}
          action={input?.requests === undefined ? "Start" : `Start ${requestsOf(input.requests)}`}
          busy={step !== null}
          disabled={input === undefined || input.fault !== undefined || name.length > 512}
          isCancellable={step === "uploading"}
          onClose={() => {
            abort.current?.abort()
            onClose()
          }}
        />
      </form>
    </Dialog>
  )
}

/** Providers with batches for which the gateway or the key's workspace has a key. */
function useBatchProviders(): readonly { slug: string; name: string; percent: number }[] {
  const listed = useGet<List<ProviderListing>>("/providers").data?.data ?? []
  const workspace = session.value?.workspace?.id
  const path = may("byok:read") ? withParams("/byok", { workspace_id: workspace ?? null }) : null
  const credentials = useAll<ByokCredential>(path).data?.data ?? []
  const reached = new Set(credentials.flatMap(({ provider, disabled }) => (disabled ? [] : [provider])))
  return [
    ...listed.flatMap(({ slug, name, batch_price_percent: percent, disabled }) =>
      percent === undefined || disabled ? [] : [{ slug, name, percent }],
    ),
    ...batchProviders.filter(({ slug }) => reached.has(slug) && !listed.some((one) => one.slug === slug)),
  ]
}

/** Ordinary calls, or the batches of a provider that has them. */
function WhereItRuns({ value, onChange }: { value: string; onChange: (provider: string) => void }) {
  const key = session.value?.key.name ?? ""
  const providers = useBatchProviders()
  return (
    <>
      {providers.length > 0 && (
        <Select
          label="Runs"
          options={[
            { value: "", label: "Now, each request as an ordinary call" },
            ...providers.map(({ slug, name, percent }) => ({
              value: slug,
              label: `In batches of ${name}, at ${percent} % of its prices`,
            })),
          ]}
          value={value}
          onChange={onChange}
        />
      )}
      <p class="quiet">
        {value === ""
          ? `Each request is an ordinary call of the key “${key}”: it is held, charged and recorded like any other, and stops at its limits. Requests that have not run after 24 hours expire.`
          : `The provider runs the requests when it has capacity, within 24 hours. Each is checked and held for the key “${key}” first. One that has no endpoint there, or uses plugins or server tools, fails.`}
      </p>
    </>
  )
}

async function upload(file: File, signal: AbortSignal): Promise<string> {
  const form = new FormData()
  form.append("purpose", "batch")
  form.append("file", file)
  const { id } = await api<StoredFile>("/files", { method: "POST", body: form, signal })
  return id
}

const requestsOf = (requests: number) => `${count(requests)} ${requests === 1 ? "request" : "requests"}`
const SHOWN_MODELS = 3

function describe({ file, requests, models, endpoint }: Input): string {
  const shown = models.slice(0, SHOWN_MODELS).join(", ")
  const more = models.length > SHOWN_MODELS ? ` and ${models.length - SHOWN_MODELS} more` : ""
  const parts = [
    bytes(file.size),
    requests === undefined ? "" : requestsOf(requests),
    endpoint ?? "",
    `${shown}${more}`,
  ]
  return parts.filter((part) => part !== "").join(" · ")
}
