import { useState } from "preact/hooks"
import { PROVIDER_SLUGS } from "../../../byok/slugs.ts"
import { api, ApiError, withParams } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { ByokCredential, List, Model } from "../../api/types.ts"
import { findProvider, providerName } from "../../format/provider.ts"
import { duration } from "../../format/time.ts"
import { workspaceId } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { Chip, hrefOf } from "../../ui/chip.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { Select, TextField } from "../../ui/field.tsx"
import { ErrorPanel } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import type { ProviderListing } from "../models/page.tsx"

/** Select a provider, enter a key, run a test call. */
export function AddProvider({ provider, onClose }: { provider: string | null; onClose: () => void }) {
  const listed = useGet<List<ProviderListing>>("/providers")
  const [slug, setSlug] = useState(provider ?? "openai")
  const [key, setKey] = useState("")
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [created, setCreated] = useState<ByokCredential>()
  const slugs = [...new Set([...PROVIDER_SLUGS, ...(listed.data?.data ?? []).map((each) => each.slug)])].sort()
  const nameOf = (value: string) => findProvider(value, listed.data?.data ?? []).name
  const save = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      const workspace = workspaceId.value === null ? {} : { workspace_id: workspaceId.value }
      const { data } = await api<{ data: ByokCredential }>("/byok", {
        method: "POST",
        body: { provider: slug, key: key.trim(), ...workspace },
      })
      invalidate("/byok")
      setKey("")
      setCreated(data)
    } catch (thrown) {
      setError(ApiError.fromThrown(thrown))
    }
    setBusy(false)
  }
  if (created) return <Tested credential={created} onClose={onClose} />
  return (
    <Dialog title="Add a provider" onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        <Select
          label="Provider"
          value={slug}
          onChange={setSlug}
          options={slugs.map((value) => ({ value, label: nameOf(value) }))}
        />
        <TextField
          label={`Key of ${nameOf(slug)}`}
          type="password"
          value={key}
          onChange={setKey}
          autoFocus
          spellcheck={false}
          hint="Sealed with a key of this workspace and never shown again. Calls with it are charged to your account at the provider, not to the balance."
        />
        {error && <ErrorPanel error={error} />}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={key.trim() === ""}>
            Save and test
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function Tested({ credential, onClose }: { credential: ByokCredential; onClose: () => void }) {
  return (
    <Dialog title={`${providerName(credential.provider)} is added`} onClose={onClose}>
      <TestCall provider={credential.provider} />
      <footer>
        <Button href={hrefOf("provider", credential.provider)}>Open the provider</Button>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}

type Result = { model: string; ms: number; error: ApiError | null; callId: string | null }

/** One token of the cheapest model, through this provider alone. */
async function testCall(provider: string): Promise<Result | null> {
  const { data } = await api<List<Model>>(withParams("/models", { providers: provider, sort: "pricing-low-to-high" }))
  const model = data.find(({ architecture }) => architecture.output_modalities.includes("text"))
  if (!model) return null
  const started = performance.now()
  const body = {
    model: model.id,
    messages: [{ role: "user", content: "Say OK." }],
    max_tokens: 16,
    provider: { only: [provider], allow_fallbacks: false },
  }
  const elapsed = () => performance.now() - started
  try {
    const { id } = await api<{ id: string }>("/chat/completions", { method: "POST", body })
    return { model: model.id, ms: elapsed(), error: null, callId: id }
  } catch (thrown) {
    return { model: model.id, ms: elapsed(), error: ApiError.fromThrown(thrown), callId: null }
  }
}

export function TestCall({ provider }: { provider: string }) {
  const [result, setResult] = useState<Result | null>()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const run = async () => {
    setBusy(true)
    setError(undefined)
    try {
      setResult(await testCall(provider))
    } catch (thrown) {
      setError(ApiError.fromThrown(thrown))
    }
    setBusy(false)
  }
  return (
    <div class="stack tight">
      <div class="row">
        <Button icon="play" busy={busy} onClick={() => run()}>
          Test call
        </Button>
        <span class="small quiet">Sends one short message to its cheapest model.</span>
      </div>
      {error && <ErrorPanel error={error} />}
      {result === null && (
        <p class="notice warn">
          The catalogue has no text model of {providerName(provider)}. The key is kept; models appear when the operator
          lists them.
        </p>
      )}
      {result?.error && (
        <>
          <Chip kind="model" id={result.model} />
          <ErrorPanel error={result.error} />
        </>
      )}
      {result && !result.error && (
        <p class="row">
          <Status tone="good">answered in {duration(result.ms)}</Status>
          <Chip kind="model" id={result.model} />
        </p>
      )}
    </div>
  )
}
